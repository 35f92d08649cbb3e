// A process on a Fabric, and a run of a program on it.
#pragma once

#include <cerrno>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "program/actors.h"
#include "unit/program/actor_fabric.h"

namespace mtsim::test {

class FabricDevice final : public verbs::Device {
 public:
  using Caller = verbs::Caller;
  using Handle = verbs::Handle;
  using Progress = verbs::Progress;
  using Reply = verbs::Reply;
  using Thread = verbs::Thread;

  explicit FabricDevice(Fabric& fabric) : fabric_(fabric) {}

  Progress mmap(Thread, const verbs::MmapRequest& m, Reply& r, Caller& c) override {
    Reply answer;
    answer.value = next_address_;
    next_address_ += round_up(m.length.raw, 0x10000);
    return finish(answer, r, c);
  }
  Progress munmap(Thread, Va, Bytes, Reply& r, Caller& c) override { return finish({}, r, c); }
  Progress touch(Thread, Va, Bytes, bool, Reply& r, Caller& c) override { return finish({}, r, c); }
  Progress mprotect(Thread, Va, Bytes, bool, bool, Reply& r, Caller& c) override { return finish({}, r, c); }
  Progress madvise(Thread, Va, Bytes, verbs::Advice, Reply& r, Caller& c) override { return finish({}, r, c); }
  Progress fork(Thread, const verbs::ForkRequest&, Reply& r, Caller& c) override { return finish({}, r, c); }
  Progress fork_init(Thread, bool, Reply& r, Caller& c) override { return finish({}, r, c); }
  Progress rereg_mr(Thread, const verbs::ReregMrRequest&, Reply& r, Caller& c) override { return finish({}, r, c); }
  Progress set_memlock(Thread, Bytes, Reply& r, Caller& c) override { return finish({}, r, c); }
  Progress set_cap_ipc_lock(Thread, bool, Reply& r, Caller& c) override { return finish({}, r, c); }
  Progress alloc_pd(Thread, std::uint32_t, Reply& r, Caller& c) override { return made(r, c); }
  Progress dealloc_pd(Thread, Handle, Reply& r, Caller& c) override { return finish({}, r, c); }
  Progress reg_mr(Thread, const verbs::RegMrRequest& q, Reply& r, Caller& c) override {
    Reply answer;
    answer.iova = q.iova;
    return made(r, c, answer);
  }
  Progress dereg_mr(Thread, Handle, Reply& r, Caller& c) override { return finish({}, r, c); }
  Progress dma(Thread, const verbs::DmaRequest&, Reply& r, Caller& c) override { return finish({}, r, c); }
  Progress advise_mr(Thread, const verbs::AdviseMrRequest&, Reply& r, Caller& c) override { return finish({}, r, c); }
  Progress alloc_mw(Thread, Handle, std::uint8_t, Reply& r, Caller& c) override { return made(r, c); }
  Progress dealloc_mw(Thread, Handle, Reply& r, Caller& c) override { return finish({}, r, c); }
  Progress bind_mw(Thread, const verbs::BindMwRequest&, Reply& r, Caller& c) override { return finish({}, r, c); }
  Progress query_qp(Thread, Handle qp, Reply& r, Caller& c) override {
    Reply answer;
    answer.value = std::uint64_t(fabric_.qps[qp].state);
    return finish(answer, r, c);
  }
  Progress next_event(Thread, Reply&, Caller&) override { return Progress::pending; }
  Progress create_cq(Thread, std::uint32_t, Reply& r, Caller& c) override { return made(r, c); }
  Progress destroy_cq(Thread, Handle cq, Reply& r, Caller& c) override { return refuse(fabric_.cqs[cq].users != 0 ? EBUSY : 0, r, c); }
  Progress create_srq(Thread, const verbs::CreateSrqRequest&, Reply& r, Caller& c) override { return made(r, c); }
  Progress destroy_srq(Thread, Handle srq, Reply& r, Caller& c) override { return refuse(fabric_.srqs[srq].users != 0 ? EBUSY : 0, r, c); }
  Progress create_qp(Thread, const verbs::CreateQpRequest& q, Reply& r, Caller& c) override {
    fabric_.qps[fabric_.next_handle].made = q;
    count(q, 1);
    return made(r, c);
  }
  Progress destroy_qp(Thread, Handle qp, Reply& r, Caller& c) override {
    fabric_.purge(qp);
    count(fabric_.qps[qp].made, ~std::uint32_t{0});
    fabric_.qps.erase(qp);
    return finish({}, r, c);
  }
  Progress connect(Thread, Handle qp, verbs::Device&, Handle peer, Reply& r, Caller& c) override {
    for (const auto& [from, to] : {std::pair(qp, peer), std::pair(peer, qp)}) {
      fabric_.qps[from].peer = to;
      fabric_.qps[from].state = verbs::QpState::rts;
    }
    return finish({}, r, c);
  }
  Progress modify_qp(Thread, Handle qp, verbs::QpState s, Reply& r, Caller& c) override {
    if (s == verbs::QpState::err) fabric_.fail(qp);
    if (s == verbs::QpState::reset) fabric_.purge(qp);
    fabric_.qps[qp].state = s;
    return finish({}, r, c);
  }

  Progress post_send(Thread, Handle handle, std::span<const verbs::SendRequest> list, Reply& r, Caller& c) override {
    Fabric::Qp& qp = fabric_.qps[handle];
    if (qp.state != verbs::QpState::rts && qp.state != verbs::QpState::err) return refuse(EINVAL, r, c);
    for (const verbs::SendRequest& s : list)
      qp.sends.push_back({s.wr, bytes(s.sges), s.opcode, qp.made.signal_all || verbs::has(s.flags, verbs::Send::signaled)});
    if (qp.state == verbs::QpState::err) fabric_.fail(handle);
    fabric_.posted(handle);
    return accept(list.size(), r, c);
  }
  Progress post_recv(Thread, Handle handle, std::span<const verbs::RecvRequest> list, Reply& r, Caller& c) override {
    Fabric::Qp& qp = fabric_.qps[handle];
    if (qp.made.srq != 0 || qp.state == verbs::QpState::reset) return refuse(EINVAL, r, c);
    for (const verbs::RecvRequest& q : list) qp.receives.push_back({q.wr, bytes(q.sges)});
    if (qp.state == verbs::QpState::err) fabric_.fail(handle);
    fabric_.received();
    return accept(list.size(), r, c);
  }
  Progress post_srq(Thread, Handle srq, std::span<const verbs::RecvRequest> list, Reply& r, Caller& c) override {
    for (const verbs::RecvRequest& q : list) fabric_.srqs[srq].receives.push_back({q.wr, bytes(q.sges)});
    fabric_.received();
    return accept(list.size(), r, c);
  }
  Progress poll(Thread, Handle handle, verbs::Wait, std::span<verbs::Completion> out, Reply& r, Caller& c) override {
    Fabric::Cq& cq = fabric_.cqs[handle];
    if (cq.waiting.empty()) {
      cq.polls.push_back({out, &r, &c});
      return Progress::pending;
    }
    Reply answer;
    for (; answer.value < out.size() && !cq.waiting.empty(); cq.waiting.pop_front()) out[answer.value++] = cq.waiting.front().second;
    return finish(answer, r, c);
  }
  Progress poll_after(Thread, Handle, Time, std::span<verbs::Completion>, Reply& r, Caller& c) override { return finish({}, r, c); }
  Progress compute(Thread, Time, Reply& r, Caller& c) override { return finish({}, r, c); }
  Progress sleep_until(Thread, Time, Reply& r, Caller& c) override { return finish({}, r, c); }
  Time now() const override { return {}; }

 private:
  static std::uint64_t bytes(std::span<const verbs::Sge> sges) {
    std::uint64_t sum = 0;
    for (const verbs::Sge& s : sges) sum += s.length;
    return sum;
  }
  void count(const verbs::CreateQpRequest& q, std::uint32_t one) {
    fabric_.cqs[q.send_cq].users += one;
    fabric_.cqs[q.recv_cq].users += one;
    if (q.srq != 0) fabric_.srqs[q.srq].users += one;
  }
  Progress made(Reply& r, Caller& c, Reply answer = {}) {
    answer.handle = fabric_.next_handle++;
    return finish(answer, r, c);
  }
  Progress accept(std::size_t n, Reply& r, Caller& c) {
    Reply answer;
    answer.value = n;
    return finish(answer, r, c);
  }
  Progress refuse(int error, Reply& r, Caller& c) {
    Reply answer;
    answer.error = error;
    return finish(answer, r, c);
  }
  /// A call that takes no time would let its actor run on and on.
  Progress finish(const Reply& answer, Reply& r, Caller& c) {
    r = answer;
    fabric_.later([&c] { c.resume(); });
    return Progress::pending;
  }

  Fabric& fabric_;
  std::uint64_t next_address_ = 0x10000;
};

class FabricRun {
 public:
  FabricRun(const program::Program& p, Schedule schedule, unsigned seed = 1) : fabric_(schedule, seed) {
    std::vector<verbs::Device*> pointers;
    for (std::size_t h = 0; h < p.names().hosts().size(); ++h) {
      devices_.push_back(std::make_unique<FabricDevice>(fabric_));
      pointers.push_back(devices_.back().get());
    }
    actors = std::make_unique<program::Actors>(p, pointers, fabric_, tally, program::ReplayTime::asap);
    actors->start();
    fabric_.run();
  }

  program::Tally tally;
  std::unique_ptr<program::Actors> actors;

 private:
  Fabric fabric_;
  std::vector<std::unique_ptr<FabricDevice>> devices_;
};

}  // namespace mtsim::test

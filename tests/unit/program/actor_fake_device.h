// A device without a NIC for tests of actors: it answers at once or later, completes what is posted as it is told to, and writes down
// every call.
#pragma once

#include <fmt/format.h>
#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "program/meeting.h"
#include "verbs/device.h"

namespace mtsim::test {

using verbs::Progress;

/// What is still to happen, in the order in which it was put off.
class Later {
 public:
  void add(std::function<void()> action) { actions_.push_back(std::move(action)); }
  void run() {
    while (!actions_.empty()) {
      const auto action = std::move(actions_.front());
      actions_.pop_front();
      action();
    }
  }

 private:
  std::deque<std::function<void()>> actions_;
};

class FakeMeeting final : public verbs::Meeting {
 public:
  explicit FakeMeeting(Later& later) : later_(later) {}
  Progress arrive(verbs::Device& device, verbs::Thread thread, std::uint32_t barrier, std::uint32_t n, verbs::Caller& caller) override {
    const auto outcome = gathering_.arrive(device, thread, barrier, n, caller);
    for (const auto& waiting : outcome.released) later_.add([caller = waiting.caller] { caller->resume(); });
    return outcome.complete ? Progress::done : Progress::pending;
  }

 private:
  Later& later_;
  program::Gathering gathering_;
};

class FakeDevice final : public verbs::Device {
 public:
  using Caller = verbs::Caller;
  using Handle = verbs::Handle;
  using Reply = verbs::Reply;
  using Thread = verbs::Thread;

  FakeDevice(Later& later, bool deferred) : later_(later), deferred_(deferred) {}

  // What tests set.
  std::map<std::uint64_t, verbs::Status> statuses;  ///< of requests that do not succeed, by wr
  std::map<std::uint64_t, int> refused;             ///< requests that cannot be posted, by wr
  std::map<std::string, int> errors;                ///< of calls, by their name: "reg_mr"
  std::map<std::uint64_t, verbs::Hazard> hazards;   ///< of completions, by wr
  std::vector<verbs::Event> events;                 ///< that come, one after the other; then none does
  verbs::QpState state = verbs::QpState::rts;       ///< that query_qp finds
  struct Arrival {
    Handle cq = 0;
    std::uint64_t wr = 0;
    verbs::Status status = verbs::Status::SUCCESS;
  };
  std::map<std::uint64_t, std::vector<Arrival>> arrivals;  ///< completions of receives that come once request wr has been posted
  // What tests look at.
  std::vector<std::string> calls;
  std::vector<verbs::SendRequest> requests;  ///< all that were posted; their elements are in `elements`
  std::vector<std::vector<verbs::Sge>> elements;
  std::vector<std::size_t> lists;  ///< sizes of the lists given to post_send
  std::vector<std::uint64_t> receives;
  std::vector<std::size_t> receive_elements;  ///< how many each receive has
  std::vector<verbs::Bind> binds;             ///< of the requests that have one, in their order
  std::vector<verbs::BindMwRequest> bind_calls;
  verbs::CreateQpRequest newest_qp;
  verbs::CreateSrqRequest newest_srq;
  std::uint64_t most_outstanding = 0, deepest_queue = 0;
  bool overflowed = false;

  Progress mmap(Thread, const verbs::MmapRequest& m, Reply& r, Caller& c) override {
    Reply answer;
    answer.value = next_address_;
    next_address_ += round_up(m.length.raw, 0x10000);
    return reply("mmap", answer, r, c);
  }
  Progress munmap(Thread, Va a, Bytes n, Reply& r, Caller& c) override {
    return reply(fmt::format("munmap {:x} {}", a.raw, n.raw), {}, r, c);
  }
  Progress touch(Thread, Va a, Bytes n, bool write, Reply& r, Caller& c) override {
    return reply(fmt::format("touch {:x} {} {}", a.raw, n.raw, write ? "write" : "read"), {}, r, c);
  }
  Progress mprotect(Thread, Va a, Bytes n, bool readable, bool writable, Reply& r, Caller& c) override {
    return reply(fmt::format("mprotect {:x} {} {}{}", a.raw, n.raw, readable ? "r" : "-", writable ? "w" : "-"), {}, r, c);
  }
  Progress madvise(Thread, Va a, Bytes n, verbs::Advice advice, Reply& r, Caller& c) override {
    return reply(fmt::format("madvise {:x} {} {}", a.raw, n.raw, unsigned(advice)), {}, r, c);
  }
  Progress fork(Thread, const verbs::ForkRequest& f, Reply& r, Caller& c) override {
    return reply(fmt::format("fork {} {}", f.child, fmt::join(f.threads, ",")), {}, r, c);
  }
  Progress fork_init(Thread, bool huge_pages, Reply& r, Caller& c) override {
    return reply(fmt::format("fork_init {}", huge_pages), {}, r, c);
  }
  Progress set_memlock(Thread, Bytes n, Reply& r, Caller& c) override { return reply(fmt::format("memlock {}", n.raw), {}, r, c); }
  Progress set_cap_ipc_lock(Thread, bool on, Reply& r, Caller& c) override { return reply(fmt::format("cap_ipc_lock {}", on), {}, r, c); }
  Progress alloc_pd(Thread, std::uint32_t nic, Reply& r, Caller& c) override {
    return made("alloc_pd" + (nic == 0 ? "" : " nic" + std::to_string(nic)), r, c);
  }
  Progress dealloc_pd(Thread, Handle, Reply& r, Caller& c) override { return reply("dealloc_pd", {}, r, c); }
  Progress reg_mr(Thread, const verbs::RegMrRequest& q, Reply& r, Caller& c) override {
    Reply answer;
    answer.lkey = Key(next_handle_ << 8);
    answer.rkey = Key(next_handle_ << 8 | 1);
    answer.iova = q.iova;
    answer.identity = static_cast<std::uint32_t>(identity_of(next_handle_));
    return made(fmt::format("reg_mr {:x} {}", q.address.raw, q.length.raw), r, c, answer);
  }
  Progress rereg_mr(Thread, const verbs::ReregMrRequest& q, Reply& r, Caller& c) override {
    Reply answer;
    answer.lkey = Key(next_handle_ << 8 | 2);
    answer.rkey = Key(next_handle_ << 8 | 3);
    answer.iova = Iova(q.address.raw);
    answer.identity = static_cast<std::uint32_t>(identity_of(next_handle_));
    return reply(fmt::format("rereg_mr {} {:x} {} pd {} access {} {}", q.translation, q.address.raw, q.length.raw, q.pd, q.change_access,
                             unsigned(q.access)),
                 answer, r, c);
  }
  Progress dereg_mr(Thread, Handle, Reply& r, Caller& c) override { return reply("dereg_mr", {}, r, c); }
  Progress dma(Thread, const verbs::DmaRequest& q, Reply& r, Caller& c) override {
    return reply(fmt::format("dma {} of {} x {}", q.mr, q.count, q.length.raw), {}, r, c);
  }
  Progress advise_mr(Thread, const verbs::AdviseMrRequest& q, Reply& r, Caller& c) override {
    std::string text = fmt::format("advise_mr {} flush {}", unsigned(q.advice), q.flush);
    for (const verbs::Sge& sge : q.sges) text += fmt::format(" {:x}:{}:{:x}", sge.address, sge.length, sge.lkey.raw);
    return reply(text, {}, r, c);
  }
  Progress alloc_mw(Thread, Handle pd, std::uint8_t type, Reply& r, Caller& c) override {
    Reply answer;
    answer.rkey = Key(next_handle_ << 8 | 0xfe);
    return made(fmt::format("alloc_mw pd {} type {}", pd, type), r, c, answer);
  }
  Progress dealloc_mw(Thread, Handle mw, Reply& r, Caller& c) override { return reply(fmt::format("dealloc_mw {}", mw), {}, r, c); }
  Progress bind_mw(Thread, const verbs::BindMwRequest& b, Reply& r, Caller& c) override {
    bind_calls.push_back(b);
    Reply answer;
    answer.rkey = Key(0xb1'00 + static_cast<std::uint32_t>(bind_calls.size()));
    if (b.signaled) complete(queues_[b.qp].cq, {b.wr, verbs::Status::SUCCESS, verbs::Opcode::bind_mw}, b.qp);
    return reply("bind_mw", answer, r, c);
  }
  Progress query_qp(Thread, Handle, Reply& r, Caller& c) override {
    Reply answer;
    answer.value = std::uint64_t(state);
    return reply("query_qp", answer, r, c);
  }
  Progress next_event(Thread, Reply& r, Caller& c) override {
    if (events.empty()) return Progress::pending;
    Reply answer;
    answer.value = std::uint64_t(events.front());
    events.erase(events.begin());
    return reply("next_event", answer, r, c);
  }
  Progress create_cq(Thread, std::uint32_t, Reply& r, Caller& c) override { return made("create_cq", r, c); }
  Progress destroy_cq(Thread, Handle, Reply& r, Caller& c) override { return reply("destroy_cq", {}, r, c); }
  Progress create_qp(Thread, const verbs::CreateQpRequest& q, Reply& r, Caller& c) override {
    queues_[next_handle_] = {q.send_cq, q.sq_depth, {}};
    newest_qp = q;
    return made("create_qp", r, c);
  }
  Progress destroy_qp(Thread, Handle, Reply& r, Caller& c) override { return reply("destroy_qp", {}, r, c); }
  Progress connect(Thread, Handle, verbs::Device&, Handle peer, Reply& r, Caller& c) override {
    return reply(fmt::format("connect {}", peer), {}, r, c);
  }
  Progress modify_qp(Thread, Handle, verbs::QpState s, Reply& r, Caller& c) override {
    return reply(fmt::format("modify_qp {}", verbs::name(s)), {}, r, c);
  }
  Progress create_srq(Thread, const verbs::CreateSrqRequest& q, Reply& r, Caller& c) override {
    newest_srq = q;
    return made("create_srq", r, c);
  }
  Progress destroy_srq(Thread, Handle, Reply& r, Caller& c) override { return reply("destroy_srq", {}, r, c); }
  Progress post_recv(Thread, Handle, std::span<const verbs::RecvRequest> list, Reply& r, Caller& c) override {
    return receive("post_recv", list, r, c);
  }
  Progress post_srq(Thread, Handle, std::span<const verbs::RecvRequest> list, Reply& r, Caller& c) override {
    return receive("post_srq", list, r, c);
  }
  Progress post_send(Thread, Handle qp, std::span<const verbs::SendRequest> list, Reply& r, Caller& c) override {
    lists.push_back(list.size());
    Reply answer;
    for (const verbs::SendRequest& request : list) {
      if (const auto found = refused.find(request.wr); found != refused.end()) {
        answer.error = found->second;
        break;
      }
      accept(qp, request);
      ++answer.value;
    }
    return reply(fmt::format("post_send {}", list.size()), answer, r, c);
  }
  Progress poll(Thread, Handle cq, verbs::Wait, std::span<verbs::Completion> out, Reply& r, Caller& c) override {
    calls.push_back(fmt::format("poll {}", out.size()));
    if (completions_[cq].empty()) {
      polls_[cq].push_back({out, &r, &c});
      return Progress::pending;
    }
    Reply answer;
    answer.value = take(cq, out);
    return finish(answer, r, c);
  }
  Progress poll_after(Thread, Handle cq, Time span, std::span<verbs::Completion> out, Reply& r, Caller& c) override {
    now_ += span;
    Reply answer;
    answer.value = take(cq, out);
    return reply("poll_after", answer, r, c);
  }
  Progress compute(Thread, Time t, Reply& r, Caller& c) override {
    now_ += t;
    return reply("compute", {}, r, c);
  }
  Progress sleep_until(Thread, Time t, Reply& r, Caller& c) override {
    now_ = std::max(now_, t);
    return reply(fmt::format("sleep_until {}", t.raw / 1000), {}, r, c);
  }
  Time now() const override { return now_; }

  /// What the registration of that handle, or one made anew under it, is known by.
  static std::uint64_t identity_of(Handle handle) { return 7000 + handle; }

 private:
  struct Queue {
    Handle cq = 0;
    std::size_t depth = 0;
    std::deque<std::uint64_t> outstanding;
  };
  struct Poll {
    std::span<verbs::Completion> out;
    Reply* reply = nullptr;
    Caller* caller = nullptr;
  };

  void accept(Handle qp, const verbs::SendRequest& request) {
    arrive(request.wr);
    requests.push_back(request);
    elements.emplace_back(request.sges.begin(), request.sges.end());
    if (request.bind != nullptr) binds.push_back(*request.bind);
    Queue& queue = queues_[qp];
    queue.outstanding.push_back(request.wr);
    outstanding_++;
    most_outstanding = std::max(most_outstanding, outstanding_);
    deepest_queue = std::max<std::uint64_t>(deepest_queue, queue.outstanding.size());
    overflowed = overflowed || queue.outstanding.size() > queue.depth;
    const auto found = statuses.find(request.wr);
    const bool failed = found != statuses.end();
    if (!failed && !verbs::has(request.flags, verbs::Send::signaled)) return;
    verbs::Completion completion;
    completion.wr = request.wr;
    completion.status = failed ? found->second : verbs::Status::SUCCESS;
    completion.opcode = request.opcode;
    if (const auto suffered = hazards.find(request.wr); suffered != hazards.end()) completion.hazard = suffered->second;
    complete(queue.cq, completion, qp);
  }

  Progress receive(const char* call, std::span<const verbs::RecvRequest> list, Reply& r, Caller& c) {
    Reply answer;
    for (const verbs::RecvRequest& request : list) {
      if (const auto found = refused.find(request.wr); found != refused.end()) {
        answer.error = found->second;
        break;
      }
      receives.push_back(request.wr);
      receive_elements.push_back(request.sges.size());
      arrive(request.wr);
      ++answer.value;
    }
    return reply(fmt::format("{} {}", call, list.size()), answer, r, c);
  }
  void arrive(std::uint64_t after) {
    for (const Arrival& a : arrivals[after]) complete(a.cq, {a.wr, a.status, verbs::Opcode::recv, 0}, 0);
  }

  void complete(Handle cq, const verbs::Completion& completion, Handle qp) {
    completions_[cq].push_back({completion, qp});
    // Whoever waits is woken later, as a device would.
    if (polls_[cq].empty()) return;
    const Poll poll = polls_[cq].front();
    polls_[cq].pop_front();
    later_.add([this, poll, cq] {
      poll.reply->value = take(cq, poll.out);
      poll.caller->resume();
    });
  }

  std::size_t take(Handle cq, std::span<verbs::Completion> out) {
    auto& waiting = completions_[cq];
    std::size_t n = 0;
    for (; n < out.size() && !waiting.empty(); ++n) {
      const auto [completion, qp] = waiting.front();
      waiting.pop_front();
      out[n] = completion;
      // Whatever was posted before it has completed too.
      auto& queue = queues_[qp].outstanding;
      for (bool last = false; !last && !queue.empty(); --outstanding_) {
        last = queue.front() == completion.wr;
        queue.pop_front();
      }
    }
    return n;
  }

  Progress made(const std::string& call, Reply& r, Caller& c, Reply answer = {}) {
    answer.handle = next_handle_++;
    return reply(call, answer, r, c);
  }
  Progress reply(const std::string& call, Reply answer, Reply& r, Caller& c) {
    calls.push_back(call);
    if (const auto found = errors.find(call.substr(0, call.find(' '))); found != errors.end()) answer.error = found->second;
    return finish(answer, r, c);
  }
  Progress finish(const Reply& answer, Reply& r, Caller& c) {
    if (!deferred_) {
      r = answer;
      return Progress::done;
    }
    later_.add([answer, &r, &c] {
      r = answer;
      c.resume();
    });
    return Progress::pending;
  }

  Later& later_;
  const bool deferred_;
  Time now_;
  Handle next_handle_ = 1;
  std::uint64_t next_address_ = 0x10000;
  std::uint64_t outstanding_ = 0;
  std::map<Handle, Queue> queues_;
  std::map<Handle, std::deque<std::pair<verbs::Completion, Handle>>> completions_;
  std::map<Handle, std::deque<Poll>> polls_;
};

}  // namespace mtsim::test

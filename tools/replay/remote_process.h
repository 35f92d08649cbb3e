// A host whose actors run in another process: no more than the ends of connections that it has.
#pragma once

#include <cerrno>
#include <span>

#include "endpoint.h"
#include "peers.h"

namespace mtsim::replay {

class RemoteProcess final : public verbs::Device, public Endpoint {
 public:
  RemoteProcess(Peers& peers, std::uint32_t host) : peers_(peers), host_(host) {}

  std::optional<QpAddress> path_to(verbs::Handle qp) override { return peers_.path_to(host_, qp); }
  int bring_up(verbs::Handle qp, const QpAddress& peer) override { return peers_.bring_up(host_, qp, peer); }

  // None of its actors runs here to call these.
  using Thread = verbs::Thread;
  using Handle = verbs::Handle;
  using Reply = verbs::Reply;
  using Caller = verbs::Caller;
  using Progress = verbs::Progress;
  Progress mmap(Thread, const verbs::MmapRequest&, Reply& r, Caller&) override { return nobody(r); }
  Progress munmap(Thread, Va, Bytes, Reply& r, Caller&) override { return nobody(r); }
  Progress touch(Thread, Va, Bytes, bool, Reply& r, Caller&) override { return nobody(r); }
  Progress mprotect(Thread, Va, Bytes, bool, bool, Reply& r, Caller&) override { return nobody(r); }
  Progress madvise(Thread, Va, Bytes, verbs::Advice, Reply& r, Caller&) override { return nobody(r); }
  Progress set_memlock(Thread, Bytes, Reply& r, Caller&) override { return nobody(r); }
  Progress set_cap_ipc_lock(Thread, bool, Reply& r, Caller&) override { return nobody(r); }
  Progress fork(Thread, const verbs::ForkRequest&, Reply& r, Caller&) override { return nobody(r); }
  Progress fork_init(Thread, bool, Reply& r, Caller&) override { return nobody(r); }
  Progress alloc_pd(Thread, std::uint32_t, Reply& r, Caller&) override { return nobody(r); }
  Progress dealloc_pd(Thread, Handle, Reply& r, Caller&) override { return nobody(r); }
  Progress reg_mr(Thread, const verbs::RegMrRequest&, Reply& r, Caller&) override { return nobody(r); }
  Progress rereg_mr(Thread, const verbs::ReregMrRequest&, Reply& r, Caller&) override { return nobody(r); }
  Progress dereg_mr(Thread, Handle, Reply& r, Caller&) override { return nobody(r); }
  Progress advise_mr(Thread, const verbs::AdviseMrRequest&, Reply& r, Caller&) override { return nobody(r); }
  Progress dma(Thread, const verbs::DmaRequest&, Reply& r, Caller&) override { return nobody(r); }
  Progress alloc_mw(Thread, Handle, std::uint8_t, Reply& r, Caller&) override { return nobody(r); }
  Progress dealloc_mw(Thread, Handle, Reply& r, Caller&) override { return nobody(r); }
  Progress bind_mw(Thread, const verbs::BindMwRequest&, Reply& r, Caller&) override { return nobody(r); }
  Progress create_cq(Thread, std::uint32_t, Reply& r, Caller&) override { return nobody(r); }
  Progress destroy_cq(Thread, Handle, Reply& r, Caller&) override { return nobody(r); }
  Progress create_srq(Thread, const verbs::CreateSrqRequest&, Reply& r, Caller&) override { return nobody(r); }
  Progress destroy_srq(Thread, Handle, Reply& r, Caller&) override { return nobody(r); }
  Progress create_qp(Thread, const verbs::CreateQpRequest&, Reply& r, Caller&) override { return nobody(r); }
  Progress destroy_qp(Thread, Handle, Reply& r, Caller&) override { return nobody(r); }
  Progress connect(Thread, Handle, verbs::Device&, Handle, Reply& r, Caller&) override { return nobody(r); }
  Progress modify_qp(Thread, Handle, verbs::QpState, Reply& r, Caller&) override { return nobody(r); }
  Progress query_qp(Thread, Handle, Reply& r, Caller&) override { return nobody(r); }
  Progress next_event(Thread, Reply& r, Caller&) override { return nobody(r); }
  Progress post_send(Thread, Handle, std::span<const verbs::SendRequest>, Reply& r, Caller&) override { return nobody(r); }
  Progress post_recv(Thread, Handle, std::span<const verbs::RecvRequest>, Reply& r, Caller&) override { return nobody(r); }
  Progress post_srq(Thread, Handle, std::span<const verbs::RecvRequest>, Reply& r, Caller&) override { return nobody(r); }
  Progress poll(Thread, Handle, verbs::Wait, std::span<verbs::Completion>, Reply& r, Caller&) override { return nobody(r); }
  Progress poll_after(Thread, Handle, Time, std::span<verbs::Completion>, Reply& r, Caller&) override { return nobody(r); }
  Progress compute(Thread, Time, Reply& r, Caller&) override { return nobody(r); }
  Progress sleep_until(Thread, Time, Reply& r, Caller&) override { return nobody(r); }
  Time now() const override { return {}; }

 private:
  static Progress nobody(Reply& reply) {
    reply.error = ENODEV;
    return Progress::done;
  }

  Peers& peers_;
  const std::uint32_t host_;
};

}  // namespace mtsim::replay

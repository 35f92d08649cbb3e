// The data path: posting and polling, without a system call.
#include <algorithm>
#include <cerrno>

#include "ports/rank.h"
#include "user/sim_device.h"

namespace mtsim::user {

using verbs::Caller;
using verbs::Handle;
using verbs::Progress;
using verbs::Reply;
using verbs::Thread;

Progress SimDevice::post_send(Thread t, Handle qp, std::span<const verbs::SendRequest> requests, Reply& reply, Caller& caller) {
  Qp* found = find_qp(qp);
  reply.error = check_use(t, found);
  if (reply.error != 0 || requests.empty()) return Progress::done;
  return spawn(t, post_flow(t, *found, requests, reply, caller));
}

inline void SimDevice::submit(Qp& qp, std::span<const verbs::SendRequest> requests, Time begin, Time span, Reply& reply) {
  const SendQueue::Posted posted = qp.sq->post(requests, begin, now(), now() - begin - span);
  reply.error = posted.error;
  reply.value = posted.accepted;
  if (posted.accepted != 0) {
    qp.sq->told();
    // One request alone goes down with the doorbell if it fits (BlueFlame); the NIC fetches all others.
    const Bytes bytes(posted.accepted == 1 ? std::uint64_t(qp.sq->last_blocks()) * 64 : 0);
    doorbells->ring(qp.qpn, qp.sq->producer(), bytes <= params_.blueflame ? bytes : Bytes(0));
  }
}

/// ibv_post_send
engine::Flow SimDevice::post_flow(Thread thread, Qp& qp, std::span<const verbs::SendRequest> requests, Reply& reply, Caller& caller) {
  const Time begin = now();
  const Time span = post_time(params_, requests);
  co_await cpus->run(thread, ports::Work::user, span);
  submit(qp, requests, begin, span, reply);
  finish(thread, caller);
}

Progress SimDevice::bind_mw(Thread t, const verbs::BindMwRequest& request, Reply& reply, Caller& caller) {
  const Mw* mw = find_mw(request.mw);
  const auto region = request.mr == 0 ? std::nullopt : kernel->registered(request.mr);
  reply.error = check_use(t, find_qp(request.qp));
  if (mw == nullptr || (request.mr != 0 && !region)) reply.error = EINVAL;
  if (reply.error != 0) return Progress::done;
  verbs::RegionView view;
  if (region) view = {region->pd, region->access};
  reply.error = verbs::check_bind_mw(request, mw->view, region ? &view : nullptr, *params_.rules).error;
  if (reply.error != 0) return Progress::done;
  const verbs::Bind bind{
      mw->rkey, verbs::next_variant(mw->rkey), region ? region->lkey : Key(), request.address, request.length, request.access, true};
  return spawn(t, bind_mw_flow(t, request, bind, reply, caller));
}

/// mlx5_bind_mw: a work request, and the window has its new key before it has been carried out.
engine::Flow SimDevice::bind_mw_flow(Thread thread, verbs::BindMwRequest request, verbs::Bind bind, Reply& reply, Caller& caller) {
  verbs::SendRequest work;
  work.wr = request.wr;
  work.opcode = verbs::Opcode::bind_mw;
  work.flags = request.signaled ? verbs::Send::signaled : verbs::Send::none;
  work.bind = &bind;
  const Time begin = now();
  const Time span = post_time(params_, {&work, 1});
  co_await cpus->run(thread, ports::Work::user, span);
  Qp* qp = find_qp(request.qp);
  if (qp == nullptr) reply.error = EINVAL;
  else submit(*qp, {&work, 1}, begin, span, reply);
  if (Mw* mw = find_mw(request.mw); mw != nullptr && reply.error == 0) reply.rkey = mw->rkey = bind.new_key;
  finish(thread, caller);
}

Progress SimDevice::post_recv(Thread t, Handle qp, std::span<const verbs::RecvRequest> requests, Reply& reply, Caller& caller) {
  Qp* found = find_qp(qp);
  // A QP with a shared queue has none of its own to post to.
  reply.error = found != nullptr && found->shared_rq ? EINVAL : check_use(t, found);
  if (reply.error != 0 || requests.empty()) return Progress::done;
  return spawn(t, receive_flow(t, *found->rq, found->qpn, requests, reply, caller));
}

Progress SimDevice::post_srq(Thread t, Handle srq, std::span<const verbs::RecvRequest> requests, Reply& reply, Caller& caller) {
  Srq* found = find_srq(srq);
  reply.error = check_use(t, found);
  if (reply.error != 0 || requests.empty()) return Progress::done;
  return spawn(t, receive_flow(t, *found->queue, 0, requests, reply, caller));
}

/// ibv_post_recv, ibv_post_srq_recv: stores to memory only, the doorbell record too. `qpn` is 0 for a shared queue.
engine::Flow SimDevice::receive_flow(Thread thread, ReceiveQueue& queue, std::uint32_t qpn, std::span<const verbs::RecvRequest> requests,
                                     Reply& reply, Caller& caller) {
  co_await cpus->run(thread, ports::Work::user, post_time(params_, requests));
  const ReceiveQueue::Posted posted = queue.post(requests);
  reply.error = posted.error;
  reply.value = posted.accepted;
  if (qpn != 0 && posted.accepted != 0 && params_.rules->responder.flushes_late_receives) doorbells->receives_posted(qpn);
  finish(thread, caller);
}

Progress SimDevice::poll(Thread t, Handle cq, verbs::Wait wait, std::span<verbs::Completion> out, Reply& reply, Caller& caller) {
  const Cq* found = find_cq(cq);
  reply.error = found != nullptr && wait == verbs::Wait::event ? EOPNOTSUPP : check_use(t, found);
  if (reply.error != 0 || out.empty()) return Progress::done;
  return spawn(t, poll_flow(t, *found->queue, out, reply, caller));
}

/// ibv_poll_cq, called again and again until there is something.
engine::Flow SimDevice::poll_flow(Thread thread, CompletionQueue& cq, std::span<verbs::Completion> out, Reply& reply, Caller& caller) {
  while (cq.empty()) {
    cq.wait(thread);
    co_await cpus->spin(thread, params_.poll_empty);
  }
  const auto n = std::min<std::size_t>(out.size(), cq.size());
  // Taken before the time passes, so that another thread's poll does not take them too.
  for (std::size_t i = 0; i < n; ++i) out[i] = cq.take();
  co_await cpus->run(thread, ports::Work::user, params_.poll_cqe * static_cast<std::int64_t>(n));
  reply.value = n;
  finish(thread, caller);
}

Progress SimDevice::poll_after(Thread t, Handle cq, Time span, std::span<verbs::Completion> out, Reply& reply, Caller& caller) {
  const Cq* found = find_cq(cq);
  reply.error = check_use(t, found);
  if (reply.error != 0) return Progress::done;
  return spawn(t, poll_after_flow(t, *found->queue, span, out, reply, caller));
}

engine::Flow SimDevice::poll_after_flow(Thread thread, CompletionQueue& cq, Time span, std::span<verbs::Completion> out, Reply& reply,
                                        Caller& caller) {
  cpus->block(thread);
  co_await engine::Until(scheduler_, now() + span, ports::order(host_rank_, ports::Unit::program, thread));
  const auto n = std::min<std::size_t>(out.size(), cq.size());
  for (std::size_t i = 0; i < n; ++i) out[i] = cq.take();
  const Time cost = n == 0 ? params_.poll_empty : params_.poll_cqe * static_cast<std::int64_t>(n);
  co_await cpus->run(thread, ports::Work::user, cost);
  reply.value = n;
  finish(thread, caller);
}

}  // namespace mtsim::user

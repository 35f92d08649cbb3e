// PDs, CQs, SRQs and QPs. An object that others still use stays: EBUSY. A handle that stands for nothing: EINVAL.
#include <cerrno>

#include "kernel/kernel.h"
#include "verbs/qp_state.h"

namespace mtsim::kernel {

using verbs::QpState;

Kernel::Answer Kernel::alloc_pd(verbs::Thread thread, std::uint32_t nic) {
  co_await system_call(thread, params_.pd);
  verbs::Reply reply;
  reply.error = nic < devices_.size() ? 0 : ENODEV;
  if (reply.error == 0) reply.handle = process_.pds.add({0, nic});
  co_return reply;
}

Kernel::Answer Kernel::dealloc_pd(verbs::Thread thread, verbs::Handle pd) {
  co_await system_call(thread, params_.pd);
  verbs::Reply reply;
  const Pd* found = process_.pds.find(pd);
  reply.error = found == nullptr ? EINVAL : found->users != 0 ? EBUSY : 0;
  if (reply.error == 0) process_.pds.remove(pd);
  co_return reply;
}

Kernel::Answer Kernel::create_cq(verbs::Thread thread, ports::QueueMemory queue) {
  co_await system_call(thread, params_.cq);
  verbs::Reply reply;
  QueuePin pin;
  reply.error = QueuePin::make(processes_.of(thread), queue, pin);
  if (reply.error == 0) reply.handle = first().cqs.add({pin});
  co_return reply;
}

Kernel::Answer Kernel::destroy_cq(verbs::Thread thread, verbs::Handle cq) {
  co_await system_call(thread, params_.cq);
  verbs::Reply reply;
  const Cq* found = first().cqs.find(cq);
  reply.error = found == nullptr ? EINVAL : found->users != 0 ? EBUSY : 0;
  if (reply.error == 0) first().cqs.remove(cq).pin.undo();
  co_return reply;
}

Kernel::Answer Kernel::create_srq(verbs::Thread thread, verbs::Handle pd, ports::QueueMemory queue) {
  co_await system_call(thread, params_.srq);
  verbs::Reply reply;
  Pd* found = process_.pds.find(pd);
  QueuePin pin;
  reply.error = found == nullptr || found->device != 0 ? EINVAL : QueuePin::make(processes_.of(thread), queue, pin);
  if (reply.error != 0) co_return reply;
  ++found->users;
  reply.handle = first().srqs.add({pd, pin});
  co_return reply;
}

Kernel::Answer Kernel::destroy_srq(verbs::Thread thread, verbs::Handle srq) {
  co_await system_call(thread, params_.srq);
  verbs::Reply reply;
  const Srq* found = first().srqs.find(srq);
  reply.error = found == nullptr ? EINVAL : found->users != 0 ? EBUSY : 0;
  if (reply.error != 0) co_return reply;
  Srq gone = first().srqs.remove(srq);
  gone.pin.undo();
  --process_.pds.find(gone.pd)->users;
  co_return reply;
}

Kernel::Answer Kernel::create_qp(verbs::Thread thread, QpObjects objects, ports::QpAttributes attributes, ports::QueueMemory queue) {
  co_await system_call(thread, params_.qp);
  verbs::Reply reply;
  Pd* pd = process_.pds.find(objects.pd);
  Cq* send_cq = first().cqs.find(objects.send_cq);
  Cq* recv_cq = first().cqs.find(objects.recv_cq);
  Srq* srq = first().srqs.find(objects.srq);
  if (pd == nullptr || pd->device != 0 || send_cq == nullptr || recv_cq == nullptr || (objects.srq != 0 && srq == nullptr)) {
    reply.error = EINVAL;
    co_return reply;
  }
  QueuePin pin;
  reply.error = QueuePin::make(processes_.of(thread), queue, pin);
  if (reply.error != 0) co_return reply;
  if (srq != nullptr) ++srq->users;
  ++pd->users;
  ++send_cq->users;
  ++recv_cq->users;
  attributes.pd = objects.pd;
  attributes.receive_pd = srq != nullptr ? srq->pd : objects.pd;
  if (attributes.mtu.raw == 0) attributes.mtu = queue_pairs->link_mtu();
  const std::uint32_t qpn = queue_pairs->create_qp(attributes);
  reply.handle = first().qps.add({qpn, objects, pin});
  reply.value = qpn;
  co_return reply;
}

Kernel::Answer Kernel::destroy_qp(verbs::Thread thread, verbs::Handle qp) {
  co_await system_call(thread, params_.qp);
  verbs::Reply reply;
  if (first().qps.find(qp) == nullptr) {
    reply.error = EINVAL;
    co_return reply;
  }
  Qp gone = first().qps.remove(qp);
  queue_pairs->destroy_qp(gone.qpn);
  gone.pin.undo();
  --process_.pds.find(gone.objects.pd)->users;
  --first().cqs.find(gone.objects.send_cq)->users;
  --first().cqs.find(gone.objects.recv_cq)->users;
  if (gone.objects.srq != 0) --first().srqs.find(gone.objects.srq)->users;
  co_return reply;
}

/// The changes of ib_modify_qp_is_ok (core/verbs.c) that need no path: to INIT from RESET or INIT, between RTS and SQD, from SQE to RTS, to
/// ERR from anything but RESET, to RESET always. RTR and the first RTS are reached by `connect`, but those of an unreliable datagram QP,
/// which needs no path.
Kernel::Answer Kernel::modify_qp(verbs::Thread thread, verbs::Handle qp, QpState state) {
  co_await system_call(thread, params_.modify_qp);
  verbs::Reply reply;
  const Qp* found = first().qps.find(qp);
  reply.error = EINVAL;
  if (found == nullptr) co_return reply;
  const QpState now = queue_pairs->state(found->qpn);
  const verbs::QpType type = queue_pairs->type(found->qpn);
  const bool needs_path = type != verbs::QpType::ud && (state == QpState::rtr || now == QpState::rtr) && state != QpState::err;
  if (state == QpState::reset || (verbs::is_change_allowed(type, now, state) && !needs_path)) {
    reply.error = 0;
    queue_pairs->set_state(found->qpn, state);
  }
  co_return reply;
}

Kernel::Answer Kernel::connect(verbs::Thread thread, verbs::Handle qp, ports::Kernel& peer, verbs::Handle peer_qp) {
  // Three changes of state on each side.
  co_await system_call(thread, params_.modify_qp * 6 + params_.syscall * 5);
  verbs::Reply reply;
  const auto here = path_to(qp);
  const auto there = peer.path_to(peer_qp);
  if (!here || !there) {
    reply.error = EINVAL;
    co_return reply;
  }
  bring_up(qp, *there);
  peer.bring_up(peer_qp, *here);
  co_return reply;
}

std::optional<Kernel::Path> Kernel::path_to(verbs::Handle qp) const {
  const Qp* found = first().qps.find(qp);
  if (found == nullptr) return std::nullopt;
  const QpState state = queue_pairs->state(found->qpn);
  if (state != QpState::reset && state != QpState::init) return std::nullopt;
  return Path{queue_pairs->port(), found->qpn};
}

void Kernel::bring_up(verbs::Handle qp, Path peer) {
  const std::uint32_t qpn = first().qps.find(qp)->qpn;
  queue_pairs->set_peer(qpn, peer.port, peer.qpn);
  queue_pairs->set_state(qpn, QpState::rts);
}

}  // namespace mtsim::kernel

// Completion queues and queue pairs: the library lays out their rings and asks the kernel for the rest.
#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "user/sim_device.h"

namespace mtsim::user {

using verbs::Caller;
using verbs::Handle;
using verbs::Progress;
using verbs::Reply;
using verbs::Thread;

namespace {

constexpr std::uint32_t deepest_cq = 4'194'303;  ///< max_cqe of mlx5 devices

/// The place of a handle in a table whose handles count up.
template <class Table>
auto& place(Table& table, Handle handle) {
  if (table.size() <= handle) table.resize(handle + 1);
  return table[handle];
}

}  // namespace

std::optional<Pa> SimDevice::allocate(Bytes length) {
  try {
    return memory->allocate(length, page_bytes);
  } catch (const UserError&) { return std::nullopt; }
}

Progress SimDevice::create_cq(Thread t, std::uint32_t depth, Reply& reply, Caller& caller) {
  reply.error = depth == 0 || depth > deepest_cq ? EINVAL : 0;
  if (reply.error != 0) return Progress::done;
  const std::uint32_t granted = CompletionQueue::granted_depth(depth);
  const std::optional<Pa> base = allocate(CompletionQueue::entry_bytes * granted);
  if (!base) {
    reply.error = ENOMEM;
    return Progress::done;
  }
  return spawn(t, create_cq_flow(t, {std::make_shared<CompletionQueue>(*base, granted, *cpus[0]), *base, true}, reply, caller));
}

engine::Flow SimDevice::create_cq_flow(Thread thread, Cq cq, Reply& reply, Caller& caller) {
  reply = co_await kernel->create_cq(thread);
  place(cqs_, reply.handle) = std::move(cq);
  finish(thread, caller);
}

Progress SimDevice::destroy_cq(Thread t, Handle cq, Reply& reply, Caller& caller) {
  return spawn(t, destroy_cq_flow(t, cq, reply, caller));
}

engine::Flow SimDevice::destroy_cq_flow(Thread thread, Handle cq, Reply& reply, Caller& caller) {
  reply = co_await kernel->destroy_cq(thread, cq);
  if (Cq* found = find_cq(cq); found != nullptr && reply.error == 0) {
    memory->release(found->base, CompletionQueue::entry_bytes * found->queue->depth());
    found->alive = false;
  }
  finish(thread, caller);
}

Progress SimDevice::create_qp(Thread t, const verbs::CreateQpRequest& request, Reply& reply, Caller& caller) {
  const Cq* send_cq = find_cq(request.send_cq);
  const Cq* recv_cq = find_cq(request.recv_cq);
  const auto capacity = SendCapacity::grant(request.sq_depth, request.send_sge, request.inline_bytes);
  reply.error = send_cq == nullptr || recv_cq == nullptr || !capacity ? EINVAL : 0;
  if (reply.error != 0) return Progress::done;
  Qp qp;
  qp.bytes = std::max(capacity->ring_bytes(), page_bytes);
  const std::optional<Pa> base = allocate(qp.bytes);
  if (!base) {
    reply.error = ENOMEM;
    return Progress::done;
  }
  qp.base = *base;
  qp.sq = std::make_shared<SendQueue>(*base, *capacity, request.signal_all);
  qp.send_cq = send_cq->queue;
  qp.alive = true;

  ports::QpAttributes attributes;
  attributes.type = request.type;
  attributes.access = request.access;
  attributes.rd_atomic = request.rd_atomic;
  attributes.dest_rd_atomic = request.dest_rd_atomic;
  attributes.mtu = request.mtu;
  attributes.ring = qp.sq->ring();
  attributes.send_cq = std::make_shared<CompletionPath>(qp.send_cq, qp.sq);
  attributes.recv_cq = std::make_shared<CompletionPath>(recv_cq->queue, nullptr);
  const ports::Kernel::QpObjects objects{request.pd, request.send_cq, request.recv_cq};
  return spawn(t, create_qp_flow(t, std::move(qp), objects, std::move(attributes), reply, caller));
}

engine::Flow SimDevice::create_qp_flow(Thread thread, Qp qp, ports::Kernel::QpObjects objects, ports::QpAttributes attributes, Reply& reply,
                                       Caller& caller) {
  reply = co_await kernel->create_qp(thread, objects, std::move(attributes));
  if (reply.error == 0) {
    qp.qpn = static_cast<std::uint32_t>(reply.value);
    place(qps_, reply.handle) = std::move(qp);
  } else {
    memory->release(qp.base, qp.bytes);
  }
  finish(thread, caller);
}

Progress SimDevice::destroy_qp(Thread t, Handle qp, Reply& reply, Caller& caller) {
  return spawn(t, destroy_qp_flow(t, qp, reply, caller));
}

engine::Flow SimDevice::destroy_qp_flow(Thread thread, Handle qp, Reply& reply, Caller& caller) {
  reply = co_await kernel->destroy_qp(thread, qp);
  if (Qp* found = find_qp(qp); found != nullptr && reply.error == 0) {
    // mlx5_destroy_qp takes the QP's completions out of the CQ.
    found->send_cq->forget(*found->sq);
    found->sq->close();
    memory->release(found->base, found->bytes);
    found->alive = false;
  }
  finish(thread, caller);
}

Progress SimDevice::modify_qp(Thread t, Handle qp, verbs::QpState state, Reply& reply, Caller& caller) {
  return spawn(t, modify_qp_flow(t, qp, state, reply, caller));
}

engine::Flow SimDevice::modify_qp_flow(Thread thread, Handle qp, verbs::QpState state, Reply& reply, Caller& caller) {
  reply = co_await kernel->modify_qp(thread, qp, state);
  if (Qp* found = find_qp(qp); found != nullptr && reply.error == 0) {
    found->sq->set_ready(state == verbs::QpState::err);
    if (state == verbs::QpState::reset) {
      found->send_cq->forget(*found->sq);
      found->sq->reset();
    }
  }
  finish(thread, caller);
}

Progress SimDevice::connect(Thread t, Handle qp, verbs::Device& peer, Handle peer_qp, Reply& reply, Caller& caller) {
  return spawn(t, connect_flow(t, qp, dynamic_cast<SimDevice&>(peer), peer_qp, reply, caller));
}

engine::Flow SimDevice::connect_flow(Thread thread, Handle qp, SimDevice& peer, Handle peer_qp, Reply& reply, Caller& caller) {
  reply = co_await kernel->connect(thread, qp, *peer.kernel[0], peer_qp);
  if (reply.error == 0) {
    find_qp(qp)->sq->set_ready(true);
    peer.find_qp(peer_qp)->sq->set_ready(true);
  }
  finish(thread, caller);
}

}  // namespace mtsim::user

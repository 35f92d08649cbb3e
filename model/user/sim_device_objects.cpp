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

ports::QueueMemory pinned(const QueueBuffer& buffer) { return {buffer.pages, buffer.doorbell_page}; }

}  // namespace

std::optional<Pa> SimDevice::allocate(Bytes length) {
  try {
    return memory->allocate(length, page_bytes);
  } catch (const UserError&) { return std::nullopt; }
}

Progress SimDevice::create_cq(Thread t, std::uint32_t depth, Reply& reply, Caller& caller) {
  reply.error = depth == 0 || depth > deepest_cq ? EINVAL : 0;
  if (reply.error != 0) return Progress::done;
  const std::uint32_t granted = CompletionQueue::granted_depth(depth, params_.rules->posting);
  const std::optional<Pa> base = allocate(CompletionQueue::ring_bytes(granted));
  if (!base) {
    reply.error = ENOMEM;
    return Progress::done;
  }
  return spawn(t, create_cq_flow(t, {std::make_shared<CompletionQueue>(*base, granted, *cpus[0]), *base, true}, reply, caller));
}

engine::Flow SimDevice::create_cq_flow(Thread thread, Cq cq, Reply& reply, Caller& caller) {
  const Bytes ring = CompletionQueue::ring_bytes(cq.queue->depth());
  reply.error = co_await allocate_queue(thread, ring, cq.buffer);
  if (reply.error == 0) {
    reply = co_await kernel->create_cq(thread, pinned(cq.buffer));
    if (reply.error != 0) co_await free_queue(thread, cq.buffer);
  }
  if (reply.error == 0) place(cqs_, reply.handle) = std::move(cq);
  else memory->release(cq.base, ring);
  finish(thread, caller);
}

Progress SimDevice::destroy_cq(Thread t, Handle cq, Reply& reply, Caller& caller) {
  return spawn(t, destroy_cq_flow(t, cq, reply, caller));
}

engine::Flow SimDevice::destroy_cq_flow(Thread thread, Handle cq, Reply& reply, Caller& caller) {
  reply = co_await kernel->destroy_cq(thread, cq);
  if (Cq* found = find_cq(cq); found != nullptr && reply.error == 0) {
    memory->release(found->base, CompletionQueue::ring_bytes(found->queue->depth()));
    found->alive = false;
    co_await free_queue(thread, found->buffer);
  }
  finish(thread, caller);
}

Progress SimDevice::create_srq(Thread t, const verbs::CreateSrqRequest& request, Reply& reply, Caller& caller) {
  const auto capacity = ReceiveCapacity::grant(request.depth, request.sges, true, params_.rules->posting);
  reply.error = capacity ? 0 : EINVAL;
  if (reply.error != 0) return Progress::done;
  const std::optional<Pa> base = allocate(capacity->ring_bytes());
  if (!base) {
    reply.error = ENOMEM;
    return Progress::done;
  }
  auto queue = std::make_shared<ReceiveQueue>(*base, *capacity, true, params_.rules);
  queue->set_ready(true);
  return spawn(t, create_srq_flow(t, request.pd, {std::move(queue), *base, capacity->ring_bytes(), true}, reply, caller));
}

engine::Flow SimDevice::create_srq_flow(Thread thread, Handle pd, Srq srq, Reply& reply, Caller& caller) {
  reply.error = co_await allocate_queue(thread, srq.bytes - page_bytes, srq.buffer);
  if (reply.error == 0) {
    reply = co_await kernel->create_srq(thread, pd, pinned(srq.buffer));
    if (reply.error != 0) co_await free_queue(thread, srq.buffer);
  }
  if (reply.error == 0) place(srqs_, reply.handle) = std::move(srq);
  else memory->release(srq.base, srq.bytes);
  finish(thread, caller);
}

Progress SimDevice::destroy_srq(Thread t, Handle srq, Reply& reply, Caller& caller) {
  return spawn(t, destroy_srq_flow(t, srq, reply, caller));
}

engine::Flow SimDevice::destroy_srq_flow(Thread thread, Handle srq, Reply& reply, Caller& caller) {
  reply = co_await kernel->destroy_srq(thread, srq);
  if (Srq* found = find_srq(srq); found != nullptr && reply.error == 0) {
    memory->release(found->base, found->bytes);
    found->alive = false;
    co_await free_queue(thread, found->buffer);
  }
  finish(thread, caller);
}

int SimDevice::lay_out(const verbs::CreateQpRequest& request, Qp& qp) {
  const verbs::Rules::Posting& posting = params_.rules->posting;
  const auto sends = SendCapacity::grant(request.sq_depth, request.send_sge, request.inline_bytes, posting);
  const auto receives = ReceiveCapacity::grant(request.rq_depth, request.recv_sge, false, posting);
  const Srq* srq = find_srq(request.srq);
  qp.shared_rq = request.srq != 0;
  if (!sends || (qp.shared_rq ? srq == nullptr : !receives)) return EINVAL;
  qp.bytes = std::max(sends->ring_bytes(), page_bytes);
  qp.send_bytes = sends->ring_bytes();
  const std::optional<Pa> base = allocate(qp.bytes);
  if (!base) return ENOMEM;
  qp.base = *base;
  qp.sq = std::make_shared<SendQueue>(qp.base, *sends, request.signal_all, request.type, params_.rules);
  if (qp.shared_rq) {
    qp.rq = srq->queue;
    return 0;
  }
  const std::optional<Pa> receive_base = allocate(receives->ring_bytes());
  if (!receive_base) {
    memory->release(qp.base, qp.bytes);
    return ENOMEM;
  }
  qp.receive_base = *receive_base;
  qp.receive_bytes = receives->ring_bytes();
  qp.rq = std::make_shared<ReceiveQueue>(qp.receive_base, *receives, false, params_.rules);
  return 0;
}

void SimDevice::release(const Qp& qp) {
  memory->release(qp.base, qp.bytes);
  if (qp.receive_bytes.raw != 0) memory->release(qp.receive_base, qp.receive_bytes);
}

Progress SimDevice::create_qp(Thread t, const verbs::CreateQpRequest& request, Reply& reply, Caller& caller) {
  const Cq* send_cq = find_cq(request.send_cq);
  const Cq* recv_cq = find_cq(request.recv_cq);
  Qp qp;
  reply.error = send_cq == nullptr || recv_cq == nullptr ? EINVAL : lay_out(request, qp);
  if (reply.error != 0) return Progress::done;
  qp.send_path = std::make_shared<CompletionPath>(send_cq->queue, qp.sq);
  qp.receive_path = std::make_shared<CompletionPath>(recv_cq->queue, qp.rq);
  qp.alive = true;

  ports::QpAttributes attributes;
  attributes.type = request.type;
  attributes.access = request.access;
  attributes.timeout = request.timeout;
  attributes.retry = request.retry;
  attributes.rnr_retry = request.rnr_retry;
  attributes.rnr_timer = request.rnr_timer;
  attributes.rd_atomic = request.rd_atomic;
  attributes.dest_rd_atomic = request.dest_rd_atomic;
  attributes.mtu = request.mtu;
  attributes.ring = qp.sq->ring();
  attributes.receives = qp.rq->ring();
  attributes.shared_receives = qp.shared_rq;
  attributes.send_cq = qp.send_path;
  attributes.recv_cq = qp.receive_path;
  const ports::Kernel::QpObjects objects{request.pd, request.send_cq, request.recv_cq, request.srq};
  return spawn(t, create_qp_flow(t, std::move(qp), objects, std::move(attributes), reply, caller));
}

engine::Flow SimDevice::create_qp_flow(Thread thread, Qp qp, ports::Kernel::QpObjects objects, ports::QpAttributes attributes, Reply& reply,
                                       Caller& caller) {
  reply.error = co_await allocate_queue(thread, qp.queue_bytes(), qp.buffer);
  if (reply.error == 0) {
    reply = co_await kernel->create_qp(thread, objects, std::move(attributes), pinned(qp.buffer));
    if (reply.error != 0) co_await free_queue(thread, qp.buffer);
  }
  if (reply.error == 0) {
    qp.qpn = static_cast<std::uint32_t>(reply.value);
    place(qps_, reply.handle) = std::move(qp);
    place(qp_at_, reply.handle) = &qps_[reply.handle];
  } else {
    release(qp);
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
    found->send_path->close();
    found->receive_path->close();
    release(*found);
    found->alive = false;
    co_await free_queue(thread, found->buffer);
  }
  finish(thread, caller);
}

Progress SimDevice::modify_qp(Thread t, Handle qp, verbs::QpState state, Reply& reply, Caller& caller) {
  return spawn(t, modify_qp_flow(t, qp, state, reply, caller));
}

engine::Flow SimDevice::modify_qp_flow(Thread thread, Handle qp, verbs::QpState state, Reply& reply, Caller& caller) {
  reply = co_await kernel->modify_qp(thread, qp, state);
  if (Qp* found = find_qp(qp); found != nullptr && reply.error == 0) {
    // The library looks at what was set, not at what the device came to.
    found->sq->set_ready(state >= verbs::QpState::rts);
    if (!found->shared_rq) found->rq->set_ready(state != verbs::QpState::reset);
    if (state == verbs::QpState::err && found->sq->keeps_refused()) {
      doorbells->ring(found->qpn, found->sq->producer(), Bytes(0));
      found->sq->told();
    }
    if (state == verbs::QpState::reset) {
      found->send_path->forget();
      found->receive_path->forget();
      found->sq->reset();
      if (!found->shared_rq) found->rq->reset();
    }
  }
  finish(thread, caller);
}

Progress SimDevice::query_qp(Thread t, Handle qp, Reply& reply, Caller& caller) {
  return ask_kernel(t, kernel->query_qp(t, qp), reply, caller);
}
Progress SimDevice::next_event(Thread t, Reply& reply, Caller& caller) { return ask_kernel(t, kernel->next_event(t), reply, caller); }

Progress SimDevice::connect(Thread t, Handle qp, verbs::Device& peer, Handle peer_qp, Reply& reply, Caller& caller) {
  return spawn(t, connect_flow(t, qp, dynamic_cast<SimDevice&>(peer), peer_qp, reply, caller));
}

engine::Flow SimDevice::connect_flow(Thread thread, Handle qp, SimDevice& peer, Handle peer_qp, Reply& reply, Caller& caller) {
  reply = co_await kernel->connect(thread, qp, *peer.kernel[0], peer_qp);
  if (reply.error == 0) {
    find_qp(qp)->set_up();
    peer.find_qp(peer_qp)->set_up();
  }
  finish(thread, caller);
}

}  // namespace mtsim::user

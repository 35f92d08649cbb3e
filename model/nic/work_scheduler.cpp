#include "nic/work_scheduler.h"

#include <algorithm>
#include <utility>

namespace mtsim::nic {

WorkScheduler::WorkScheduler(sc_core::sc_module_name module_name, engine::Scheduler& scheduler, Clock clock, std::uint32_t prefetch,
                             std::uint32_t qp_pieces)
    : sc_module(module_name),
      dma("dma"),
      retirement("retirement"),
      scheduler_(scheduler),
      clock_(clock),
      prefetch_(prefetch),
      qp_pieces_(qp_pieces) {}

bool WorkScheduler::held(Qp& qp) {
  if (qp.offset != 0) return false;
  const ports::Wqe& wqe = qp.wqe(qp.next);
  if (verbs::has(wqe.flags, verbs::Send::fence) && qp.reads != 0) return true;
  return verbs::is_read_or_atomic(wqe.opcode) && qp.reads >= std::max(qp.attributes.rd_atomic, 1u);
}

void WorkScheduler::wake(Qp& qp) {
  if (!qp.may_send() || qp.halted || qp.waiting) return;
  if (!qp.fetching && qp.fetched != qp.producer && qp.fetched - qp.next < prefetch_) scheduler_.spawn(fetch(qp));
  if (qp.listed || qp.preparing == qp_pieces_ || qp.next == qp.fetched || held(qp)) return;
  qp.listed = true;
  qp.next_listed = nullptr;
  (first_ ? last_->next_listed : first_) = &qp;
  last_ = &qp;
  if (auto requester = std::exchange(requester_, nullptr)) requester.resume();
}

Qp* WorkScheduler::take() {
  while (first_ != nullptr) {
    Qp& qp = *first_;
    first_ = qp.next_listed;
    qp.listed = false;
    // What was true when it was listed may have changed: the QP failed, or was destroyed.
    if (qp.may_send() && !qp.halted && !qp.waiting && qp.next != qp.fetched) return &qp;
  }
  return nullptr;
}

// WQEs that stand together in the ring come in one read.
engine::Flow WorkScheduler::fetch(Qp& qp) {
  const std::uint32_t attempt = qp.attempt;
  qp.fetching = true;
  while (qp.still(attempt) && qp.fetched != qp.producer && qp.fetched - qp.next < prefetch_) {
    const std::uint32_t first = qp.fetched, depth = qp.attributes.ring->depth();
    const std::uint32_t count = std::min({qp.producer - first, prefetch_ - (first - qp.next), depth - first % depth});
    const Pa from = qp.attributes.ring->address(first);
    // To the end of the last one: a slot has room for the largest WQE, of which only the used basic blocks are read.
    const Bytes length = qp.attributes.ring->address(first + count - 1) - from + Bytes(qp.wqe(first + count - 1).basic_blocks * 64);
    ++fetches_;
    fetched_wqes_ += count;
    co_await ports::DmaRead(*dma.operator->(), from, length, ports::Agent::control, qp.requester_order);
    if (!qp.still(attempt)) break;
    const Time now = clock_.edge(scheduler_.now());
    for (std::uint32_t i = first; i != first + count; ++i)
      if (!qp.request(i).repeated) qp.wqe(i).stamp[unsigned(ports::Step::wqe_fetch)] = now;
    qp.fetched = first + count;
    wake(qp);
  }
  qp.fetching = false;
  // Sent back, or reset and brought up again meanwhile: nobody else looks at what there is to fetch.
  if (qp.attempt != attempt) wake(qp);
}

}  // namespace mtsim::nic

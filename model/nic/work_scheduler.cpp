#include "nic/work_scheduler.h"

#include <algorithm>
#include <utility>

namespace mtsim::nic {

WorkScheduler::WorkScheduler(sc_core::sc_module_name module_name, engine::Scheduler& scheduler, Clock clock, const RequesterParams& params)
    : sc_module(module_name),
      dma("dma"),
      retirement("retirement"),
      translator("translator"),
      request_contexts("request_contexts"),
      scheduler_(scheduler),
      clock_(clock),
      prefetch_(params.prefetch),
      qp_pieces_(params.qp_pieces),
      at_doorbell_(params.prefetch_at == PrefetchAt::doorbell),
      translates_ahead_(params.translate_ahead),
      order_(QpOrders::make(params.qp_order, params.burst)) {
  if (params.wqe_fetches != 0) places_.emplace(scheduler, params.wqe_fetches);
}

void WorkScheduler::end_of_elaboration() {
  if (request_contexts.size() != 0) request_contexts_ = request_contexts.operator->();
}

/// Of the WQEs that have come since; a QP that was sent back begins with where it is now.
void WorkScheduler::make_contexts(Qp& qp) {
  if (static_cast<std::int32_t>(qp.contexts_made - qp.fetched) > 0) qp.contexts_made = qp.fetched;
  while (qp.contexts_made != qp.fetched) request_contexts_->begin(qp, qp.contexts_made++);
}

bool WorkScheduler::held(Qp& qp) {
  if (qp.offset != 0) return false;
  if (qp.changes_window) return true;
  const ports::Wqe& wqe = qp.wqe(qp.next);
  if (verbs::has(wqe.flags, verbs::Send::fence) && qp.reads != 0) return true;
  return verbs::is_read_or_atomic(wqe.opcode) && qp.reads >= std::max(qp.attributes.rd_atomic, 1u);
}

void WorkScheduler::wake(Qp& qp) {
  if (!qp.may_send() || qp.halted || qp.waiting) return;
  if (request_contexts_ != nullptr) [[unlikely]]
    make_contexts(qp);
  if (at_doorbell_ && !qp.fetching && qp.fetched != qp.producer && qp.fetched - qp.next < prefetch_) scheduler_.spawn(fetch(qp));
  if (qp.listed || qp.preparing == qp_pieces_) return;
  // Without prefetch a QP has its turn to find that it has to fetch.
  if (qp.next == qp.fetched && (at_doorbell_ || qp.fetching || qp.fetched == qp.producer)) {
    if (qp.next == qp.producer) qp.turn = 0;
    return;
  }
  if (held(qp)) return;
  line_up(qp);
  if (auto requester = std::exchange(requester_, nullptr)) requester.resume();
}

void WorkScheduler::line_up(Qp& qp) {
  qp.listed = true;
  qp.turns.listed = scheduler_.now();
  qp.turns.stalled = stalls_.until(scheduler_.now());
  if (order_ != nullptr && qp.turn != 0 && (qp.offset != 0 || order_->goes_on(qp.turn))) [[unlikely]] {
    qp.next_listed = first_;
    if (first_ == nullptr) last_ = &qp;
    first_ = &qp;
    return;
  }
  qp.turn = 0;
  qp.next_listed = nullptr;
  (first_ ? last_->next_listed : first_) = &qp;
  last_ = &qp;
}

void WorkScheduler::stalled(bool on) { stalls_.turn(on, scheduler_.now()); }

Qp* WorkScheduler::take() {
  while (first_ != nullptr) {
    Qp& qp = *first_;
    first_ = qp.next_listed;
    qp.listed = false;
    // What was true when it was listed may have changed: the QP failed, or was destroyed.
    if (!qp.may_send() || qp.halted || qp.waiting) continue;
    if (qp.next != qp.fetched) {
      qp.turn += qp.offset == 0;
      qp.turns.stalled = stalls_.until(scheduler_.now()) - qp.turns.stalled;
      return &qp;
    }
    if (!at_doorbell_ && !qp.fetching && qp.fetched != qp.producer) scheduler_.spawn(fetch(qp));
  }
  return nullptr;
}

// WQEs that stand together in the ring come in one read.
engine::Flow WorkScheduler::fetch(Qp& qp) {
  const std::uint32_t attempt = qp.attempt;
  qp.fetching = true;
  const auto wanted = [&] { return qp.still(attempt) && qp.fetched != qp.producer && qp.fetched - qp.next < prefetch_; };
  while (wanted()) {
    const Time since = scheduler_.now();
    if (places_) [[unlikely]] {
      co_await places_->take();
      if (!wanted()) {
        places_->give();
        break;
      }
    }
    const std::uint32_t first = qp.fetched, depth = qp.attributes.ring->depth();
    const std::uint32_t count = std::min({qp.producer - first, prefetch_ - (first - qp.next), depth - first % depth});
    const Pa from = qp.attributes.ring->address(first);
    // To the end of the last one: a slot has room for the largest WQE, of which only the used basic blocks are read.
    const Bytes length = qp.attributes.ring->address(first + count - 1) - from + Bytes(qp.wqe(first + count - 1).basic_blocks * 64);
    ++fetches_;
    fetched_wqes_ += count;
    const Time asked = scheduler_.now();
    ports::Waits waits;
    co_await ports::DmaRead(*dma.operator->(), from, length, ports::Agent::control, qp.requester_order, &waits, ports::Step::wqe_fetch);
    if (places_) [[unlikely]]
      places_->give();
    if (!qp.still(attempt)) break;
    const Time now = clock_.edge(scheduler_.now());
    for (std::uint32_t i = first; i != first + count; ++i) {
      if (qp.request(i).repeated) continue;
      ports::Wqe& wqe = qp.wqe(i);
      wqe.stamp[unsigned(ports::Step::wqe_fetch)] = now;
      wqe.waits.drop_from(ports::Step::wqe_fetch);
      const Time rung = wqe.stamp[unsigned(ports::Step::doorbell)], in_line = std::max(since, rung);
      wqe.waits.add(ports::Step::wqe_fetch, ports::Cause::qp, in_line - rung);
      wqe.waits.add(ports::Step::wqe_fetch, ports::Cause::wqe_place, asked - in_line);
      wqe.waits.append(waits);
    }
    if (translates_ahead_) [[unlikely]]
      for (std::uint32_t i = first; i != first + count; ++i) scheduler_.spawn(translate(qp, i));
    qp.fetched = first + count;
    if (!at_doorbell_) break;
    wake(qp);
  }
  qp.fetching = false;
  // Sent back, or reset and brought up again meanwhile: nobody else looks at what there is to fetch.
  if (qp.attempt != attempt || !at_doorbell_) wake(qp);
}

/// Looks up where the first byte of a request's memory is, long before its turn, so that the lines are there by then. Whatever comes out
/// is forgotten: key and range are judged when they are needed.
engine::Flow WorkScheduler::translate(Qp& qp, std::uint32_t index) {
  const ports::Wqe& wqe = qp.wqe(index);
  const auto first = std::find_if(wqe.sges, wqe.sges + wqe.sge_count, [](const verbs::Sge& sge) { return sge.length != 0; });
  if (first == wqe.sges + wqe.sge_count || verbs::has(wqe.flags, verbs::Send::inline_data)) co_return;
  const verbs::Access access = verbs::is_read_or_atomic(wqe.opcode) ? verbs::Access::local_write : verbs::Access::none;
  ports::Query query;
  query.order = qp.requester_order;
  query.qpn = qp.qpn;
  query.wqe = &wqe;
  query.wish = {first->lkey, qp.attributes.pd, access, Iova(first->address), Bytes(first->length)};
  query.address = Iova(first->address);
  if (!translator->probe(query, clock_.edge(scheduler_.now()))) co_await translator->walk(query);
}

}  // namespace mtsim::nic

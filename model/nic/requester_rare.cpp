// What few requests need: contexts that the NIC has to fetch, and what is made of requests that are refused at home.
#include <algorithm>
#include <utility>

#include "nic/refused_lookup.h"
#include "nic/requester.h"
#include "nic/requester_marks.h"

namespace mtsim::nic {

/// A QP for which something has to be fetched, its own context or the next request's, has had its turn in the pipe; it gets another when
/// all is there.
bool Requester::contexts_at_hand(Qp& qp, Time& busy) {
  if (std::exchange(qp.contexts_in_hand, false)) return true;
  const bool own = qp_contexts_ == nullptr || qp_contexts_->find(qp, busy);
  const bool of_request = request_contexts_ == nullptr || qp.offset != 0 || request_contexts_->find(qp, qp.next);
  if (own && of_request) return true;
  pipe_.book(scheduler_.now(), params_.interval + busy);
  scheduler_.spawn(bring_contexts(qp, clock_.edge(scheduler_.now() + busy), own, of_request));
  return false;
}

engine::Flow Requester::bring_contexts(Qp& qp, Time at, bool own, bool of_request) {
  const std::uint32_t attempt = qp.attempt;
  qp.listed = qp.brings_contexts = true;  // nobody lines it up meanwhile
  qp.turns.before_listed = qp.turns.listed;
  qp.turns.before_stalled = qp.turns.stalled;
  qp.turns.missed = scheduler_.now();
  qp.turns.asked = at;
  if (!own) co_await qp_contexts_->fetch(qp, at, qp.requester_order);
  else co_await engine::Until(scheduler_, at, qp.requester_order);
  if (!of_request && qp.still(attempt)) co_await request_contexts_->fetch(qp, qp.next, true);
  qp.turns.brought = scheduler_.now();
  qp.listed = qp.brings_contexts = false;
  qp.contexts_in_hand = qp.still(attempt) && qp.may_send() && !qp.halted && !qp.waiting;
  work->wake(qp);
}

/// The same once it is clear that something is wrong: what.
verbs::Status Requester::refuse_unfit(Qp& qp, const ports::Wqe& wqe) {
  const verbs::Rules& rules = *params_.rules;
  verbs::Decision decision;
  decision.opcode = wqe.opcode;
  decision.wr = wqe.wr;
  verbs::WorkView work_view;
  work_view.type = qp.attributes.type;
  work_view.opcode = wqe.opcode;
  work_view.length = wqe.length;
  for (const verbs::Sge& sge : std::span(wqe.sges, wqe.sge_count))
    work_view.longest_element = std::max<std::uint64_t>(work_view.longest_element, sge.length);
  decision.work = verbs::check_work(work_view, rules);
  retirement->refused(qp, decision);
  return decision.work == verbs::RequestCheck::none ? rules.requester.unfit : verbs::status_of(decision.work, rules);
}

/// To a requester that waits for more of an answer to a READ of an earlier life: the request counts as done, and the QP fails.
void Requester::end_out_of_turn(Qp& qp, const ports::Packet& packet) {
  ports::Wqe& wqe = qp.wqe(packet.request);
  std::copy(packet.stamp.begin(), packet.stamp.end(), wqe.stamp.begin() + unsigned(ports::Step::wire));
  stamp(wqe, ports::Step::response_wire) = stamp(wqe, ports::Step::scatter) = scheduler_.now();
  over(qp, packet.request, verbs::Status::SUCCESS);
  retirement->fail(qp);
}

void Requester::explain_refusal(Qp& qp, const ports::Wqe& wqe, const ports::Query& query) {
  retirement->refused(qp, decision_on(query, wqe.opcode, wqe.wr));
}

}  // namespace mtsim::nic

// Requests that the requester carries out by itself: binds and invalidations of memory windows. They send nothing; the peer's count of
// requests goes on with the next one that does (Packet::skipped).
#include "nic/requester.h"
#include "nic/requester_marks.h"
#include "verbs/decision.h"

namespace mtsim::nic {

using ports::Step;
using verbs::Status;

/// In the order of its queue: nothing behind it is taken up before it has taken effect, since the next request may use the key (IBTA
/// o10-37; mlx5 sets a small fence on the request behind a bind).
engine::Flow Requester::change_window(Qp& qp) {
  const std::uint32_t life = qp.life, attempt = qp.attempt, index = qp.next++;
  // One that has been carried out is not carried out again when requests before it are sent again.
  if (qp.request(index).answered) {
    contexts_.give();
    work->wake(qp);
    co_return;
  }
  ports::Wqe& wqe = qp.wqe(index);
  if (index == qp.retired) qp.progress = scheduler_.now();
  qp.changes_window = true;
  qp.prepares = "changes a memory window";
  stamp(wqe, Step::schedule) = scheduler_.now();
  co_await engine::Until(scheduler_, clock_.edge(scheduler_.now() + params_.service), qp.requester_order);
  verbs::Decision decision;
  decision.opcode = wqe.opcode;
  decision.wr = wqe.wr;
  decision.wish.key = wqe.rkey;
  Status status = unfit(qp, wqe);
  const bool fits = status == Status::SUCCESS;
  if (fits && wqe.opcode == verbs::Opcode::bind_mw) {
    decision.bind = co_await windows->bind(qp, ports::bind_of(wqe), qp.requester_order);
    if (decision.bind != verbs::BindCheck::none) status = params_.rules->requester.bind;
  } else if (fits) {
    decision.invalidate = co_await windows->invalidate(qp, wqe.rkey, qp.requester_order);
    if (decision.invalidate != verbs::InvalidateCheck::none) status = params_.rules->requester.invalidate;
  }
  contexts_.give();
  if (!qp.lives(life)) co_return;
  qp.changes_window = false;
  qp.turns.taken = qp.turns.prepared = scheduler_.now();
  for (unsigned step = unsigned(Step::key_check); step <= unsigned(Step::scatter); ++step) wqe.stamp[step] = scheduler_.now();
  if (status == Status::SUCCESS) {
    retirement->answered(qp, index, status);
  } else if (qp.still(attempt)) {
    qp.halted = true;
    if (fits) retirement->refused(qp, decision);
    retirement->answered(qp, index, status);
  }
  // What failed and was sent back meanwhile has another turn.
  work->wake(qp);
}

}  // namespace mtsim::nic

// The requester sends again what was refused for now or never answered: go-back-N, as the reliable connection service demands.
#include "nic/requester.h"
#include "verbs/requester.h"
#include "verbs/timers.h"

namespace mtsim::nic {

/// Something was sent and the acknowledgement timer is not watched.
void Requester::await_answer(Qp& qp, Time sent) {
  if (qp.attributes.timeout == 0) return;
  qp.ack.qp = &qp;
  qp.ack.owner = this;
  qp.ack.order = qp.requester_order;
  qp.ack.due = due;
  qp.ack.expire = [](engine::Deadline& deadline) {
    auto& self = static_cast<Qp::Patience&>(deadline);
    static_cast<Requester*>(self.owner)->give_up_or_resend(*self.qp);
  };
  scheduler_.watch(qp.ack, sent + verbs::ack_timeout(qp.attributes.timeout));
}

/// The transport timer runs while anything sent is unanswered, and starts anew with each answer.
Time Requester::due(engine::Deadline& deadline) {
  const Qp& qp = *static_cast<Qp::Patience&>(deadline).qp;
  const bool unanswered = qp.retired != qp.next || qp.offset != 0;
  if (!unanswered || !qp.may_send() || qp.attributes.timeout == 0) return engine::Deadline::never;
  return qp.progress + verbs::ack_timeout(qp.attributes.timeout);
}

/// No answer within the timeout.
void Requester::give_up_or_resend(Qp& qp) {
  std::uint32_t index = qp.retired;
  while (qp.request(index).answered) ++index;
  const auto allowed = verbs::retries(qp.attributes.retry, *params_.rules);
  if (allowed && qp.retries == *allowed) return over(qp, index, verbs::Status::RETRY_EXC_ERR);
  if (allowed) ++qp.retries;
  ++retries_.timeouts;
  qp.progress = scheduler_.now();
  go_back(qp, index, 0);
  work->wake(qp);
  scheduler_.watch(qp.ack, qp.progress + verbs::ack_timeout(qp.attributes.timeout));
}

/// A NAK that says where to go on: at once after a sequence error, after a while when the receiver was not ready.
void Requester::try_again(Qp& qp, const ports::Packet& nak) {
  // What had been sent before the first NAK came may bring more of them; a piece that is to be sent again was not refused.
  const bool sent = static_cast<std::int32_t>(qp.next - nak.request) > 0 || (qp.next == nak.request && qp.offset > nak.offset);
  if (qp.waiting || !sent) return;
  const bool rnr = nak.nak == verbs::Nak::receiver_not_ready;
  std::uint32_t& used = rnr ? qp.rnr_retries : qp.retries;
  const auto allowed = rnr ? verbs::rnr_retries(qp.attributes.rnr_retry) : verbs::retries(qp.attributes.retry, *params_.rules);
  if (allowed && used == *allowed) return over(qp, nak.request, params_.rules->answered_status(nak.nak));
  if (allowed) ++used;
  ++(rnr ? retries_.rnr : retries_.sequence);
  go_back(qp, nak.request, nak.offset);
  qp.progress = scheduler_.now();
  if (!rnr) return work->wake(qp);
  qp.waiting = true;
  qp.progress += verbs::rnr_delay(nak.rnr_timer);
  qp.rnr.qp = &qp;
  qp.rnr.owner = this;
  qp.rnr.order = qp.requester_order;
  qp.rnr.due = [](engine::Deadline& deadline) {
    const Qp& self = *static_cast<Qp::Patience&>(deadline).qp;
    return self.waiting && self.may_send() ? self.progress : engine::Deadline::never;
  };
  qp.rnr.expire = [](engine::Deadline& deadline) {
    auto& self = static_cast<Qp::Patience&>(deadline);
    self.qp->waiting = false;
    static_cast<Requester*>(self.owner)->work->wake(*self.qp);
  };
  scheduler_.watch(qp.rnr, qp.progress);
}

void Requester::find_missing(const Qp& qp, ports::Packet& nak) {
  std::uint32_t index = nak.request;
  if (index - qp.retired >= qp.producer - qp.retired) index = qp.retired;
  while (index != qp.producer && qp.request(index).answered) ++index;
  if (index != nak.request) nak.offset = 0;
  nak.request = index;
}

void Requester::go_back(Qp& qp, std::uint32_t index, std::uint64_t offset) {
  ++qp.attempt;
  const std::uint32_t end = qp.next + (qp.offset != 0);
  for (std::uint32_t i = index; i != end; ++i) {
    Qp::Outstanding& request = qp.request(i);
    request.repeated = true;
    if (request.reading) --qp.reads;
    request.reading = false;
    // One that had failed here already fails again when its turn comes; until then it must not hold up what is sent again before it. A
    // change of a window that has been made stays made.
    if (request.status != verbs::Status::SUCCESS) request.answered = false;
  }
  qp.halted = qp.stopped = false;
  qp.next = qp.fetched = index;
  qp.offset = offset;
}

void Requester::pass(Qp& qp, std::uint32_t index) {
  ++qp.attempt;
  qp.next = index + 1;
  qp.offset = 0;
  if (static_cast<std::int32_t>(qp.fetched - qp.next) < 0) qp.fetched = qp.next;
}

}  // namespace mtsim::nic

#include "nic/completion.h"

namespace mtsim::nic {
namespace {

constexpr Bytes event_bytes{64};
constexpr std::uint64_t event_slots = 4096;

/// Of a failed completion the number of bytes means nothing (ibv_poll_cq).
std::uint32_t bytes_told(const ports::Wqe& wqe, verbs::Status status) {
  return status == verbs::Status::SUCCESS ? static_cast<std::uint32_t>(wqe.length) : 0;
}

verbs::Hazard hazard_of(const ports::Wqe& wqe, verbs::Status status) {
  return status == verbs::Status::SUCCESS ? wqe.mishap.kind : verbs::Hazard::none;
}

}  // namespace

Completion::Completion(sc_core::sc_module_name module_name, engine::Scheduler& scheduler, std::shared_ptr<const verbs::Rules> rules)
    : sc_module(module_name), dma("dma"), memory("memory"), log("log"), events("events"), scheduler_(scheduler), rules_(std::move(rules)) {}

void Completion::answered(Qp& qp, std::uint32_t index, verbs::Status status) {
  Qp::Outstanding& request = qp.request(index);
  request.answered = true;
  request.status = status;
  while (qp.retired != qp.producer && qp.request(qp.retired).answered) {
    const std::uint32_t oldest = qp.retire();
    const verbs::Status outcome = qp.request(oldest).status;
    if (oldest != index && outcome == verbs::Status::SUCCESS) {
      ports::Wqe& wqe = qp.wqe(oldest);
      const ports::Step last = qp.connected() ? ports::Step::scatter : ports::Step::wire;
      wqe.waits.add(ports::Step::completion, ports::Cause::qp, scheduler_.now() - wqe.stamp[unsigned(last)]);
    }
    retire(qp, oldest, outcome);
    if (outcome == verbs::Status::SUCCESS) continue;
    const verbs::Flushed flushed = verbs::flushed_by_error(qp.attributes.type, true, *rules_);
    if (verbs::after_request_error(qp.attributes.type, qp.state, *rules_) == verbs::QpState::sqe) return stop_sends(qp);
    return end(qp, flushed.receives);
  }
}

void Completion::fail(Qp& qp) { end(qp, true); }

// The error's own CQE has gone before; the rest follows in order, each with WR_FLUSH_ERR, signalled or not.
void Completion::end(Qp& qp, bool receives_too) {
  if (qp.state != verbs::QpState::err) {
    qp.state = verbs::QpState::err;
    qp.end_life();
    // It takes no further receive of the queue that it shares.
    if (qp.attributes.shared_receives) report(qp, verbs::Event::QP_LAST_WQE_REACHED);
  }
  flush_sends(qp);
  if (!receives_too) return;
  if (qp.receive) received(qp, verbs::Status::WR_FLUSH_ERR, 0);
  // A shared queue's receives belong to the other QPs as well.
  while (!qp.attributes.shared_receives && qp.receive_queue->any_posted()) {
    qp.receive = qp.receive_queue->pop_posted();
    received(qp, verbs::Status::WR_FLUSH_ERR, 0);
  }
}

/// An unreliable QP goes on receiving (IBTA 10.3.1, state SQE).
void Completion::stop_sends(Qp& qp) {
  qp.state = verbs::QpState::sqe;
  ++qp.attempt;
  flush_sends(qp);
}

void Completion::flush_sends(Qp& qp) {
  qp.halted = true;
  qp.waiting = qp.changes_window = false;
  qp.reads = 0;
  qp.offset = 0;
  while (qp.retired != qp.producer) retire(qp, qp.retire(), verbs::Status::WR_FLUSH_ERR);
  qp.next = qp.fetched = qp.producer;
}

void Completion::report(Qp& qp, verbs::Event event) {
  if (event == verbs::Event::none || events.size() == 0) return;
  if (rules_->responder.raises_events || event == verbs::Event::CQ_ERR) scheduler_.spawn(write_eqe(qp, event));
}

void Completion::refused(Qp& qp, const verbs::Decision& decision) { log->refused(scheduler_.now(), qp.qpn, decision); }

/// The entry of the event queue is in memory before its interrupt.
engine::Flow Completion::write_eqe(Qp& qp, verbs::Event event) {
  if (events_written_ == 0) event_queue_ = memory->allocate(event_bytes * event_slots, page_bytes);
  const Pa slot = event_queue_ + event_bytes * (events_written_++ % event_slots);
  ports::DmaWrite write(*dma.operator->(), slot, event_bytes, qp.responder_order, ports::Purpose::cqes);
  co_await write;
  events->raised(event, qp.qpn);
}

void Completion::received(Qp& qp, verbs::Status status, std::uint64_t bytes) {
  const std::uint32_t slot = *qp.receive;
  qp.receive.reset();
  qp.attributes.receives->at(slot).length = bytes;
  scheduler_.spawn(write_receive_cqe(qp, slot, status));
}

void Completion::retire(Qp& qp, std::uint32_t index, verbs::Status status) {
  ports::Wqe& wqe = qp.wqe(index);
  if (!verbs::leaves_completion(status, verbs::has(wqe.flags, verbs::Send::signaled))) {
    wqe.stamp[unsigned(ports::Step::completion)] = scheduler_.now();
    log->ended(qp.qpn, wqe, status);
    return;
  }
  scheduler_.spawn(write_cqe(qp, index, status));
}

// A QP's state, rings and ways into its CQs outlive it: the program may destroy it while its last CQEs are on their way.
engine::Flow Completion::write_cqe(Qp& qp, std::uint32_t index, verbs::Status status) {
  ++cqes_;
  const std::uint32_t resets = qp.resets;
  ports::DmaWrite write(*dma.operator->(), qp.attributes.send_cq->next_slot(), Bytes(64), qp.requester_order, ports::Purpose::cqes);
  co_await write;
  ++written_;
  ports::Wqe& wqe = qp.wqe(index);
  write.note(wqe.waits, ports::Step::completion);
  wqe.stamp[unsigned(ports::Step::completion)] = scheduler_.now();
  log->ended(qp.qpn, wqe, status);
  // The library empties the CQ of what a QP left there when it resets the QP.
  if (qp.resets != resets) qp.attributes.send_cq->lapse();
  else qp.attributes.send_cq->arrive({wqe.wr, status, wqe.opcode, bytes_told(wqe, status), hazard_of(wqe, status)}, index);
}

engine::Flow Completion::write_receive_cqe(Qp& qp, std::uint32_t slot, verbs::Status status) {
  ++cqes_;
  const std::uint32_t resets = qp.resets;
  ports::DmaWrite write(*dma.operator->(), qp.attributes.recv_cq->next_slot(), Bytes(64), qp.responder_order, ports::Purpose::cqes);
  co_await write;
  ++written_;
  ports::Wqe& wqe = qp.attributes.receives->at(slot);
  write.note(wqe.waits, ports::Step::completion);
  wqe.stamp[unsigned(ports::Step::completion)] = scheduler_.now();
  // A receive that no message took begins and ends with its flush.
  if (wqe.begin == Time()) {
    wqe.begin = scheduler_.now();
    wqe.waits.clear();
  }
  log->ended(qp.qpn, wqe, status);
  // A shared queue's slot must come back whatever became of the QP.
  if (qp.resets != resets && !qp.attributes.shared_receives) {
    qp.attributes.recv_cq->lapse();
    co_return;
  }
  verbs::Completion completion{wqe.wr, status, verbs::Opcode::recv, bytes_told(wqe, status), hazard_of(wqe, status)};
  if (ports::invalidates(wqe)) [[unlikely]] {
    completion.invalidates = true;
    completion.invalidated = wqe.rkey;
  }
  qp.attributes.recv_cq->arrive(completion, slot);
}

}  // namespace mtsim::nic

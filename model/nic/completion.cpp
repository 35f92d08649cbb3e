#include "nic/completion.h"

namespace mtsim::nic {

Completion::Completion(sc_core::sc_module_name module_name, engine::Scheduler& scheduler)
    : sc_module(module_name), dma("dma"), log("log"), scheduler_(scheduler) {}

void Completion::answered(Qp& qp, std::uint32_t index, verbs::Status status) {
  qp.request(index) = {true, status};
  while (qp.retired != qp.producer && qp.request(qp.retired).answered) {
    const std::uint32_t oldest = qp.retired++;
    const verbs::Status outcome = qp.request(oldest).status;
    retire(qp, oldest, outcome);
    if (outcome != verbs::Status::SUCCESS) return fail(qp);
  }
}

// The error's own CQE has gone before; the rest follows in order, each with WR_FLUSH_ERR, signalled or not.
void Completion::fail(Qp& qp) {
  if (qp.state != verbs::QpState::err) {
    qp.state = verbs::QpState::err;
    ++qp.life;
  }
  qp.halted = true;
  qp.reads = 0;
  qp.offset = 0;
  while (qp.retired != qp.producer) retire(qp, qp.retired++, verbs::Status::WR_FLUSH_ERR);
  qp.next = qp.fetched = qp.producer;
}

void Completion::retire(Qp& qp, std::uint32_t index, verbs::Status status) {
  ports::Wqe& wqe = qp.wqe(index);
  if (status == verbs::Status::SUCCESS && !verbs::has(wqe.flags, verbs::Send::signaled)) {
    wqe.stamp[unsigned(ports::Step::completion)] = scheduler_.now();
    log->ended(qp.qpn, wqe, status);
    return;
  }
  scheduler_.spawn(write_cqe(qp.qpn, qp.attributes.ring, qp.attributes.send_cq, index, status, qp.requester_order));
}

engine::Flow Completion::write_cqe(std::uint32_t qpn, std::shared_ptr<ports::SendRing> ring, std::shared_ptr<ports::CompletionQueue> cq,
                                   std::uint32_t index, verbs::Status status, engine::Order order) {
  ++cqes_;
  co_await ports::DmaWrite(*dma.operator->(), cq->next_slot(), Bytes(64), order);
  ports::Wqe& wqe = ring->at(index);
  wqe.stamp[unsigned(ports::Step::completion)] = scheduler_.now();
  log->ended(qpn, wqe, status);
  cq->arrive({wqe.wr, status, wqe.opcode, static_cast<std::uint32_t>(wqe.length)});
}

}  // namespace mtsim::nic

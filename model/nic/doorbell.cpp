#include "nic/doorbell.h"

#include <algorithm>
#include <utility>

#include "ports/rank.h"

namespace mtsim::nic {

Doorbell::Doorbell(sc_core::sc_module_name module_name, engine::Scheduler& scheduler, QpTable& qps, std::uint32_t host_rank)
    : sc_module(module_name),
      mmio("mmio"),
      work("work"),
      retirement("retirement"),
      scheduler_(scheduler),
      qps_(qps),
      host_rank_(host_rank) {}

void Doorbell::ring(std::uint32_t qpn, std::uint32_t producer, Bytes wqe_bytes) {
  if (spare_ == nullptr) {
    stores_.push_back(std::make_unique<Store>());
    spare_ = stores_.back().get();
  }
  Store& store = *spare_;
  spare_ = store.spare;
  store.unit = this;
  store.qpn = qpn;
  store.producer = producer;
  store.carries_wqe = wqe_bytes.raw != 0;
  store.order = ports::order(host_rank_, ports::Unit::doorbell, qpn);
  store.arrived = [](engine::Notice& notice) {
    auto& self = static_cast<Store&>(notice);
    self.unit->arrived(self);
  };
  ++doorbells_;
  with_wqe_ += store.carries_wqe;
  // The doorbell register is 8 bytes; a BlueFlame store writes the WQE in whole 64-byte units instead.
  mmio->store(store.carries_wqe ? Bytes(round_up(wqe_bytes.raw, 64)) : Bytes(8), store);
}

void Doorbell::receives_posted(std::uint32_t qpn) {
  Qp* qp = qps_.find(qpn);
  if (qp != nullptr && qp->state == verbs::QpState::err) retirement->fail(*qp);
}

void Doorbell::arrived(Store& store) {
  Qp* qp = qps_.find(store.qpn);
  const std::uint32_t producer = store.producer;
  const bool carries_wqe = store.carries_wqe;
  store.spare = spare_;
  spare_ = &store;
  if (qp == nullptr || qp->state == verbs::QpState::reset) return;
  const Time now = scheduler_.now();
  for (std::uint32_t i = qp->producer; i != producer; ++i) {
    ports::Wqe& wqe = qp->wqe(i);
    wqe.stamp[unsigned(ports::Step::doorbell)] = wqe.stamp[unsigned(ports::Step::wqe_fetch)] = now;
    ports::note_down(wqe.waits, ports::Step::doorbell, store);
    // In front of it on its QP stands whatever has not been taken up yet.
    wqe.waited_for = i != qp->next ? qp->wqe(i - 1).wr : 0;
    qp->request(i) = {};
    if (verbs::is_local(wqe.opcode)) [[unlikely]]
      ++qp->local;
    else qp->request(i).skipped = std::exchange(qp->local, 0);
  }
  // Only the request that the store carries, and only when nothing before it is still to be fetched, is there already.
  if (carries_wqe && qp->fetched == producer - 1) qp->fetched = producer;
  qp->posted(producer);
  if (!qp->flushes_sends()) [[likely]]
    work->wake(*qp);
  else retirement->flush_sends(*qp);
}

}  // namespace mtsim::nic

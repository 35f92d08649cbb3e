// The NIC's scheduler: fetches WQEs and lets QPs with work take turns, one piece each.
#pragma once

#include "base/units.h"
#include "engine/scheduler.h"
#include "nic/units.h"
#include "ports/dma.h"

namespace mtsim::nic {

class WorkScheduler : public sc_core::sc_module, public WorkSource {
 public:
  sc_core::sc_port<ports::Dma> dma;
  sc_core::sc_port<Retirement> retirement;

  /// `prefetch` WQEs of a QP are held ahead at most; `qp_pieces` of its pieces are prepared at a time.
  WorkScheduler(sc_core::sc_module_name name, engine::Scheduler& scheduler, Clock clock, std::uint32_t prefetch, std::uint32_t qp_pieces);

  void wake(Qp& qp) override;
  Qp* take() override;
  bool has_work() const override { return first_ != nullptr; }
  void wait(std::coroutine_handle<> requester) override { requester_ = requester; }

  std::uint64_t fetches() const { return fetches_; }
  std::uint64_t fetched_wqes() const { return fetched_wqes_; }

 private:
  engine::Flow fetch(Qp& qp);
  /// Why the request at the head of the queue may not be taken up yet: READ credits, a fence.
  static bool held(Qp& qp);

  engine::Scheduler& scheduler_;
  Clock clock_;
  std::uint32_t prefetch_, qp_pieces_;
  Qp* first_ = nullptr;
  Qp* last_ = nullptr;
  std::coroutine_handle<> requester_;
  std::uint64_t fetches_ = 0, fetched_wqes_ = 0;
};

}  // namespace mtsim::nic

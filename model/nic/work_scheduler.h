// The NIC's scheduler: fetches WQEs and lets QPs with work take turns, one piece each.
#pragma once

#include <memory>
#include <optional>

#include "base/units.h"
#include "engine/scheduler.h"
#include "engine/semaphore.h"
#include "nic/params.h"
#include "nic/qp_order.h"
#include "nic/units.h"
#include "ports/dma.h"
#include "ports/translator.h"

namespace mtsim::nic {

class WorkScheduler : public sc_core::sc_module, public WorkSource {
 public:
  sc_core::sc_port<ports::Dma> dma;
  sc_core::sc_port<Retirement> retirement;
  sc_core::sc_port<ports::Translator> translator;
  /// Bound where there is not room for the contexts of all requests.
  sc_core::sc_port<RequestStore, 1, sc_core::SC_ZERO_OR_MORE_BOUND> request_contexts;

  WorkScheduler(sc_core::sc_module_name name, engine::Scheduler& scheduler, Clock clock, const RequesterParams& params);

  void wake(Qp& qp) override;
  Qp* take() override;
  bool has_work() const override { return first_ != nullptr; }
  void wait(std::coroutine_handle<> requester) override { requester_ = requester; }
  void stalled(bool on) override;

  std::uint64_t fetches() const { return fetches_; }
  std::uint64_t fetched_wqes() const { return fetched_wqes_; }
  const engine::Semaphore* fetch_places() const { return places_ ? &*places_ : nullptr; }  ///< null: not bounded

 private:
  void end_of_elaboration() override;
  engine::Flow fetch(Qp& qp);
  engine::Flow translate(Qp& qp, std::uint32_t index);
  void make_contexts(Qp& qp);
  void line_up(Qp& qp);
  /// Why the request at the head of the queue may not be taken up yet: READ credits, a fence.
  static bool held(Qp& qp);

  engine::Scheduler& scheduler_;
  Clock clock_;
  std::uint32_t prefetch_;   ///< WQEs of a QP that are held ahead at most
  std::uint32_t qp_pieces_;  ///< of its pieces that are prepared at a time
  bool at_doorbell_;
  bool translates_ahead_;
  std::optional<engine::Semaphore> places_;
  std::unique_ptr<QpOrder> order_;  ///< null: each turn ends with one piece
  Qp* first_ = nullptr;
  Qp* last_ = nullptr;
  std::coroutine_handle<> requester_;
  Stalls stalls_;
  RequestStore* request_contexts_ = nullptr;  ///< null: there is room for all
  std::uint64_t fetches_ = 0, fetched_wqes_ = 0;
};

}  // namespace mtsim::nic

// The completion unit: retires requests in order and writes CQEs.
#pragma once

#include "engine/scheduler.h"
#include "nic/units.h"
#include "ports/dma.h"
#include "ports/memory.h"
#include "ports/nic.h"
#include "verbs/qp_state.h"
#include "verbs/rules.h"

namespace mtsim::nic {

class Completion : public sc_core::sc_module, public Retirement {
 public:
  sc_core::sc_port<ports::Dma> dma;
  sc_core::sc_port<ports::HostMemory> memory;
  sc_core::sc_port<OperationLog> log;
  /// Who is told of asynchronous events, if anybody is.
  sc_core::sc_port<ports::Events, 1, sc_core::SC_ZERO_OR_MORE_BOUND> events;

  Completion(sc_core::sc_module_name name, engine::Scheduler& scheduler, std::shared_ptr<const verbs::Rules> rules);

  void answered(Qp& qp, std::uint32_t index, verbs::Status status) override;
  void received(Qp& qp, verbs::Status status, std::uint64_t bytes) override;
  void fail(Qp& qp) override;
  void flush_sends(Qp& qp) override;
  void report(Qp& qp, verbs::Event event) override;
  void refused(Qp& qp, const verbs::Decision& decision) override;

  std::uint64_t cqes() const { return cqes_; }
  /// CQEs on their way to memory.
  std::uint64_t writing() const { return cqes_ - written_; }

 private:
  void end(Qp& qp, bool receives_too);
  void stop_sends(Qp& qp);
  engine::Flow write_eqe(Qp& qp, verbs::Event event);
  void retire(Qp& qp, std::uint32_t index, verbs::Status status);
  engine::Flow write_cqe(Qp& qp, std::uint32_t index, verbs::Status status);
  engine::Flow write_receive_cqe(Qp& qp, std::uint32_t slot, verbs::Status status);

  engine::Scheduler& scheduler_;
  std::shared_ptr<const verbs::Rules> rules_;
  Pa event_queue_;
  std::uint64_t events_written_ = 0;
  std::uint64_t cqes_ = 0, written_ = 0;
};

}  // namespace mtsim::nic

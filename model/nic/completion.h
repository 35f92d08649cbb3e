// The completion unit: retires requests in order and writes CQEs.
#pragma once

#include "engine/scheduler.h"
#include "nic/units.h"
#include "ports/dma.h"

namespace mtsim::nic {

class Completion : public sc_core::sc_module, public Retirement {
 public:
  sc_core::sc_port<ports::Dma> dma;
  sc_core::sc_port<OperationLog> log;

  Completion(sc_core::sc_module_name name, engine::Scheduler& scheduler);

  void answered(Qp& qp, std::uint32_t index, verbs::Status status) override;
  void received(Qp& qp, verbs::Status status, std::uint64_t bytes) override;
  void fail(Qp& qp) override;

  std::uint64_t cqes() const { return cqes_; }
  /// CQEs on their way to memory.
  std::uint64_t writing() const { return cqes_ - written_; }

 private:
  void retire(Qp& qp, std::uint32_t index, verbs::Status status);
  engine::Flow write_cqe(Qp& qp, std::uint32_t index, verbs::Status status);
  engine::Flow write_receive_cqe(Qp& qp, std::uint32_t slot, verbs::Status status);

  engine::Scheduler& scheduler_;
  std::uint64_t cqes_ = 0, written_ = 0;
};

}  // namespace mtsim::nic

// The doorbell unit: what CPUs store to the NIC's registers.
#pragma once

#include <memory>
#include <vector>

#include "engine/scheduler.h"
#include "nic/qp_table.h"
#include "nic/units.h"
#include "ports/pcie.h"

namespace mtsim::nic {

class Doorbell : public sc_core::sc_module, public ports::Doorbells {
 public:
  sc_core::sc_port<ports::Mmio> mmio;
  sc_core::sc_port<WorkSource> work;
  sc_core::sc_port<Retirement> retirement;

  Doorbell(sc_core::sc_module_name name, engine::Scheduler& scheduler, QpTable& qps, std::uint32_t host_rank);

  void ring(std::uint32_t qpn, std::uint32_t producer, Bytes wqe_bytes) override;
  void receives_posted(std::uint32_t qpn) override;

  std::uint64_t doorbells() const { return doorbells_; }
  std::uint64_t with_wqe() const { return with_wqe_; }

 private:
  struct Store : engine::Notice {
    Doorbell* unit = nullptr;
    std::uint32_t qpn = 0, producer = 0;
    bool carries_wqe = false;
    Store* spare = nullptr;  ///< next one that is not in use
  };
  void arrived(Store& store);

  engine::Scheduler& scheduler_;
  QpTable& qps_;
  std::uint32_t host_rank_;
  std::vector<std::unique_ptr<Store>> stores_;
  Store* spare_ = nullptr;
  std::uint64_t doorbells_ = 0, with_wqe_ = 0;
};

}  // namespace mtsim::nic

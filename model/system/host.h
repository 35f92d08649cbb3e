// One host: CPUs, memory, kernel, the process with its provider library, the NICs with their PCIe links, wired together.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/memory_watch.h"
#include "nic/nic.h"
#include "system/hazard_log.h"
#include "system/logs.h"
#include "system/settings.h"
#include "user/sim_device.h"

namespace mtsim::system {

class Host : public sc_core::sc_module {
 public:
  /// `port` on the switch is the host's rank, and that of its first NIC; the others have ranks from `further` on, and no port, since they
  /// send nothing. `network` and `hazards` must outlive the host; `hazards` null: data are not followed.
  Host(sc_core::sc_module_name name, engine::Scheduler& scheduler, const HostSettings& settings, std::uint32_t cpus, std::uint32_t threads,
       std::uint32_t port, std::uint32_t further, ports::Network& network, HazardLog* hazards = nullptr);

  /// As the program and the configuration call it.
  const std::string title;
  const HostSettings settings;
  OperationLog operations;
  RegistrationLog registrations;
  host::Cpus cpus;
  host::RootComplex root_complex;
  pcie::Link pcie;
  nic::Nic nic;
  kernel::Kernel kernel;
  user::SimDevice device;
  const std::unique_ptr<kernel::MemoryWatch> watch;  ///< null: data are not followed

  /// A NIC and its link, the first one among them.
  struct Adapter {
    std::string nic_name, pcie_name;  ///< `nic1`, `pcie1`; of the first `nic`, `pcie`
    nic::Nic& nic;
    pcie::Link& pcie;
  };
  /// By the numbers of the NICs.
  const std::vector<Adapter>& adapters() const { return adapters_; }

 private:
  void wire(const Adapter& adapter, ports::Network& network);

  std::vector<std::unique_ptr<pcie::Link>> further_links_;
  std::vector<std::unique_ptr<nic::Nic>> further_nics_;
  std::vector<Adapter> adapters_;

  void start_of_simulation() override { kernel.set_observer(&registrations); }
};

}  // namespace mtsim::system

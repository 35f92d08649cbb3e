// One host: CPUs, memory, kernel, the process with its provider library, the PCIe link and the NIC, wired together.
#pragma once

#include "kernel/kernel.h"
#include "nic/nic.h"
#include "system/logs.h"
#include "system/settings.h"
#include "user/sim_device.h"

namespace mtsim::system {

class Host : public sc_core::sc_module {
 public:
  /// `port` on the switch is the host's rank. `network` must outlive the host.
  Host(sc_core::sc_module_name name, engine::Scheduler& scheduler, const HostSettings& settings, std::uint32_t cpus, std::uint32_t threads,
       std::uint32_t port, ports::Network& network);

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

 private:
  void start_of_simulation() override { kernel.set_observer(&registrations); }
};

}  // namespace mtsim::system

// A whole system's parameters, read from a configuration.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/config.h"
#include "fabric/network.h"
#include "host/cpu.h"
#include "host/root_complex.h"
#include "kernel/driver_params.h"
#include "kernel/iommu_params.h"
#include "kernel/kernel_params.h"
#include "nic/params.h"
#include "pcie/link.h"
#include "program/actor.h"
#include "system/hazard_log.h"
#include "system/placement.h"
#include "user/provider_params.h"

namespace mtsim::system {

/// Everything that a host is made of.
struct HostSettings {
  host::CpuParams cpu;
  std::uint32_t cpus = 0;  ///< 0: as many as the program has threads on it
  std::uint32_t nics = 1;
  NumaParams numa;
  host::RootComplexParams root_complex;
  host::LlcParams llc;
  host::IommuParams io_translation;  ///< the IOMMU as hardware
  FramePoolParams memory;
  kernel::KernelParams kernel;
  kernel::DriverParams driver;
  kernel::IommuParams iommu;
  user::ProviderParams provider;
  pcie::LinkParams pcie;
  nic::NicSettings nic;
  std::shared_ptr<const verbs::Rules> rules;  ///< the same that NIC, driver and provider have
};

struct ReplayParams {
  program::ReplayTime time{};
  Hazards hazards{};
  static void declare(Declaration<ReplayParams>& d);
};

struct RunParams {
  std::uint64_t seed{};
  Time limit{};
  bool measures{};
  static void declare(Declaration<RunParams>& d);
};

/// What the configuration says of the run as a whole; hosts are read when the program has said which there are.
struct Settings {
  std::string rules;
  RunParams run;
  ReplayParams replay;
  fabric::NetworkParams network;
};

Settings read_settings(const Config& config);
HostSettings read_host(const Config& config, const std::string& host);

}  // namespace mtsim::system

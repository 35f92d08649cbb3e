// On which NUMA nodes of a host the process's CPUs, its memory and the NIC are, and what their distance does to other parameters.
#pragma once

#include <cstdint>

#include "base/parameter.h"
#include "base/units.h"

namespace mtsim::system {

struct HostSettings;

struct NumaParams {
  std::uint32_t cpu_node{}, memory_node{}, nic_node{};
  double remote_factor{};
  Time hop{};
  static void declare(Declaration<NumaParams>& d);
};

/// Makes CPUs slower at clearing and touching memory of another node, DMA slower whose memory is on another node than the NIC, and stores
/// to a NIC on another node than the CPUs. Nothing changes where all are on one node. Once for each host.
void place(HostSettings& host);

}  // namespace mtsim::system

#include "system/placement.h"

#include "base/sections.h"
#include "system/settings.h"

namespace mtsim::system {
namespace {

const Sections::Entrant<NumaParams> declared;

}  // namespace

void NumaParams::declare(Declaration<NumaParams>& d) {
  d.section("host.numa", "Which NUMA nodes the process's CPUs, its memory and the NIC are on.");
  d.field("cpu_node", &NumaParams::cpu_node)
      .standard("0")
      .range("0", "63")
      .means("Node of the CPUs that the process runs on.")
      .source("modelling choice");
  d.field("memory_node", &NumaParams::memory_node)
      .standard("0")
      .range("0", "63")
      .means("Node of its memory; that of rings and tables counts as being there, too.")
      .source("modelling choice");
  d.field("nic_node", &NumaParams::nic_node)
      .standard("0")
      .range("0", "63")
      .means("Node whose root complex the NIC hangs on.")
      .source("modelling choice");
  d.field("remote_factor", &NumaParams::remote_factor)
      .standard("1.7")
      .range("1", "10")
      .means("How many times longer a CPU takes to clear or touch memory of another node.")
      .source("estimate: latencies of 80 to 120 ns on the own node and 140 to 240 ns on another, Xeon (Memory Latency Checker)");
  d.field("hop", &NumaParams::hop)
      .standard("80ns")
      .range("0ns", "10us")
      .means("What a DMA's read or write of memory on another node than the NIC's takes longer, and a store from CPUs of another node.")
      .source("estimate: another node adds 60 to 120 ns to a CPU's access, Xeon (Memory Latency Checker)");
}

void place(HostSettings& host) {
  const NumaParams& numa = host.numa;
  if (numa.cpu_node != numa.memory_node) {
    host.kernel.zero_rate = BitRate(static_cast<std::int64_t>(static_cast<double>(host.kernel.zero_rate.raw) / numa.remote_factor));
    host.kernel.touch_page = Time(static_cast<std::int64_t>(static_cast<double>(host.kernel.touch_page.raw) * numa.remote_factor));
  }
  if (numa.nic_node != numa.memory_node) {
    host.root_complex.read_latency += numa.hop;
    host.root_complex.write_latency += numa.hop;
  }
  if (numa.cpu_node != numa.nic_node) host.pcie.store_hop = numa.hop;
}

}  // namespace mtsim::system

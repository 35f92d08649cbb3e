// What do NUMA nodes change: which way is longer, and by how much?
#include "system/placement.h"

#include <catch2/catch.hpp>

#include "support/system_run.h"
#include "system/settings.h"

using namespace mtsim;
using test::run_system;

namespace {

system::HostSettings placed(std::uint32_t cpu, std::uint32_t memory, std::uint32_t nic) {
  system::HostSettings host;
  host.numa = {cpu, memory, nic, 2.0, ns(90)};
  host.kernel.zero_rate = BitRate(80'000'000'000);
  host.kernel.touch_page = ns(5);
  host.root_complex.read_latency = ns(190);
  host.root_complex.write_latency = ns(70);
  system::place(host);
  return host;
}

Time read_latency(const std::vector<std::string>& nodes) {
  std::vector<std::string> sets{"workload.kind=uniform", "workload.opcode=read",    "workload.block=64B",      "workload.operations=50",
                                "workload.window=1",     "workload.signal_every=1", "workload.footprint=64KiB"};
  sets.insert(sets.end(), nodes.begin(), nodes.end());
  return run_system(sets).report.operations.at(0).latency.latency().min();
}

}  // namespace

TEST_CASE("each distance has its price, and no distance none", "[numa]") {
  for (const std::uint32_t cpu : {0u, 1u})
    for (const std::uint32_t memory : {0u, 1u})
      for (const std::uint32_t nic : {0u, 1u}) {
        CAPTURE(cpu, memory, nic);
        const system::HostSettings host = placed(cpu, memory, nic);
        CHECK(host.kernel.zero_rate == BitRate(cpu == memory ? 80'000'000'000 : 40'000'000'000));
        CHECK(host.kernel.touch_page == (cpu == memory ? ns(5) : ns(10)));
        CHECK(host.root_complex.read_latency == (nic == memory ? ns(190) : ns(280)));
        CHECK(host.root_complex.write_latency == (nic == memory ? ns(70) : ns(160)));
        CHECK(host.pcie.store_hop == (cpu == nic ? Time() : ns(90)));
      }
}

TEST_CASE("nodes are told apart by nothing but their difference", "[numa]") {
  CHECK(run_system({"host.numa.cpu_node=3", "host.numa.memory_node=3", "host.numa.nic_node=3"}).report.simulated ==
        run_system({}).report.simulated);
}

TEST_CASE("a READ takes a hop more for its doorbell, or for the responder's read of memory", "[numa]") {
  const Time near = read_latency({});
  // Up to where the NICs' clocks, of 2 ns, stand.
  const auto a_hop = [](Time more) { return more >= ns(80 - 2) && more <= ns(80 + 2); };
  // The doorbell carries the WQE, so that nothing is fetched.
  const Time far_cpu = read_latency({"hosts.client0.host.numa.cpu_node=1", "host.numa.hop=80ns"});
  CHECK(a_hop(far_cpu - near));
  const Time far_memory = read_latency({"hosts.server.host.numa.memory_node=1", "host.numa.hop=80ns"});
  CHECK(a_hop(far_memory - near));
}

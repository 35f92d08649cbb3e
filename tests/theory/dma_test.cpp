// Do bytes on PCIe add up by purpose, and does the workload `dma` measure what closed forms say?
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "support/system_run.h"

using namespace mtsim;
using test::run_system;

namespace {

std::uint64_t counter(const results::Report& report, const std::string& name) {
  for (const auto& c : report.counters)
    if (c.name == name) return c.value;
  FAIL("no counter " << name);
  return 0;
}

const results::OperationStats& reads(const results::Report& report) {
  for (const auto& o : report.operations)
    if (o.opcode == verbs::Opcode::read) return o;
  throw std::runtime_error("no reads");
}

std::vector<std::string> dma(std::vector<std::string> more) {
  // 125 ps a byte, 100 ns one way: 24 B up and 84 B down take 13.5 ns, memory 80 ns.
  std::vector<std::string> sets{"workload.kind=dma",     "workload.block=64B",     "workload.operations=5000",
                                "workload.window=1",     "pcie.generation=2",      "pcie.lanes=16",
                                "pcie.efficiency=1",     "pcie.latency=100ns",     "host.root_complex.read_latency=80ns",
                                "host.memory.size=1GiB", "nic.table_space=128MiB", "workload.signal_every=1"};
  sets.insert(sets.end(), more.begin(), more.end());
  return sets;
}

}  // namespace

TEST_CASE("bytes and TLPs by purpose add up to those of the link, in the measured window too", "[dma]") {
  for (const std::vector<std::string>& sets :
       {std::vector<std::string>{"workload.kind=uniform", "workload.opcode=read", "workload.operations=300", "nic.mtt_cache.lines=16"},
        std::vector<std::string>{"workload.kind=per_op", "workload.operations=200", "driver.table_writer=command"},
        std::vector<std::string>{"host.iommu.mode=translate", "workload.operations=500", "pcie.write_credits=8", "pcie.read_credits=8"}}) {
    const results::Report report = run_system(sets).report;
    for (const auto& link : report.pcie) {
      std::uint64_t bytes = 0, tlps = 0;
      for (const auto& c : report.counters)
        if (c.name.starts_with(link.name + ".")) (c.name.ends_with("_tlps") ? tlps : bytes) += c.value;
      CHECK(bytes == (link.payload + link.header).raw);
      CHECK(tlps == link.reads + link.writes + link.completions);
    }
  }
}

TEST_CASE("one transfer at a time takes the way there and back; in flight, as many go as fit in that time", "[dma]") {
  const std::int64_t one = 13'500 + 2 * 100'000 + 80'000;
  const results::Report alone = run_system(dma({})).report;
  CHECK(reads(alone).latency.latency().min() == ps(one));
  CHECK(reads(alone).latency.latency().max() == ps(one));
  CHECK(reads(alone).completed == 5000);

  const results::Report engine =
      run_system(dma({"nic.transfers.descriptor=150ns", "nic.transfers.copy=9ns", "workload.block=128B"})).report;
  CHECK(reads(engine).latency.latency().max() == ps(one + 8'000 + 150'000 + 18'000));
  const results::Report direct =
      run_system(dma({"nic.transfers.descriptor=150ns", "nic.transfers.copy=9ns", "nic.transfers.core=7ns", "workload.engine=false"}))
          .report;
  CHECK(reads(direct).latency.latency().max() == ps(one + 7'000));

  const results::Report many = run_system(dma({"workload.window=64", "nic.transfers.depth=8"})).report;
  const double rate = 5000.0 / (static_cast<double>(many.window().raw) / 1e12);
  CHECK(rate == Approx(8 / (static_cast<double>(one) / 1e12)).epsilon(0.01));
  // More than the link carries: its completions take all of the time but for the call's own.
  const results::Report full = run_system(dma({"workload.window=64"})).report;
  CHECK(5000.0 / (static_cast<double>(full.window().raw) / 1e12) == Approx(1 / 10.5e-9).epsilon(0.03));
}

TEST_CASE("random pages beyond the IOTLB's reach: as many hits as entries cover, and each miss costs a walk", "[dma]") {
  const std::uint32_t pages = GENERATE(64u, 128u, 512u);
  const results::Report report =
      run_system(dma({"host.iommu.mode=translate", "host.iommu.largest_entry=4K", "host.iommu.iotlb_entries=112",
                      "host.iommu.walk_read=70ns", "workload.operations=40000", "workload.footprint=" + std::to_string(pages * 4) + "KiB"}))
          .report;
  const double misses = pages <= 112 ? 0 : 1 - 112.0 / pages;
  const double lookups = static_cast<double>(counter(report, "client0.iommu.lookups"));
  CHECK(static_cast<double>(counter(report, "client0.iommu.walks")) / lookups == Approx(misses).margin(0.01));
  CHECK(counter(report, "client0.iommu.reads") == 4 * counter(report, "client0.iommu.walks"));
  CHECK(reads(report).latency.latency().mean_ns() == Approx(293.5 + 280 * misses).epsilon(0.01));
  CHECK(reads(report).latency.latency().min() == ps(293'500));
}

TEST_CASE("warm, cold, and beyond the cache", "[dma]") {
  const auto mean = [](const std::string& cache, const std::string& footprint) {
    const results::Report report =
        run_system(dma({"host.llc.size=1MiB", "host.llc.ways=16", "host.llc.miss=80ns", "workload.cache=" + cache,
                        "workload.operations=20000", "workload.footprint=" + footprint}))
            .report;
    return reads(report).latency.latency().mean_ns();
  };
  CHECK(mean("warm", "256KiB") == Approx(293.5));
  CHECK(mean("cold", "256KiB") == Approx(373.5));
  // Three quarters of 4 MiB are not there.
  CHECK(mean("warm", "4MiB") == Approx(293.5 + 60).epsilon(0.01));
}

TEST_CASE("a read right behind a write of the same bytes waits for it to be translated", "[dma]") {
  const results::Report report = run_system(dma({"workload.type=write_read"})).report;
  // The write has 88 B on the link before the read's 24 B; what it writes the read finds.
  CHECK(reads(report).latency.latency().max() == ps(293'500 + 11'000));
  CHECK(counter(report, "client0.pcie.up.payload_tlps") == 10'000);
}

TEST_CASE("IOMMU, cache and credits change no outcome of RDMA operations", "[dma]") {
  for (const char* kind : {"uniform", "per_op", "pool"}) {
    const auto statuses = [&](std::vector<std::string> sets) {
      sets.insert(sets.end(), {std::string("workload.kind=") + kind, "workload.operations=400", "workload.block=12000B"});
      const auto run = run_system(sets);
      CHECK(run.stuck.empty());
      return run.report.completions;
    };
    const auto plain = statuses({});
    CHECK(statuses({"host.iommu.mode=translate", "host.iommu.walks=1", "host.iommu.iotlb_entries=3", "host.llc.size=64KiB",
                    "host.llc.ways=16", "pcie.read_credits=1", "pcie.write_credits=1", "pcie.tags=1", "pcie.completion_buffer=512B"}) ==
          plain);
  }
}

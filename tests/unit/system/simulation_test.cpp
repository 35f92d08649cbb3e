// The simulation as a library: what its report says of a run's parts.
#include <algorithm>
#include <catch2/catch.hpp>

#include "support/system_run.h"

using namespace mtsim;
using namespace mtsim::test;

TEST_CASE("Completions are those that were written, not the requests that ended") {
  const results::Report r = run_system({}, "traces/linked_list.mtrace").report;
  REQUIRE(r.operations.size() == 1);
  CHECK(r.operations[0].completed == 4);
  CHECK(r.completions[unsigned(verbs::Status::SUCCESS)] == 1);
}

TEST_CASE("Errors and flushes have completions, signaled or not") {
  const results::Report r = run_system({}, "traces/wrong_lkey.mtrace").report;
  CHECK(r.completions[unsigned(verbs::Status::SUCCESS)] == 1);
  CHECK(r.completions[unsigned(verbs::Status::LOC_PROT_ERR)] == 1);
  CHECK(r.completions[unsigned(verbs::Status::WR_FLUSH_ERR)] == 1);
  REQUIRE(r.operations.size() == 1);
  CHECK(r.operations[0].completed == 3);
  CHECK(r.operations[0].bytes.raw == 4096);
}

TEST_CASE("Pages of an unmapped region stay pinned until it is deregistered") {
  const results::Report r = run_system({}, "traces/munmap_under_mr.mtrace").report;
  CHECK(r.registration.pinned_most.raw == 2 * 65536);
  CHECK(r.registration.pinned_now.raw == 65536);
}

TEST_CASE("Failed registrations are counted by their error and pin nothing") {
  const results::Report r = run_system({}, "traces/memlock.mtrace").report;
  CHECK(r.registration.reg_mr.calls == 5);
  CHECK(r.registration.reg_mr.failed == std::map<int, std::uint64_t>{{EPERM, 1}, {ENOMEM, 1}});
  CHECK(r.registration.pinned_most.raw == 4096 + 65536);
}

TEST_CASE("A request of no bytes looks up no key and no translation") {
  const results::Report r = run_system({}, "traces/zero_length.mtrace").report;
  CHECK(r.completions[unsigned(verbs::Status::SUCCESS)] == 2);
  for (const results::CacheStats& cache : r.caches) {
    INFO(cache.name);
    CHECK(cache.lookups == 0);
  }
}

TEST_CASE("A pool of blocks is written in less time than blocks that are registered one by one") {
  const results::Report pool = run_system({}, "traces/pool.mtrace").report;
  const results::Report each = run_system({}, "traces/register_per_write.mtrace").report;
  CHECK(pool.operations[0].completed == each.operations[0].completed);
  CHECK(pool.operations[0].bytes == each.operations[0].bytes);
  CHECK(pool.simulated < each.simulated);
}

TEST_CASE("Behind an IOMMU programs see what they see without one") {
  for (const char* trace : {"write", "read", "send_receive", "atomics", "munmap_under_mr", "register_per_write", "huge_pages"}) {
    CAPTURE(trace);
    const std::string path = std::string("traces/") + trace + ".mtrace";
    const SystemRun plain = run_system({}, path), translated = run_system({"host.iommu.mode=translate"}, path);
    CHECK(translated.report.unexpected_total == 0);
    CHECK(translated.stuck.empty());
    CHECK(translated.report.completions == plain.report.completions);
    CHECK(run_system({"host.iommu.mode=passthrough"}, path).report.simulated == plain.report.simulated);
  }
}

TEST_CASE("An IOMMU moves translation out of the NIC: one entry where there was one a page") {
  const std::vector<std::string> sets{"workload.kind=uniform", "workload.opcode=read", "workload.block=64B", "workload.footprint=1GiB",
                                      "workload.operations=5000"};
  const auto run = [&](const char* mode) {
    std::vector<std::string> all = sets;
    all.push_back(std::string("host.iommu.mode=") + mode);
    return run_system(all).report;
  };
  const auto hit_rate = [](const results::Report& report) {
    for (const results::CacheStats& cache : report.caches)
      if (cache.name == "server.nic.mtt_cache") return double(cache.hits) / double(cache.lookups);
    return -1.0;
  };
  const results::Report off = run("off"), translate = run("translate");
  CHECK(hit_rate(off) < 0.3);
  CHECK(hit_rate(translate) > 0.99);
  const auto has = [](const results::Report& report, const std::string& name) {
    return std::any_of(report.counters.begin(), report.counters.end(), [&](const auto& c) { return c.name == name; });
  };
  CHECK(has(translate, "server.kernel.iopte"));
  CHECK_FALSE(has(off, "server.kernel.iopte"));
}

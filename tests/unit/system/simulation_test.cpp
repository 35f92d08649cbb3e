// The simulation as a library: what its report says of a run's parts.
#include <algorithm>
#include <catch2/catch.hpp>

#include "results/derived.h"
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

TEST_CASE("How many threads can register is told by one thread's run, and comes true") {
  const auto run = [](std::uint64_t threads) {
    return run_system(
               {"workload.kind=ladder", "workload.smallest=64KiB", "workload.repeats=100", "workload.threads=" + std::to_string(threads)})
        .report;
  };
  const auto rate = [](const results::Report& r) {
    return static_cast<double>(r.registration.reg_mr.calls) / (static_cast<double>(r.window().raw) / 1e12);
  };
  const auto posting = [](const results::Report& r) {
    for (const results::Contention& c : r.registration.contention)
      if (c.name == "client0.kernel.umr_posting") return results::full_from_threads(r, c);
    return 0.0;
  };
  const results::Report one = run(1);
  const double full_from = posting(one);
  CHECK(full_from > 20);
  CHECK(full_from < 40);
  CHECK(one.registration.contention.size() > 1);
  for (const results::Contention& c : one.registration.contention) CHECK(results::full_from_threads(one, c) >= full_from);
  // Half as many scale; twice as many get no more done than what fills it.
  const auto half = static_cast<std::uint64_t>(full_from / 2);
  CHECK(rate(run(half)) > 0.97 * rate(one) * static_cast<double>(half));
  const results::Report many = run(2 * static_cast<std::uint64_t>(full_from));
  CHECK(rate(many) < 1.1 * rate(one) * full_from);
  CHECK(rate(many) > 0.9 * rate(one) * full_from);
  CHECK(posting(many) == Approx(full_from).epsilon(0.03));
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

// Does every table writer, key policy and table shape carry a program's data, and do the same accesses meet the same translations?
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "kernel/key_policy.h"
#include "kernel/table_writer.h"
#include "support/system_run.h"
#include "translate/architecture.h"

using namespace mtsim;

namespace {

void check(std::vector<std::string> sets) {
  std::string listed;
  for (const std::string& set : sets) listed += set + ' ';
  INFO(listed);
  sets.insert(sets.end(), {"workload.kind=per_op", "workload.operations=60", "workload.block=20000B", "workload.clients=2",
                           "nic.contexts=16777216", "nic.mtt_cache.lines=8"});
  const test::SystemRun run = test::run_system(sets);
  CHECK(run.stuck == std::vector<std::string>{});
  REQUIRE(run.report.operations.size() == 1);
  CHECK(run.report.operations[0].completed == 120);
  CHECK(run.report.completions[unsigned(verbs::Status::SUCCESS)] == 120);
  CHECK(run.report.registration.reg_mr.failed.empty());
  CHECK(run.report.failed_calls.empty());
}

}  // namespace

TEST_CASE("Every key policy serves a program that registers each block") {
  for (const std::string& keys : kernel::KeyPolicies::names())
    for (const char* writer : {"umr", "store"}) check({"driver.keys=" + keys, std::string("driver.table_writer=") + writer});
}

TEST_CASE("Every table shape is filled by every table writer") {
  for (const std::string& shape : translate::Architectures::names())
    for (const std::string& writer : kernel::TableWriters::names()) {
      std::vector<std::string> sets{"nic.translation=" + shape, "driver.table_writer=" + writer, "nic.table_allocation=buddy",
                                    "nic.child=8KiB"};
      // Only there is memory contiguous to the device, or an IOMMU to ask.
      if (shape == "physical" || shape == "ats") sets.push_back("host.iommu.mode=translate");
      check(sets);
    }
}

TEST_CASE("Tables that may mix page sizes are filled run by run") {
  for (const char* shape : {"page_table", "range"})
    for (const std::string& writer : kernel::TableWriters::names())
      check({std::string("nic.translation=") + shape, "driver.table_writer=" + writer, "driver.page_size=per_run",
             "host.memory.run_pages=40"});
}

TEST_CASE("The least of everything carries a program's data on every table shape") {
  for (const std::string& shape : translate::Architectures::names())
    for (const char* on_miss : {"pass", "stall"}) {
      std::vector<std::string> sets{"nic.translation=" + shape,     "nic.child=8KiB",
                                    "nic.mpt_cache.lines=0",        "nic.mtt_cache.ways=1",
                                    "nic.icm_cache.lines=0",        "nic.walks=1",
                                    "nic.firmware.command_slots=1", "nic.requester.contexts=1",
                                    "nic.responder.contexts=1",     "nic.requester.prefetch=1",
                                    "nic.requester.buffer=4KiB",    "nic.responder.buffer=4KiB",
                                    "nic.write_buffer=256B",        "pcie.tags=1",
                                    "pcie.read_credits=1",          "pcie.write_credits=1"};
      for (const char* cache : {"mpt", "mtt", "icm"}) sets.push_back("nic." + std::string(cache) + "_cache.on_miss=" + on_miss);
      if (shape == "physical" || shape == "ats") sets.push_back("host.iommu.mode=translate");
      check(sets);
    }
}

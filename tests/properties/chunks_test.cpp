// What holds of every range that is registered in chunks.
#include <catch2/catch.hpp>
#include <stdexcept>

#include "results/derived.h"
#include "support/system_run.h"

using namespace mtsim;
using namespace mtsim::test;

namespace {

results::Report registering(std::vector<std::string> sets) {
  for (const char* set : {"workload.kind=chunked", "workload.region=16MiB", "nic.table_space=1GiB", "host.nics=2"}) sets.push_back(set);
  return run_system(sets).report;
}

double rate(const results::Report& report) {
  for (const results::PhaseStats& phase : report.phases)
    if (phase.name == "registration") return results::bytes_per_s(phase);
  throw std::runtime_error("no registration");
}

}  // namespace

TEST_CASE("Two NICs register no slower than one, by any number of threads") {
  for (const char* writer : {"umr", "command"})
    for (const char* threads : {"1", "2", "3", "8"})
      for (const char* chunk : {"0B", "4MiB", "3MiB", "64KiB"})
        for (const char* touch : {"none", "all"}) {
          const auto on = [&](const char* nics) {
            return rate(registering({std::string("driver.table_writer=") + writer, std::string("workload.threads=") + threads,
                                     std::string("workload.chunk=") + chunk, std::string("workload.touch=") + touch,
                                     std::string("workload.nics=") + nics}));
          };
          CAPTURE(writer, threads, chunk, touch);
          // To a part in ten thousand: the order in which threads meet at a lock is another.
          CHECK(on("2") >= on("1") * 0.9999);
        }
}

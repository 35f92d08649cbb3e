// Do the reports of a few small runs stay as they are, byte for byte? README.md beside this file says how to renew them.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/run_command.h"

using namespace mtsim::test;

namespace {

/// Compares what the command writes on stdout with tests/golden/`name`, or renews the file when that is asked for.
void compare(const std::string& name, const std::vector<std::string>& arguments) {
  const CommandResult result = run_command(arguments);
  REQUIRE(result.code == 0);
  const std::string path = "tests/golden/" + name;
  if (std::getenv("MTSIM_RENEW_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << result.out;
    WARN(path << " was renewed");
  }
  CHECK(result.out == read_file(path));
}

}  // namespace

TEST_CASE("The summary of a write and a refused write") {
  compare("stale_key.txt", {"run", "configs/examples/recorded.yaml", "traces/stale_key.mtrace"});
}

TEST_CASE("The JSON of a write and a refused write") {
  compare("stale_key.json", {"run", "configs/examples/recorded.yaml", "traces/stale_key.mtrace", "--json", "-", "--no-machine"});
}

TEST_CASE("The table of limits on locked memory, where calls fail") {
  compare("memlock.csv", {"run", "configs/examples/recorded.yaml", "traces/memlock.mtrace", "--csv", "-"});
}

TEST_CASE("A small comparison of a registration per block with a pool, side by side") {
  compare("pool_vs_per_op.txt", {"run", "configs/examples/pool_vs_per_op.yaml", "--set", "workload.operations=100"});
}

TEST_CASE("Random reads that miss the translation cache") {
  compare("random_reads.txt", {"run", "configs/base.yaml", "--set", "workload.kind=uniform", "--set", "workload.operations=500", "--set",
                               "workload.opcode=read", "--set", "workload.block=64B", "--set", "nic.mtt_cache.lines=64"});
}

// Does each kind of fault end as the specification says, and under the rules of rxe as was measured there? Every trace under traces/faults
// is run with each rule set for which it says what to expect.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "support/rule_sets.h"
#include "support/run_command.h"
#include "support/turned_round.h"

using namespace mtsim::test;

namespace {

std::vector<std::string> faults() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator("traces/faults")) out.push_back(entry.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("Every fault ends as it should under each rule set") {
  const TempFolder folder;
  const auto configs = configurations(folder);
  const auto traces = faults();
  REQUIRE(traces.size() >= 29);
  for (const std::string& trace : traces) {
    const std::string text = read_file(trace);
    INFO(trace);
    CHECK(text.find("\nmeta source=\"by hand\" shows=\"") != std::string::npos);
    CHECK(text.find("\nmeta rules=\"") != std::string::npos);
    unsigned runs = 0;
    for (const auto& [set, config] : configs) {
      if (!is_for(text, set)) continue;
      ++runs;
      const CommandResult result = run_command({"run", config, trace});
      const std::size_t unexpected = result.out.find("not as the program expected");
      INFO(set << ": " << result.err << (unexpected == std::string::npos ? "" : result.out.substr(unexpected)));
      CHECK(result.code == 0);
      CHECK(result.err.empty());
      CHECK(unexpected == std::string::npos);
    }
    CHECK(runs > 0);
  }
}

TEST_CASE("A fault with any one of its expectations turned round fails at that line") { check_turned_round(faults()); }

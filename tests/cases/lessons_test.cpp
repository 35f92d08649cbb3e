// Every trace under traces/ teaches one thing, under the specification's rules and, unless it says otherwise, under those of rxe. Does each
// meet all that it expects, and would it be noticed if it did not?
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

std::vector<std::string> lessons() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator("traces"))
    if (entry.path().extension() == ".mtrace") out.push_back(entry.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("Every lesson says what it shows and meets all that it expects") {
  const TempFolder folder;
  const auto configs = configurations(folder);
  const auto traces = lessons();
  REQUIRE(traces.size() >= 29);
  unsigned of_rxe = 0;
  for (const std::string& trace : traces) {
    const std::string text = read_file(trace);
    INFO(trace);
    CHECK(text.find("\nmeta source=\"by hand\" shows=\"") != std::string::npos);
    CHECK(is_for(text, "ib"));
    if (is_for(text, "rxe-6.1")) ++of_rxe;
    for (const char* set : {"ib", "rxe-6.1"}) {
      if (!is_for(text, set)) continue;
      const CommandResult result = run_command({"run", configs.at(set), trace});
      const std::size_t unexpected = result.out.find("not as the program expected");
      INFO(set << ": " << result.err << (unexpected == std::string::npos ? "" : result.out.substr(unexpected)));
      CHECK(result.code == 0);
      CHECK(result.err.empty());
      CHECK(unexpected == std::string::npos);
    }
  }
  CHECK(of_rxe >= 30);
}

TEST_CASE("A lesson with any one of its expectations turned round fails at that line") { check_turned_round(lessons()); }

// Every trace under traces/ teaches one thing. Does each meet all that it expects, and would it be noticed if it did not?
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "support/expectations.h"
#include "support/run_command.h"

using namespace mtsim::test;

namespace {

const std::string replay = "configs/examples/recorded.yaml";

std::vector<std::string> lessons() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator("traces"))
    if (entry.path().extension() == ".mtrace") out.push_back(entry.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("Every lesson says what it shows and meets all that it expects") {
  const auto traces = lessons();
  REQUIRE(traces.size() >= 29);
  for (const std::string& trace : traces) {
    INFO(trace);
    CHECK(read_file(trace).find("\nmeta source=\"by hand\" shows=\"") != std::string::npos);
    CHECK_FALSE(expectations(read_file(trace)).empty());
    const CommandResult result = run_command({"run", replay, trace});
    CHECK(result.code == 0);
    CHECK(result.err.empty());
    CHECK(result.out.find("not as the program expected") == std::string::npos);
  }
}

TEST_CASE("A lesson with any one of its expectations turned round fails at that line") {
  const TempFolder folder;
  for (const std::string& trace : lessons()) {
    const std::string text = read_file(trace);
    for (const Expectation& word : expectations(text)) {
      std::string changed = text;
      changed.replace(word.begin, word.end - word.begin, word.opposite);
      INFO(trace << ':' << word.line << ": " << text.substr(word.begin, word.end - word.begin) << " became " << word.opposite);
      const CommandResult result = run_command({"run", replay, folder.write("changed.mtrace", changed)});
      CHECK(result.code == 1);
      CHECK(result.err.empty());
      CHECK(result.out.find("  line " + std::to_string(word.line) + ": ") != std::string::npos);
    }
  }
}

// Is each rule reached by a test, and is the page on rules what its command makes of the rows, the tests and the rule sets?
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "support/run_command.h"

using namespace mtsim::test;

namespace {

const std::string tool = "tools/rules";

}  // namespace

TEST_CASE("A test reaches each row that does not say why none does, and names no row that there is not") {
  const CommandResult result = run_program(tool, {"--without-test"});
  INFO(result.err << result.out);
  CHECK(result.code == 0);
}

TEST_CASE("The page on rules has the tables that its command prints") {
  const CommandResult result = run_program("/usr/bin/env", {"MTSIM=" MTSIM_COMMAND, tool});
  REQUIRE(result.code == 0);
  const std::string page = read_file("docs/rules.md"), end = "<!-- tools/rules: end -->\n";
  std::size_t tables = 0;
  for (std::size_t begin = 0; begin < result.out.size(); ++tables) {
    const std::size_t stop = result.out.find(end, begin) + end.size();
    INFO("renew it: tools/rules --update docs/rules.md");
    // As a condition: the tables are long.
    const bool has = page.find(result.out.substr(begin, stop - begin)) != std::string::npos;
    CHECK(has);
    begin = stop;
  }
  CHECK(tables == 2);
}

TEST_CASE("The command notices a row without a test, one that is reached after all, and a test of no row") {
  const TempFolder folder;
  for (const char* name : {"tools", "tests", "tests/rules", "traces"}) std::filesystem::create_directory(folder.path(name));
  std::filesystem::copy(tool, folder.path("tools/rules"));
  folder.write("tests/rules/rows.yaml",
               "- {chapter: \"1\", title: \"Some\"}\n"
               "- {id: \"1.1\", rule: \"reached\", evidence: [source]}\n"
               "- {id: \"1.2\", rule: \"not reached\", evidence: [source]}\n"
               "- {id: \"1.3\", rule: \"open\", evidence: [source], open: \"because\"}\n"
               "- {id: \"1.4\", rule: \"open and reached\", evidence: [source], open: \"because\"}\n");
  // In two parts: this file is searched as well.
  folder.write("tests/one_test.cpp",
               "\"[rule"
               ":1.1][rule"
               ":1.9]\"\n");
  folder.write("traces/one.mtrace", "mtrace 1\nmeta rules=\"1.1 1.4\"\n");
  const CommandResult result = run_program(folder.path("tools/rules"), {"--without-test"});
  CHECK(result.code == 1);
  CHECK(result.out ==
        "no test reaches row 1.2\n"
        "row 1.4 is said to be open, and traces/one.mtrace reach it\n"
        "there is no row 1.9, which one names\n");
}

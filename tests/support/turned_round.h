// A trace must fail wherever an answer is not what it expects: each expectation is turned round in turn.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support/expectations.h"
#include "support/rule_sets.h"

namespace mtsim::test {

/// Under each rule set that a trace is for.
inline void check_turned_round(const std::vector<std::string>& traces) {
  const TempFolder folder;
  const auto configs = configurations(folder);
  for (const std::string& trace : traces) {
    const std::string text = read_file(trace);
    for (const char* set : {"ib", "rxe-6.1"}) {
      if (!is_for(text, set)) continue;
      CHECK_FALSE(expectations(text, set).empty());
      for (const Expectation& word : expectations(text, set)) {
        std::string changed = text;
        changed.replace(word.begin, word.end - word.begin, word.opposite);
        INFO(set << ", " << trace << ':' << word.line << ": " << text.substr(word.begin, word.end - word.begin) << " became "
                 << word.opposite);
        const CommandResult result = run_command({"run", configs.at(set), folder.write("changed.mtrace", changed)});
        CHECK(result.code == 1);
        CHECK(result.err.empty());
        CHECK(result.out.find("  line " + std::to_string(word.line) + ": ") != std::string::npos);
      }
    }
  }
}

}  // namespace mtsim::test

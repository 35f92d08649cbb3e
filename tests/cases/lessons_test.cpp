// Every trace under traces/ teaches one thing. Does each meet all that it expects, and would it be noticed if it did not?
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

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

struct Word {
  std::size_t line, begin, end;  ///< the line from 1, the place in the whole text
  std::string opposite;          ///< something that cannot come in its stead
};

/// Every word that a line of `text` expects.
std::vector<Word> expectations(const std::string& text) {
  std::vector<Word> out;
  const std::string mark = " expect=";
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
    at += mark.size();
    const auto line = 1 + static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    const std::size_t start = text.rfind('\n', at) + 1;
    const bool poll = text.compare(text.find(' ', start), 6, " poll ") == 0;
    const std::size_t end = text.find_first_of(" \n", at);
    while (at < end) {
      const std::size_t comma = std::min(text.find(',', at), end), colon = text.find(':', at);
      const std::size_t begin = colon < comma ? colon + 1 : at;
      const std::string opposite = !poll ? "EIO" : text.compare(begin, comma - begin, "SUCCESS") == 0 ? "RETRY_EXC_ERR" : "SUCCESS";
      out.push_back({line, begin, comma, opposite});
      at = comma + 1;
    }
  }
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
    for (const Word& word : expectations(text)) {
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

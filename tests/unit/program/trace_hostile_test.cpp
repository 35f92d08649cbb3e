// Does the reader survive whatever bytes it is given? Anything but an operation or a UserError is a fault.
#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "base/error.h"
#include "program/trace_reader.h"
#include "unit/program/trace_support.h"

using namespace mtsim;
using namespace mtsim::program;

namespace {

const std::string packed = MTSIM_SOURCE_DIR "/traces/recorded/ib_write_bw-4k-q4.mtrace.zst";

/// Reads a trace to its end, or to the UserError that it deserves; anything else escapes and fails the test.
bool is_legal(const std::string& path) {
  try {
    test::operations(*open_trace(path));
    return true;
  } catch (const UserError& e) {
    CHECK_FALSE(e.messages().empty());
    return false;
  }
}

std::string starts_with(const std::string& file, std::string_view bytes) {
  const auto messages = test::messages(bytes, file);
  return messages.empty() ? "" : messages[0].substr(0, messages[0].find(':'));
}

}  // namespace

TEST_CASE("A compressed trace that is cut short is an error at every length") {
  const std::string whole = test::bytes_of(packed);
  for (std::size_t length = 0; length < whole.size(); length += 1 + whole.size() / 40)
    CHECK(starts_with("t.mtrace.zst", std::string_view(whole).substr(0, length)) == "t.mtrace.zst");
  CHECK(test::messages(std::string_view(whole).substr(0, whole.size() - 1), "t.mtrace.zst").size() == 1);
}

TEST_CASE("A damaged compressed trace never reads as another one") {
  const test::TemporaryDirectory directory;
  const std::string hash = open_trace(packed)->hash();
  std::string bytes = test::bytes_of(packed);
  std::mt19937 random(1);
  for (int i = 0; i < 40; ++i) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] ^= char(1 + random() % 255);
    const std::string path = directory.file("t.mtrace.zst", damaged);
    // A flipped bit in what the format ignores may leave the text as it was.
    std::string read = hash;
    try {
      read = open_trace(path)->hash();
    } catch (const UserError&) {}
    CHECK(read == hash);
  }
}

TEST_CASE("Text under a compressed name is an error") {
  CHECK(test::messages("mtrace 1\n", "t.mtrace.zst").at(0).starts_with("t.mtrace.zst: is damaged or cut short after line 0: "));
  CHECK(test::messages("mtrace 1\n", "t.mtrace.gz").at(0).starts_with("t.mtrace.gz: is damaged or cut short after line 0: "));
  CHECK(test::messages("", "t.mtrace.zst").size() == 1);
}

TEST_CASE("A line is at most 1 MiB long") {
  const auto comment = [](std::size_t length) { return "mtrace 1\n#" + std::string(length - 1, 'x') + "\na.t0 compute 1\n"; };
  CHECK(test::messages(comment(LineReader::longest_line)).empty());
  CHECK(test::messages(comment(LineReader::longest_line + 1)) == std::vector<std::string>{"t.mtrace:2:1: the line is longer than 1 MiB"});
  CHECK(test::messages("mtrace 1\n" + std::string(10'000'000, 'x')) ==
        std::vector<std::string>{"t.mtrace:2:1: the line is longer than 1 MiB"});
}

TEST_CASE("Random bytes are an error") {
  const test::TemporaryDirectory directory;
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    std::string bytes = i % 2 ? "mtrace 1\n" : "";
    for (std::size_t n = 1 + random() % 4000; n > 0; --n) bytes += char(random());
    CHECK_FALSE(is_legal(directory.file("t.mtrace", bytes)));
  }
}

TEST_CASE("A legal trace with bytes changed, dropped, doubled and swapped is legal or an error") {
  const test::TemporaryDirectory directory;
  const std::string whole(test::whole_grammar());
  const std::string letters = "ab01.:=,+-^|@# \t\nxKM\"\0\xff";
  std::mt19937 random(3);
  int legal = 0;
  for (int i = 0; i < 1500; ++i) {
    std::string bytes = whole;
    for (int changes = 1 + int(random() % 3); changes > 0; --changes) {
      const std::size_t at = random() % bytes.size(), other = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes[at] = letters[random() % letters.size()];
          break;
        case 1:
          bytes.erase(at, 1 + random() % 8);
          break;
        case 2:
          bytes.insert(at, bytes.substr(other, random() % 40));
          break;
        default:
          std::swap(bytes[at], bytes[other]);
      }
    }
    legal += is_legal(directory.file("t.mtrace", bytes));
  }
  CHECK(legal > 0);
  CHECK(legal < 1500);
}

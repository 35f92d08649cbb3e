// Tables of several processes become one.
#include "replay/rows.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "base/error.h"

namespace mtsim::replay {
namespace {

std::unique_ptr<Part> part(const std::string& text) {
  auto out = std::make_unique<Part>();
  out->file().write(text);
  out->finish();
  return out;
}

std::string merged(const std::vector<std::string>& tables) {
  std::vector<std::unique_ptr<Part>> parts;
  std::vector<std::string> paths;
  for (const std::string& table : tables) {
    parts.push_back(part(table));
    paths.push_back(parts.back()->path());
  }
  Part out;
  merge_rows(paths, out.file());
  out.finish();
  std::stringstream text;
  text << std::ifstream(out.path()).rdbuf();
  return text.str();
}

TEST_CASE("Rows of all tables come in the order in which they ended") {
  CHECK(merged({"host,end_ns\na,5.000\na,70.000\n", "host,end_ns\n\"b,c\",10.000\n\"b,c\",9.000\n\"b,c\",800.000\n"}) ==
        "host,end_ns\na,5.000\n\"b,c\",10.000\n\"b,c\",9.000\na,70.000\n\"b,c\",800.000\n");
  CHECK(merged({"host,end_ns\n", ""}) == "host,end_ns\n");
  CHECK(merged({"", "end_ns\n1.000"}) == "end_ns\n1.000\n");
}

TEST_CASE("Tables of another kind are not mixed") { CHECK_THROWS(merged({"host,end_ns\n", "host,begin_ns,end_ns\n"})); }

}  // namespace
}  // namespace mtsim::replay

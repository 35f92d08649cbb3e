// The schema of a parameter: does it say all that the declaration says?
#include "base/schema.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "unit/base/sample_params.h"

namespace mtsim {
namespace {

using namespace test;

template <class Params>
schema::Json of(const std::string& name) {
  for (const Parameter& p : section_of<Params>().parameters)
    if (p.name == name) return schema::of_parameter(p);
  return {};
}

TEST_CASE("a count has its bounds, as a number and quoted") {
  CHECK(of<LinkSample>("lanes") == schema::Json::parse(R"({
    "description": "Lanes of the link.\n\nTakes count, 1 to 32; default 16.\n\nSource of the default: test",
    "type": ["integer", "string"], "pattern": "^[0-9]+$", "minimum": 1, "maximum": 32, "default": 16})"));
  CHECK_FALSE(of<CacheSample>("entries").contains("maximum"));
}

TEST_CASE("a quantity has the pattern of its unit, and a message for people") {
  CHECK(of<LinkSample>("latency") == schema::Json::parse(R"({
    "description": "Time from end to end.\n\nTakes time, 1ns to 2us; default 200ns.\n\nSource of the default: test",
    "type": "string", "pattern": "^[0-9]+(\\.[0-9]+)? *(ps|ns|us|ms|s)$",
    "patternErrorMessage": "wants a number with a unit: ps, ns, us, ms or s", "default": "200ns"})"));
}

TEST_CASE("words are listed, and truth is no text") {
  CHECK(of<CacheSample>("replacement")["enum"] == schema::Json::parse(R"(["lru", "random"])"));
  CHECK(of<LinkSample>("relaxed")["default"] == false);
  CHECK(of<LinkSample>("relaxed")["description"] == "Whether writes may pass one another.\n\nTakes bool; default false.");
}

TEST_CASE("names of components come with their meanings") {
  CHECK(schema::of_names({{"b", "the second"}, {"a", ""}}, "Which.", "b") ==
        schema::Json::parse(R"({"description": "Which.\n\n- a\n- b: the second", "enum": ["a", "b"], "default": "b"})"));
}

}  // namespace
}  // namespace mtsim

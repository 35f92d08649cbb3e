// Are waits counted by kind, and is their p99 that of all operations, those without a wait included?
#include "results/waits.h"

#include <catch2/catch.hpp>

using namespace mtsim;
using namespace mtsim::results;

namespace {

std::string name(std::uint32_t kind) { return "kind " + std::to_string(kind); }

}  // namespace

TEST_CASE("a kind that never came is not told") { CHECK(WaitTable().stats(10, name).empty()); }

TEST_CASE("count, sum and longest are exact, and the p99 counts those that did not wait") {
  WaitTable table;
  for (int i = 1; i <= 50; ++i) table.add(7, ns(i));
  table.add(300, us(2));
  // Of 100 operations the 99th by rank waited 49 ns; of 5,000 it did not wait.
  const std::vector<WaitStats> few = table.stats(100, name), many = table.stats(5'000, name);
  REQUIRE(few.size() == 2);
  CHECK(few[0].name == "kind 7");
  CHECK(few[0].operations == 50);
  CHECK(few[0].total == total(ns(50 * 51 / 2)));
  CHECK(few[0].longest == ns(50));
  CHECK(few[0].p99.raw == Approx(49'000).epsilon(0.008));
  CHECK(many[0].p99 == Time());
  CHECK(few[1].name == "kind 300");
  CHECK(few[1].p99 == Time());
  CHECK(table.stats(1, name)[1].p99.raw == Approx(2'000'000).epsilon(0.008));
}

TEST_CASE("a p99 is within 0.8 % of the value at any size") {
  for (std::int64_t value = 1; value < std::int64_t{1} << 60; value = value * 3 + 1) {
    WaitTable table;
    table.add(0, Time(value));
    INFO(value);
    CHECK(std::abs(static_cast<double>(table.stats(1, name)[0].p99.raw - value)) <= 0.008 * static_cast<double>(value));
  }
}

TEST_CASE("two tables together are as one that counted all") {
  WaitTable a, b, all;
  for (int i = 1; i <= 40; ++i) {
    (i % 2 == 0 ? a : b).add(static_cast<std::uint32_t>(i % 3), ns(i));
    all.add(static_cast<std::uint32_t>(i % 3), ns(i));
  }
  a.merge(b);
  const auto merged = a.stats(40, name), expected = all.stats(40, name);
  REQUIRE(merged.size() == expected.size());
  for (std::size_t i = 0; i < merged.size(); ++i) {
    CHECK(merged[i].operations == expected[i].operations);
    CHECK(merged[i].total == expected[i].total);
    CHECK(merged[i].p99 == expected[i].p99);
    CHECK(merged[i].longest == expected[i].longest);
  }
}

// Does the registration cache find what it holds, round and merge as asked, and drop the right regions?
#include "program/registration_cache.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

using namespace mtsim::program;

namespace {

using Slots = std::vector<RegistrationCache::Slot>;

bool is(const RegistrationCache::Region& r, std::uint64_t begin, std::uint64_t end) { return r.begin == begin && r.end == end; }

}  // namespace

TEST_CASE("a block is found in the region that contains it, and only there") {
  RegistrationCache cache({.granule = 4096});
  const auto made = cache.look_up(100, 104);
  CHECK_FALSE(made.hit);
  CHECK(is(made.region, 0, 4096));
  CHECK(cache.look_up(0, 4096).hit);
  CHECK(cache.look_up(4092, 4096).hit);
  CHECK_FALSE(cache.look_up(4096, 4097).hit);
  CHECK(cache.regions() == 2);
  CHECK(cache.bytes() == 8192);
}

TEST_CASE("regions that overlap become one, those that touch only with merge") {
  for (const bool merge : {false, true}) {
    RegistrationCache cache({.granule = 1, .merge = merge});
    cache.look_up(0, 10);
    cache.look_up(20, 30);
    const auto between = cache.look_up(10, 15);
    CHECK(between.drop == (merge ? Slots{0} : Slots{}));
    CHECK(is(between.region, merge ? 0 : 10, 15));
    const auto over = cache.look_up(14, 25);
    CHECK_FALSE(over.hit);
    CHECK(is(over.region, merge ? 0 : 10, 30));
    CHECK(over.drop.size() == 2);
    CHECK(cache.look_up(11, 29).hit);
  }
}

TEST_CASE("the least recently used region goes first, by count and by bytes") {
  RegistrationCache by_count({.granule = 1, .most_regions = 2});
  by_count.look_up(0, 10);
  by_count.look_up(20, 30);
  by_count.look_up(0, 10);
  CHECK(by_count.look_up(40, 50).drop == Slots{1});
  CHECK(by_count.look_up(0, 10).hit);
  RegistrationCache by_bytes({.granule = 1, .most_bytes = 25});
  by_bytes.look_up(0, 10);
  by_bytes.look_up(20, 30);
  CHECK(by_bytes.look_up(40, 50).drop == Slots{0});
  // One region alone may have more.
  CHECK(by_bytes.look_up(100, 200).drop == Slots{1, 0});
  CHECK(by_bytes.regions() == 1);
}

TEST_CASE("memory that goes takes every region with it that it touches") {
  RegistrationCache cache({.granule = 1});
  for (std::uint64_t at = 0; at < 50; at += 10) cache.look_up(at, at + 5);
  CHECK(cache.invalidate(14, 31) == Slots{1, 2, 3});
  CHECK(cache.invalidate(5, 10).empty());
  CHECK_FALSE(cache.look_up(12, 13).hit);
  CHECK(cache.look_up(0, 5).hit);
}

TEST_CASE("whatever is asked, regions do not overlap and a slot means one of them") {
  std::mt19937 random(7);
  for (const CacheRules rules : {CacheRules{16, 0, 0, false}, CacheRules{1, 8, 0, true}, CacheRules{8, 0, 300, false}}) {
    RegistrationCache cache(rules);
    std::map<RegistrationCache::Slot, std::pair<std::uint64_t, std::uint64_t>> live;
    const auto drop = [&](const Slots& slots) {
      for (const auto slot : slots) REQUIRE(live.erase(slot) == 1);
    };
    for (int i = 0; i < 3000; ++i) {
      const std::uint64_t begin = random() % 2000, end = begin + 1 + random() % 60;
      if (i % 50 == 0) {
        drop(cache.invalidate(begin, end));
        continue;
      }
      const auto answer = cache.look_up(begin, end);
      drop(answer.drop);
      if (!answer.hit) REQUIRE(live.emplace(answer.region.slot, std::pair{answer.region.begin, answer.region.end}).second);
      REQUIRE(live.at(answer.region.slot) == std::pair{answer.region.begin, answer.region.end});
      REQUIRE((answer.region.begin <= begin && end <= answer.region.end));
      std::set<std::pair<std::uint64_t, std::uint64_t>> sorted;
      for (const auto& [slot, region] : live) sorted.insert(region);
      std::uint64_t last = 0, bytes = 0;
      for (const auto& [b, e] : sorted) {
        REQUIRE(b >= last);
        last = e;
        bytes += e - b;
      }
      REQUIRE(bytes == cache.bytes());
      REQUIRE(live.size() == cache.regions());
      if (rules.most_regions != 0) REQUIRE(live.size() <= rules.most_regions);
      if (rules.most_bytes != 0) REQUIRE((bytes <= rules.most_bytes || live.size() == 1));
    }
  }
}

// Does a line cache keep what was used last, set by set, and does it name the reason of every miss?
#include "nic/cache.h"

#include <catch2/catch.hpp>
#include <list>
#include <random>
#include <set>
#include <vector>

#include "support/fresh_systemc.h"

using namespace mtsim;

namespace {

nic::CacheLevelParams shape(std::uint32_t lines, std::uint32_t ways) {
  nic::CacheLevelParams p = defaults<nic::MttCacheParams>();
  p.lines = lines;
  p.ways = ways;
  return p;
}

/// Looks a line up and, as the Walker does, puts it in if it is missing. True for a hit.
bool use(nic::Cache& cache, std::uint64_t tag) {
  if (const translate::Content* content = cache.find(tag)) {
    REQUIRE(*content == tag * 10);
    return true;
  }
  cache.fill(tag, tag * 10, 0);
  return false;
}

}  // namespace

TEST_CASE("the least recently used line of a set goes", "[cache]") {
  test::FreshSystemC context;
  nic::Cache cache("cache", shape(8, 2));  // four sets of two
  CHECK_FALSE(use(cache, 0));
  CHECK_FALSE(use(cache, 4));
  CHECK(use(cache, 0));
  CHECK_FALSE(use(cache, 8));  // the same set: 4 was used before 0
  CHECK(cache.holds(0));
  CHECK_FALSE(cache.holds(4));
  CHECK(cache.holds(8));
  CHECK_FALSE(use(cache, 5));  // another set takes nobody's place
  CHECK(cache.holds(0));
  CHECK(cache.counts().evictions == 1);
}

TEST_CASE("asking whether a line is there neither counts nor ages", "[cache]") {
  test::FreshSystemC context;
  nic::Cache cache("cache", shape(2, 2));
  use(cache, 0);
  use(cache, 2);
  CHECK(cache.holds(0));
  use(cache, 4);
  CHECK_FALSE(cache.holds(0));
  CHECK(cache.counts().lookups == 3);
}

TEST_CASE("misses are cold once, then a matter of capacity or of the index", "[cache]") {
  test::FreshSystemC context;
  nic::Cache cache("cache", shape(4, 1));  // four sets of one
  use(cache, 0);
  use(cache, 4);  // cold; takes the place of 0 while three sets stand empty
  use(cache, 0);  // conflict
  CHECK(cache.counts().cold == 2);
  CHECK(cache.counts().conflict == 1);
  use(cache, 1);
  use(cache, 2);
  use(cache, 3);
  use(cache, 4);  // the cache is full
  CHECK(cache.counts().cold == 5);
  CHECK(cache.counts().conflict == 1);
  CHECK(cache.counts().capacity == 1);
  CHECK(cache.counts().hits == 0);
  CHECK(cache.counts().lookups == 7);
  CHECK(cache.held() == 4);
}

TEST_CASE("dropping forgets the lines of a range, and only those", "[cache]") {
  test::FreshSystemC context;
  nic::Cache cache("cache", shape(16, 2));
  for (std::uint64_t tag = 0; tag < 10; ++tag) use(cache, tag);
  cache.drop(3, 2);
  CHECK(cache.held() == 8);
  CHECK(cache.holds(2));
  CHECK_FALSE(cache.holds(3));
  CHECK_FALSE(cache.holds(4));
  CHECK(cache.holds(5));
  cache.drop(8, 1'000'000);  // a range larger than the cache
  CHECK(cache.held() == 6);
  CHECK(cache.holds(7));
  CHECK_FALSE(cache.holds(9));
  CHECK(cache.counts().dropped == 4);
  CHECK(cache.counts().evictions == 0);
}

TEST_CASE("a cache without lines misses always", "[cache]") {
  test::FreshSystemC context;
  nic::Cache cache("cache", shape(0, 8));
  for (int i = 0; i < 3; ++i) CHECK_FALSE(use(cache, 1));
  cache.drop(0, 100);
  CHECK(cache.capacity() == 0);
  CHECK(cache.counts().lookups == 3);
  CHECK(cache.counts().hits == 0);
}

TEST_CASE("random use against a list for each set", "[cache]") {
  for (const unsigned seed : {1u, 2u, 3u}) {
    test::FreshSystemC context;
    std::mt19937_64 random(seed);
    const auto ways = 1 + static_cast<std::uint32_t>(random() % 8), sets = 1 + static_cast<std::uint32_t>(random() % 20);
    nic::Cache cache("cache", shape(sets * ways, ways));
    REQUIRE(cache.capacity() == sets * ways);
    std::vector<std::list<std::uint64_t>> lru(sets);
    std::set<std::uint64_t> seen;
    std::uint64_t hits = 0, evictions = 0, cold = 0;
    for (int step = 0; step < 5000; ++step) {
      const std::uint64_t tag = random() % (2 * sets * ways);
      auto& set = lru[tag % sets];
      const bool there = std::find(set.begin(), set.end(), tag) != set.end();
      if (step % 500 == 499) {
        cache.drop(tag, 3);
        for (std::uint64_t t = tag; t < tag + 3; ++t) {
          lru[t % sets].remove(t);
          seen.erase(t);  // what is written anew is as cold as at first
        }
        continue;
      }
      REQUIRE(use(cache, tag) == there);
      hits += there;
      set.remove(tag);
      set.push_front(tag);
      if (set.size() > ways) {
        set.pop_back();
        ++evictions;
      }
      cold += seen.insert(tag).second;
    }
    CHECK(cache.counts().hits == hits);
    CHECK(cache.counts().cold == cold);
    CHECK(cache.counts().evictions == evictions);
    CHECK(cache.counts().lookups == hits + cache.counts().cold + cache.counts().capacity + cache.counts().conflict);
  }
}

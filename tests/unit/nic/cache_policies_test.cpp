// Does a cache of any shape, index function and replacement policy hold what its definition says, line for line?
#include <catch2/catch.hpp>
#include <random>

#include "nic/cache.h"
#include "nic/params.h"
#include "nic/pool_share.h"
#include "nic/prefetcher.h"
#include "support/fresh_systemc.h"
#include "support/slow_cache.h"

using namespace mtsim;

namespace {

nic::CacheLevelParams params_of(const test::SlowShape& shape) {
  nic::CacheLevelParams p = defaults<nic::MttCacheParams>();
  p.lines = shape.lines;
  p.ways = shape.ways;
  p.replacement = shape.replacement;
  p.index = shape.index;
  p.seed = shape.seed;
  p.pd_ways = shape.pd_ways;
  p.miss_causes = nic::MissCauses::exact;
  return p;
}

struct Table final : ports::LineSource {
  std::uint64_t now = 0;
  translate::Content content(std::uint64_t) const override { return now; }
};

/// The same look-ups, fills and drops for both, with ways shared out between two kinds of use if `share`.
void compare(const test::SlowShape& shape, nic::TableWrite table_write, bool share, unsigned seed, int steps) {
  CAPTURE(shape.lines, shape.ways, shape.replacement, shape.index, shape.pd_ways, share, seed);
  test::FreshSystemC context;
  nic::CacheLevelParams params = params_of(shape);
  params.table_write = table_write;
  nic::Cache cache("cache", params);
  test::SlowCache slow(shape);
  REQUIRE(cache.capacity() == shape.lines);
  std::mt19937_64 random(seed);
  const std::uint64_t tags = 3 * shape.lines + 5;
  Table table;
  for (int step = 0; step < steps; ++step) {
    // Half of the look-ups go to a part that nearly fits.
    const std::uint64_t tag = random() % (random() % 2 ? tags : shape.lines / 2 + 1);
    const auto pd = static_cast<std::uint32_t>(random() % 3);
    const nic::WayMask allowed = !share || shape.ways == 0 ? nic::all_ways : tag % 2 ? 0b11 : nic::all_ways << 1;
    const std::uint64_t what = random() % 100;
    if (what < 3) {
      const std::uint64_t count = what == 0 ? tags : 1 + random() % 4;
      if (table_write == nic::TableWrite::update) {
        table.now = step;
        cache.written(tag, count, table);
        slow.update(tag, count, table.now);
      } else {
        cache.written(tag, count, table);
        slow.drop(tag, count);
      }
    } else {
      const translate::Content* found = cache.find(tag);
      const auto expected = slow.find(tag);
      REQUIRE((found != nullptr) == expected.has_value());
      if (found != nullptr) REQUIRE(*found == *expected);
      // Now and then somebody else has fetched the line meanwhile, or it does not come.
      if ((found == nullptr && what < 95) || what > 97) {
        cache.put(tag, tag * 10, pd, allowed);
        slow.fill(tag, tag * 10, pd, allowed);
      }
    }
    REQUIRE(cache.held() <= cache.capacity());
    if (step % 97 == 0)
      for (std::uint64_t t = 0; t < tags; ++t) REQUIRE(cache.holds(t) == (slow.tags().count(t) != 0));
  }
  CHECK(cache.held() == slow.tags().size());
  CHECK(cache.counts().hits == slow.hits);
  CHECK(cache.counts().cold == slow.cold);
  CHECK(cache.counts().capacity == slow.capacity);
  CHECK(cache.counts().conflict == slow.conflict);
  CHECK(cache.counts().evictions == slow.evictions);
  CHECK(cache.counts().dropped == slow.dropped);
}

}  // namespace

TEST_CASE("random use against a slow cache, for every policy and shape", "[cache]") {
  const std::string replacement = GENERATE("lru", "plru", "random", "fifo", "srrip", "drrip");
  const std::string index = GENERATE("modulo", "hashed", "skewed");
  if (index == "skewed" && (replacement == "plru" || replacement == "drrip")) return;
  const auto [lines, ways] = GENERATE(
      table<std::uint32_t, std::uint32_t>({{0, 4}, {1, 1}, {1, 0}, {3, 8}, {8, 1}, {8, 8}, {12, 3}, {40, 4}, {66, 6}, {20, 0}, {70, 0}}));
  unsigned seed = 1;
  for (const bool share : {false, true}) {
    if (share && (ways == 0 || lines < ways || ways < 3)) continue;
    for (const nic::TableWrite write : {nic::TableWrite::invalidate, nic::TableWrite::update})
      compare({lines, ways, replacement, index, seed * 7, 0}, write, share, ++seed, 600);
  }
  if (ways >= 3 && lines >= ways) compare({lines, ways, replacement, index, 5, 2}, nic::TableWrite::invalidate, true, 99, 600);
}

TEST_CASE("set duelling with many sets, against a slow cache", "[cache]") {
  const std::uint32_t sets = GENERATE(2, 3, 64, 100);
  compare({sets * 2, 2, "drrip", "modulo", 1, 0}, nic::TableWrite::invalidate, false, sets, 4000);
}

TEST_CASE("every policy, index function and prefetcher is known by name", "[cache]") {
  // A test adds one of its own: that one is known too.
  CHECK(nic::ReplacementPolicies::names() == std::vector<std::string>{"drrip", "fifo", "lru", "most_recent", "plru", "random", "srrip"});
  CHECK(nic::IndexFunctions::names() == std::vector<std::string>{"hashed", "modulo", "skewed"});
  CHECK(nic::Prefetchers::names() == std::vector<std::string>{"next_line", "none", "stride"});
}

TEST_CASE("a policy that keeps something for each set refuses a cache without sets", "[cache]") {
  nic::CacheShape skewed{4, 4, true, 1};
  for (const char* name : {"plru", "drrip"}) CHECK(nic::ReplacementPolicies::make(name, skewed) == nullptr);
  for (const char* name : {"lru", "fifo", "random", "srrip"}) CHECK(nic::ReplacementPolicies::make(name, skewed) != nullptr);
}

TEST_CASE("rows are in range, and lines in a row spread evenly over any number of them", "[cache]") {
  const std::string name = GENERATE("modulo", "hashed", "skewed");
  const std::uint32_t rows = GENERATE(1u, 2u, 7u, 64u, 100u, 1024u);
  const auto index = nic::IndexFunctions::make(name, rows);
  CAPTURE(name, rows);
  for (const std::uint32_t way : {0u, 3u}) {
    std::vector<int> lines(rows);
    for (std::uint64_t tag = 0; tag < 64 * rows; ++tag) {
      REQUIRE(index->row(tag, way) < rows);
      ++lines[index->row(tag, way)];
    }
    const auto [least, most] = std::minmax_element(lines.begin(), lines.end());
    // 64 on average; the fold over rows that are no power of two puts two numbers into some.
    CHECK(*least > 20);
    CHECK(*most < 135);
  }
}

TEST_CASE("tables a power of two apart meet in one set by modulo, and not when hashed", "[cache]") {
  for (const auto& [name, together] : {std::pair{"modulo", true}, std::pair{"hashed", false}}) {
    const auto index = nic::IndexFunctions::make(name, 256);
    std::set<std::uint32_t> rows;
    for (std::uint64_t table = 0; table < 64; ++table) rows.insert(index->row(table * 4096, 0));
    CHECK((rows.size() == 1) == together);
    CHECK((rows.size() == 64 || together));
  }
}

TEST_CASE("lines that meet in one way of a skewed cache hardly meet in the next", "[cache]") {
  const auto index = nic::IndexFunctions::make("skewed", 64);
  std::set<std::uint32_t> elsewhere;
  for (std::uint64_t tag = 0; tag < 64 * 32; ++tag)
    if (index->row(tag, 0) == 5) elsewhere.insert(index->row(tag, 1));
  CHECK(elsewhere.size() > 16);
}

namespace {

std::uint64_t hits(const char* replacement, const std::vector<std::uint64_t>& tags, std::uint32_t lines, std::uint32_t ways) {
  test::FreshSystemC context;
  nic::Cache cache("cache", params_of({lines, ways, replacement, "modulo", 1, 0}));
  for (const std::uint64_t tag : tags)
    if (cache.find(tag) == nullptr) cache.fill(tag, 0, 0);
  return cache.counts().hits;
}

}  // namespace

TEST_CASE("RRIP keeps a line in use through a scan that LRU does not survive", "[cache]") {
  std::vector<std::uint64_t> tags;
  for (std::uint64_t round = 0; round < 50; ++round) {
    for (int i = 0; i < 2; ++i) tags.insert(tags.end(), {0, 1});
    for (std::uint64_t i = 0; i < 4; ++i) tags.push_back(1000 + round * 4 + i);
  }
  CHECK(hits("lru", tags, 4, 4) == 50 * 2);
  CHECK(hits("srrip", tags, 4, 4) == 50 * 4 - 2);
}

TEST_CASE("a loop a little too large: LRU finds nothing, DRRIP learns to keep a part", "[cache]") {
  std::vector<std::uint64_t> tags;
  for (int round = 0; round < 100; ++round)
    for (std::uint64_t tag = 0; tag < 320; ++tag) tags.push_back(tag);
  CHECK(hits("lru", tags, 256, 4) == 0);
  CHECK(hits("fifo", tags, 256, 4) == 0);
  CHECK(hits("drrip", tags, 256, 4) > tags.size() / 4);
}

TEST_CASE("each kind of line stays within its ways of a pool", "[cache]") {
  test::FreshSystemC context;
  nic::Cache pool("pool", params_of({64, 8, GENERATE("lru", "plru", "random", "srrip", "drrip"), "modulo", 1, 0}));
  nic::PoolShare mpt(pool, 0, 0b11), mtt(pool, 1000, nic::all_ways >> 58 << 2);
  for (std::uint64_t tag = 0; tag < 200; ++tag) {
    mtt.fill(tag, tag, 0);
    mpt.fill(tag % 40, tag, 0);
  }
  const auto held = [](const nic::PoolShare& share) {
    std::uint64_t n = 0;
    for (std::uint64_t tag = 0; tag < 200; ++tag) n += share.holds(tag);
    return n;
  };
  CHECK(held(mpt) == 2 * 8);
  CHECK(held(mtt) == 6 * 8);
  CHECK(pool.held() == 64);
  mtt.drop(0, 200);
  CHECK(held(mpt) == 16);
  CHECK(held(mtt) == 0);
}

TEST_CASE("a protection domain beyond its quota displaces its own lines only", "[cache]") {
  test::FreshSystemC context;
  nic::Cache cache("cache", params_of({8, 8, "lru", "modulo", 1, 3}));
  for (std::uint64_t tag = 0; tag < 3; ++tag) cache.fill(tag, 0, 7);
  for (std::uint64_t tag = 100; tag < 200; ++tag) cache.fill(tag, 0, 8);
  for (std::uint64_t tag = 0; tag < 3; ++tag) CHECK(cache.holds(tag));
  for (std::uint64_t tag = 197; tag < 200; ++tag) CHECK(cache.holds(tag));
  CHECK(cache.held() == 6);
}

TEST_CASE("a line that the table's writer updates is found with its new content; invalidated it is fetched anew", "[cache]") {
  for (const nic::TableWrite write : {nic::TableWrite::invalidate, nic::TableWrite::update}) {
    test::FreshSystemC context;
    nic::CacheLevelParams params = params_of({8, 2, "lru", "modulo", 1, 0});
    params.table_write = write;
    nic::Cache cache("cache", params);
    Table table;
    table.now = 5;
    for (std::uint64_t tag = 0; tag < 4; ++tag) cache.fill(tag, 1, 0);
    cache.written(1, 2, table);
    const bool updates = write == nic::TableWrite::update;
    for (const std::uint64_t tag : {1u, 2u}) {
      const translate::Content* found = cache.find(tag);
      REQUIRE((found != nullptr) == updates);
      if (found != nullptr) CHECK(*found == 5);
    }
    // The others hold what they held, and what was not there does not come in.
    CHECK(*cache.find(0) == 1);
    CHECK(*cache.find(3) == 1);
    cache.written(100, 4, table);
    CHECK_FALSE(cache.holds(100));
    CHECK(cache.counts().updated == (updates ? 2 : 0));
    CHECK(cache.counts().dropped == (updates ? 0 : 2));
    // Who was written to is cold again only where the write took the line away.
    CHECK(cache.counts().cold == (updates ? 0 : 2));
  }
}

TEST_CASE("misses that merge with a fetch have its cause", "[cache]") {
  test::FreshSystemC context;
  nic::Cache cache("cache", params_of({4, 1, "lru", "modulo", 1, 0}));
  for (int i = 0; i < 3; ++i) CHECK(cache.find(0) == nullptr);
  cache.fill(0, 0, 0);
  CHECK(cache.counts().cold == 3);
  cache.fill(4, 0, 0);  // the same set
  for (int i = 0; i < 3; ++i) CHECK(cache.find(0) == nullptr);
  CHECK(cache.counts().conflict == 3);
}

TEST_CASE("lines fetched ahead are useful once, or useless when they go unused", "[cache]") {
  test::FreshSystemC context;
  nic::Cache cache("cache", params_of({2, 2, "fifo", "modulo", 1, 0}));
  cache.fill_ahead(0, 0, 0);
  cache.fill_ahead(1, 0, 0);
  CHECK(cache.find(0) != nullptr);
  CHECK(cache.found_ahead());
  CHECK(cache.find(0) != nullptr);
  CHECK_FALSE(cache.found_ahead());
  cache.fill(2, 0, 0);
  cache.fill(3, 0, 0);  // 0 and 1 have gone
  cache.fill_ahead(4, 0, 0);
  cache.drop(4, 1);
  CHECK(cache.counts().ahead == 3);
  CHECK(cache.counts().useful == 1);
  CHECK(cache.counts().useless == 2);
}

// Does the pool ever hand a frame out twice, does it take everything back, and are huge pages and driver memory whole and aligned?
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <vector>

#include "base/error.h"
#include "host/frame_pool.h"

using namespace mtsim;

namespace {

constexpr std::uint64_t small_memory = 256u << 20;

FramePool small_pool(double run_pages, std::uint64_t seed = 1) { return FramePool({Bytes(small_memory), run_pages, seed}); }

/// Takes each physical page of the extent out of, or puts it into, `live`; false when one was there already (or was not).
bool add(std::set<std::uint64_t>& live, const FramePool& pool, const FrameExtent& extent) {
  bool fresh = true;
  for (std::uint64_t i = 0; i < extent.count; ++i) fresh = live.insert(pool.law().address(extent, i).raw / 4096).second && fresh;
  return fresh;
}
bool remove(std::set<std::uint64_t>& live, const FramePool& pool, const FrameExtent& extent) {
  bool there = true;
  for (std::uint64_t i = 0; i < extent.count; ++i) there = live.erase(pool.law().address(extent, i).raw / 4096) == 1 && there;
  return there;
}

}  // namespace

TEST_CASE("frames of live extents never meet, and all come back", "[frame_pool]") {
  for (const double mean : {1.0, 5.0, 512.0}) {
    FramePool pool = small_pool(mean, 4);
    std::mt19937_64 random(17);
    std::set<std::uint64_t> live;
    std::vector<FrameExtent> extents;
    for (int step = 0; step < 3000; ++step) {
      if (random() % 5 < 3) {
        std::vector<FrameExtent> got;
        switch (random() % 4) {
          case 0:
            got = pool.allocate(Leaf::page_4k, 1 + random() % 300);
            break;
          case 1:
            got = pool.allocate(Leaf::page_2m, 1 + random() % 3);
            break;
          case 2:
            got = pool.allocate(Leaf::page_4k, 1);
            break;
          default:
            if (const auto one = pool.allocate_contiguous(Bytes(1 + random() % (1u << 22)), Bytes(4096u << random() % 11))) got = {*one};
        }
        for (const FrameExtent& extent : got) {
          REQUIRE(add(live, pool, extent));
          extents.push_back(extent);
        }
      } else if (!extents.empty()) {
        // Give back a part of some extent, from any page on.
        const std::size_t k = random() % extents.size();
        const FrameExtent extent = extents[k];
        const std::uint64_t from = random() % extent.count, n = 1 + random() % (extent.count - from);
        REQUIRE(remove(live, pool, extent.part(from, n)));
        pool.release(extent.part(from, n));
        extents[k] = extents.back();
        extents.pop_back();
        if (from > 0) extents.push_back(extent.part(0, from));
        if (from + n < extent.count) extents.push_back(extent.part(from + n, extent.count - from - n));
      }
      REQUIRE(pool.free().raw + live.size() == small_memory / 4096);
    }
    for (const FrameExtent& extent : extents) pool.release(extent);
    REQUIRE(pool.free() == pool.size());
    REQUIRE(pool.allocate(Leaf::page_2m, 1000).size() == 1);  // nothing is left in pieces: all 128 of them are one extent
  }
}

TEST_CASE("huge pages are whole, aligned, and apart when memory is fragmented", "[frame_pool]") {
  FramePool pool({GiB(4), 1.0, 3});
  const auto huge = pool.allocate(Leaf::page_2m, 64);
  std::uint64_t before = 0;
  for (const FrameExtent& extent : huge)
    for (std::uint64_t i = 0; i < extent.count; ++i) {
      const std::uint64_t pa = pool.law().address(extent, i).raw;
      if (i % 512 == 0) {
        REQUIRE(pa % MiB(2).raw == 0);
        REQUIRE(pa != before + 4096);
      } else {
        REQUIRE(pa == before + 4096);
      }
      before = pa;
    }
  const auto giant = pool.allocate(Leaf::page_1g, 5);
  REQUIRE(giant.size() == 1);
  REQUIRE(giant[0].count == 3u << 18);  // the fourth is cut by the huge pages above
  REQUIRE(pool.law().address(giant[0], 0).raw % GiB(1).raw == 0);
  REQUIRE(pool.law().run(giant[0], 0).end == giant[0].count);
}

TEST_CASE("driver memory is contiguous and aligned as asked", "[frame_pool]") {
  FramePool pool = small_pool(1.0);
  std::set<std::uint64_t> live;
  for (const auto& [size, align] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{{1, 4096},
                                                                                        {64 << 10, 64 << 10},
                                                                                        {4096, 4096},
                                                                                        {2 << 20, 2 << 20},
                                                                                        {1536 << 10, 4096},
                                                                                        {600 << 10, 8192},
                                                                                        {5 << 20, 4096},
                                                                                        {1 << 20, 64 << 20}}) {
    const auto extent = pool.allocate_contiguous(Bytes(size), Bytes(align));
    REQUIRE(extent);
    REQUIRE(extent->count == ceil_div(size, 4096));
    const std::uint64_t start = pool.law().address(*extent, 0).raw;
    REQUIRE(start % align == 0);
    for (std::uint64_t i = 0; i < extent->count; ++i) REQUIRE(pool.law().address(*extent, i).raw == start + i * 4096);
    REQUIRE(add(live, pool, *extent));
  }
  REQUIRE_FALSE(pool.allocate_contiguous(Bytes(small_memory)));
}

TEST_CASE("frames stay until their last holder lets go", "[frame_pool]") {
  FramePool pool = small_pool(1.0);
  const auto extent = pool.allocate(Leaf::page_4k, 100).at(0);
  pool.hold(extent.part(10, 5));
  pool.release(extent);
  REQUIRE(pool.size() - pool.free() == Pages(5));
  pool.release(extent.part(10, 2));
  pool.release(extent.part(12, 3));
  REQUIRE(pool.free() == pool.size());
}

TEST_CASE("when memory runs out the pool gives what is left", "[frame_pool]") {
  FramePool pool = small_pool(1.0);
  REQUIRE(pool.allocate_contiguous(KiB(4)));
  std::uint64_t got = 0;
  for (const FrameExtent& extent : pool.allocate(Leaf::page_4k, 1 << 20)) got += extent.count;
  REQUIRE(got == small_memory / 4096 - 1);  // the rest of the driver's segment too
  REQUIRE(pool.allocate(Leaf::page_4k, 1).empty());
  REQUIRE(pool.allocate(Leaf::page_2m, 1).empty());
  REQUIRE_FALSE(pool.allocate_contiguous(KiB(4)));
}

TEST_CASE("a memory size that is not a whole number of regions is refused", "[frame_pool]") {
  REQUIRE_THROWS_AS(FramePool({MiB(100), 1.0, 1}), UserError);
}

TEST_CASE("the declared defaults make a pool", "[frame_pool]") {
  const FramePool pool(defaults<FramePoolParams>());
  REQUIRE(pool.size() == Pages(GiB(64) / page_bytes));
}

// Does the allocator of I/O virtual addresses give what nobody has, aligned, from the place that Linux takes it from?
#include "kernel/iova_allocator.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

using namespace mtsim::kernel;

namespace {

std::uint64_t power_of_two_from(std::uint64_t n) {
  std::uint64_t power = 1;
  while (power < n) power *= 2;
  return power;
}

}  // namespace

TEST_CASE("ranges are inside the space, aligned to their own length, and nobody else's", "[iova]") {
  constexpr std::uint64_t first = 4096, end = 3 * 4096;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    IovaAllocator allocator(first, end);
    std::vector<bool> taken(end);
    struct Range {
      std::uint64_t page, pages;
    };
    std::vector<Range> live;
    int refused = 0;
    for (int step = 0; step < 3000; ++step) {
      const auto cpu = std::uint32_t(random() % 3);
      if (random() % 5 < 3) {
        const std::uint64_t pages = 1 + random() % (random() % 4 ? 40 : 700);
        const auto grant = allocator.allocate(cpu, pages);
        if (!grant.page) {
          ++refused;
          continue;
        }
        REQUIRE(*grant.page >= first);
        REQUIRE(*grant.page + pages <= end);
        REQUIRE(*grant.page % power_of_two_from(pages) == 0);
        for (std::uint64_t i = 0; i < pages; ++i) {
          REQUIRE_FALSE(taken[*grant.page + i]);
          taken[*grant.page + i] = true;
        }
        live.push_back({*grant.page, pages});
      } else if (!live.empty()) {
        const std::size_t k = random() % live.size();
        for (std::uint64_t i = 0; i < live[k].pages; ++i) taken[live[k].page + i] = false;
        allocator.release(cpu, live[k].page, live[k].pages);
        live.erase(live.begin() + long(k));
      }
    }
    REQUIRE(refused > 0);
    for (const Range& range : live) allocator.release(0, range.page, range.pages);
    // With the caches emptied for it, the whole space is one range again.
    REQUIRE(allocator.allocate(0, 4096).page);
    REQUIRE(allocator.allocate(0, 4096).page);
    REQUIRE(allocator.free_pages() == 0);
  }
}

TEST_CASE("up to 32 pages come back to the CPU that freed them, without the tree", "[iova]") {
  for (const std::uint64_t pages : {1u, 2u, 3u, 31u, 32u}) {
    IovaAllocator allocator(1 << 20, 1 << 21);
    const auto fresh = allocator.allocate(0, pages);
    REQUIRE(fresh.tree_operations == 1);
    REQUIRE(allocator.free_pages() == (1u << 20) - power_of_two_from(pages));
    REQUIRE(allocator.release(0, *fresh.page, pages) == 0);
    REQUIRE(allocator.allocate(1, pages).tree_operations == 1);
    const auto again = allocator.allocate(0, pages);
    REQUIRE(again.page == fresh.page);
    REQUIRE(again.tree_operations == 0);
  }
}

TEST_CASE("more than 32 pages always take the tree, and no more of it than they need", "[iova]") {
  IovaAllocator allocator(1 << 20, 1 << 21);
  const auto range = allocator.allocate(0, 33);
  REQUIRE(range.tree_operations == 1);
  REQUIRE(*range.page % 64 == 0);
  REQUIRE(allocator.free_pages() == (1u << 20) - 33);
  REQUIRE(allocator.release(0, *range.page, 33) == 1);
  REQUIRE(allocator.allocate(0, 33).tree_operations == 1);
}

TEST_CASE("a CPU keeps two magazines of 127; full ones beyond go to a depot that every CPU may take from", "[iova]") {
  IovaAllocator allocator(1 << 20, 1 << 21);
  std::vector<std::uint64_t> pages;
  for (int i = 0; i < 255; ++i) pages.push_back(*allocator.allocate(0, 1).page);
  const auto from_tree = [&](std::uint32_t cpu, int n) {
    int tree = 0;
    for (int i = 0; i < n; ++i) tree += int(allocator.allocate(cpu, 1).tree_operations);
    return tree;
  };
  SECTION("254 stay with the CPU") {
    for (int i = 0; i < 254; ++i) allocator.release(0, pages[std::size_t(i)], 1);
    REQUIRE(from_tree(1, 1) == 1);
    REQUIRE(from_tree(0, 255) == 1);
  }
  SECTION("with the 255th a magazine goes to the depot") {
    for (const std::uint64_t page : pages) allocator.release(0, page, 1);
    REQUIRE(from_tree(1, 130) == 3);
    REQUIRE(from_tree(0, 130) == 2);
  }
}

TEST_CASE("a space that is used up refuses; what lies in caches is given back to the tree before", "[iova]") {
  IovaAllocator allocator(64, 128);
  std::vector<std::uint64_t> pages;
  for (int i = 0; i < 64; ++i) pages.push_back(*allocator.allocate(0, 1).page);
  REQUIRE_FALSE(allocator.allocate(0, 1).page);
  REQUIRE_FALSE(allocator.allocate(0, 64).page);
  for (std::size_t i = 0; i < 63; ++i) allocator.release(0, pages[i], 1);
  const auto refused = allocator.allocate(0, 64);
  REQUIRE_FALSE(refused.page);
  REQUIRE(refused.tree_operations == 1 + 63 + 1);
  allocator.release(0, pages[63], 1);
  const auto whole = allocator.allocate(1, 64);
  REQUIRE(*whole.page == 64);
  REQUIRE(whole.tree_operations == 1 + 1 + 1);
}

TEST_CASE("addresses go downwards from the top; a gap above is taken again once it opened last", "[iova]") {
  IovaAllocator allocator(0x10000, 0x20000);
  const std::uint64_t a = *allocator.allocate(0, 256).page, b = *allocator.allocate(0, 256).page, c = *allocator.allocate(0, 256).page;
  REQUIRE(a == 0x20000 - 256);
  REQUIRE(b == a - 256);
  REQUIRE(c == b - 256);
  allocator.release(0, a, 256);
  REQUIRE(*allocator.allocate(0, 256).page == a);
  // The search goes on below what was given last, and comes round when it finds nothing there.
  allocator.release(0, b, 256);
  REQUIRE(*allocator.allocate(0, 0x8000).page == 0x10000);
  REQUIRE(*allocator.allocate(0, 256).page == b);
}

// Does a map with holes agree with a list of pages, whatever is done to it?
#include "base/present_map.h"

#include <catch2/catch.hpp>
#include <optional>
#include <random>
#include <vector>

using namespace mtsim;

namespace {

struct Page {
  std::uint64_t frame = 0;
  bool writable = false;
};
using Range = std::vector<std::optional<Page>>;

void check(const PresentMap& map, const Range& pages) {
  std::uint64_t present = 0;
  for (std::uint64_t i = 0; i < pages.size(); ++i) {
    CAPTURE(i);
    const auto hit = map.at(i);
    REQUIRE(hit.has_value() == pages[i].has_value());
    if (!hit) continue;
    ++present;
    REQUIRE(hit->address == FrameLaw::memory_start + page_bytes * pages[i]->frame);
    REQUIRE(hit->writable == pages[i]->writable);
  }
  REQUIRE(map.pages() == present);
}

}  // namespace

TEST_CASE("pages set, cleared and copied at random", "[present_map]") {
  constexpr std::uint64_t size = 60;
  std::mt19937_64 random(7);
  PresentMap map, other;
  Range pages(size), others(size);
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t first = random() % size, n = 1 + random() % (size - first), frame = random() % 1000;
    const bool writable = random() % 2 == 0;
    CAPTURE(round, first, n);
    switch (random() % 4) {
      case 0:
        map.set({first, {frame, n, Layout::linear}, writable});
        for (std::uint64_t i = 0; i < n; ++i) pages[first + i] = Page{frame + i, writable};
        break;
      case 1:
        other.set({first, {frame, n, Layout::linear}, writable});
        for (std::uint64_t i = 0; i < n; ++i) others[first + i] = Page{frame + i, writable};
        break;
      case 2: {
        std::uint64_t gone = 0, expected = 0;
        for (const auto& part : map.clear(first, first + n)) gone += part.frames.count;
        for (std::uint64_t i = first; i < first + n; ++i) expected += pages[i].has_value(), pages[i].reset();
        REQUIRE(gone == expected);
        break;
      }
      default:
        map.copy(other, first, first + n);
        for (std::uint64_t i = first; i < first + n; ++i) pages[i] = others[i];
    }
    check(map, pages);
  }
}

TEST_CASE("a part is cut to what is asked for, and the next one is found beyond a hole", "[present_map]") {
  PresentMap map;
  map.set({10, {100, 10, Layout::linear}, true});
  REQUIRE_FALSE(map.part_from(0, 10));
  REQUIRE_FALSE(map.part_from(20, 99));
  const auto part = map.part_from(0, 12);
  REQUIRE(part->first == 10);
  REQUIRE(part->frames == FrameExtent{100, 2, Layout::linear});
  REQUIRE(map.part_from(15, 99)->frames == FrameExtent{105, 5, Layout::linear});
}

TEST_CASE("page after page in rising frames is one part", "[present_map]") {
  PresentMap map;
  for (std::uint64_t i = 0; i < 100; ++i) map.set({i, {i + 7, 1, Layout::linear}, true});
  REQUIRE(map.part_from(0, 100)->frames.count == 100);
}

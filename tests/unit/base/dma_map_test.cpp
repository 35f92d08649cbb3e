// Are runs and page table entries of a map, counted by extents, those that one finds page by page?
#include "base/dma_map.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

using namespace mtsim;

namespace {

constexpr std::uint64_t page_4k = 1u << 12, page_2m = 1u << 21, page_1g = 1u << 30;

struct Case {
  FrameLaw law;
  std::vector<FrameExtent> extents;
  std::vector<std::uint64_t> frames;  ///< page by page
};

/// Several extents of different layouts; often one goes on in memory where the one before ends.
Case random_case(std::mt19937_64& random) {
  const double runs[] = {1, 1, 3, 40, 300, 512};
  Case c{FrameLaw(random(), runs[random() % 6]), {}, {}};
  for (std::uint64_t k = 1 + random() % 5; k > 0; --k) {
    FrameExtent extent;
    extent.layout = Layout(random() % 3);
    const std::uint64_t unit = extent.layout == Layout::segments || random() % 3 == 0 ? 512 : 1;
    extent.first = random() % (1u << 20) / unit * unit;
    extent.count = (1 + random() % (unit == 1 ? 3000 : 6)) * unit;
    if (extent.layout == Layout::linear && random() % 2 && !c.frames.empty()) extent.first = c.frames.back() + 1 - (1u << 20);
    for (std::uint64_t i = 0; i < extent.count; ++i) c.frames.push_back(c.law.address(extent, i).raw / 4096);
    c.extents.push_back(extent);
  }
  return c;
}

/// Entry by entry, the greatest first.
std::uint64_t leaves(const std::vector<std::uint64_t>& frames, std::uint64_t first, std::uint64_t sizes) {
  std::vector<std::uint64_t> left(frames.size(), 1);  // pages of the run from here on
  for (std::size_t i = frames.size(); i-- > 1;)
    if (frames[i] == frames[i - 1] + 1) left[i - 1] = left[i] + 1;
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < frames.size(); ++count) {
    std::uint64_t best = 1;
    for (std::uint64_t pages = 1; pages <= left[i]; pages *= 2)
      if ((sizes & pages * 4096) != 0 && (first + i) % pages == 0 && frames[i] % pages == 0) best = pages;
    i += best;
  }
  return count;
}

}  // namespace

TEST_CASE("entries of a page table: the greatest that fit, as when they are written one by one", "[dma_map]") {
  std::mt19937_64 random(11);
  int fewer = 0;
  for (int n = 0; n < 400; ++n) {
    const Case c = random_case(random);
    const DmaMap map(c.law, c.extents, Bytes(0), Bytes(c.frames.size() * 4096));
    // Page numbers as far from the frames' as makes the alignment anything from none to all.
    const std::uint64_t first =
        n % 3 == 0 ? random() % (1u << 22)
                   : (c.frames[0] & (page_1g / 4096 - 1)) + (std::uint64_t{1} << 30) + (n % 3 == 1 ? 0 : std::uint64_t{1} << random() % 20);
    for (const std::uint64_t sizes :
         {page_4k, page_4k | page_2m, page_4k | page_2m | page_1g, page_4k | std::uint64_t{1} << 16 | page_2m, ~std::uint64_t{0} << 12}) {
      const std::uint64_t expected = leaves(c.frames, first, sizes);
      REQUIRE(map.count_leaves(first, sizes) == expected);
      fewer += expected < c.frames.size();
    }
  }
  REQUIRE(fewer > 300);
}

TEST_CASE("each page knows its address and where its run begins", "[dma_map]") {
  std::mt19937_64 random(12);
  for (int n = 0; n < 200; ++n) {
    const Case c = random_case(random);
    const DmaMap map(c.law, c.extents, Bytes(0), Bytes(c.frames.size() * 4096));
    for (int k = 0; k < 50; ++k) {
      const std::uint64_t page = random() % c.frames.size();
      std::uint64_t start = page;
      while (start > 0 && c.frames[start - 1] + 1 == c.frames[start]) --start;
      REQUIRE(map.page(page).raw == c.frames[page] * 4096);
      REQUIRE(map.run_start(page) == start);
    }
  }
}

TEST_CASE("runs that begin among some of the pages, and how far each goes on", "[dma_map]") {
  std::mt19937_64 random(13);
  for (int n = 0; n < 200; ++n) {
    const Case c = random_case(random);
    const DmaMap map(c.law, c.extents, Bytes(0), Bytes(c.frames.size() * 4096));
    std::vector<std::uint64_t> begun{0};  // on the pages before
    for (std::size_t i = 0; i < c.frames.size(); ++i) begun.push_back(begun.back() + (i == 0 || c.frames[i] != c.frames[i - 1] + 1));
    for (int k = 0; k < 50; ++k) {
      std::uint64_t first = random() % (c.frames.size() + 1), end = random() % (c.frames.size() + 1);
      if (first > end) std::swap(first, end);
      REQUIRE(map.count_starts(first, end) == begun[end] - begun[first]);
      if (first == c.frames.size()) continue;
      std::uint64_t last = first;
      while (last + 1 < c.frames.size() && c.frames[last + 1] == c.frames[last] + 1) ++last;
      REQUIRE(map.run_from(first) == DmaRun{Pa(c.frames[first] * 4096), page_bytes * (last - first + 1)});
    }
    CHECK(map.contiguous() == (begun.back() == 1));
  }
}

TEST_CASE("whole segments that lie contiguous", "[frame_law]") {
  std::mt19937_64 random(13);
  for (int n = 0; n < 300; ++n) {
    const FrameLaw law(random(), n % 2 ? 200.0 : 400.0);
    const FrameExtent extent{random() % 5000, 1 + random() % 5000, n % 3 ? Layout::pages : Layout::segments};
    std::uint64_t expected = 0;
    for (std::uint64_t segment = 0; segment < 20; ++segment) {
      if (segment * 512 < extent.first || (segment + 1) * 512 > extent.end()) continue;
      bool whole = true;
      for (std::uint64_t i = 1; i < 512; ++i) {
        const std::uint64_t at = segment * 512 - extent.first + i;
        whole = whole && law.address(extent, at) == law.address(extent, at - 1) + page_bytes;
      }
      expected += whole;
    }
    REQUIRE(law.count_whole_segments(extent) == expected);
  }
}

// Does the law that places frames give every number a frame of its own, and do its closed counts agree with page-by-page truth?
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <vector>

#include "base/dma_map.h"
#include "base/frame_law.h"

using namespace mtsim;

namespace {

/// Physical page numbers, one for each page of the extent.
std::vector<std::uint64_t> list_frames(const FrameLaw& law, const FrameExtent& extent) {
  std::vector<std::uint64_t> out;
  for (std::uint64_t i = 0; i < extent.count; ++i) out.push_back(law.address(extent, i).raw / 4096);
  return out;
}

std::uint64_t runs_in(const std::vector<std::uint64_t>& frames, std::uint64_t limit = ~std::uint64_t{0}) {
  std::uint64_t runs = 0, length = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const bool goes_on = i > 0 && frames[i] == frames[i - 1] + 1 && length < limit;
    length = goes_on ? length + 1 : 1;
    if (!goes_on) ++runs;
  }
  return runs;
}

constexpr std::uint64_t two_regions = 2 * 16384;

}  // namespace

TEST_CASE("every frame number of a region has a frame of its own in that region", "[frame_law]") {
  for (const double mean : {1.0, 1.3, 2.0, 7.0, 40.0, 100.0, 300.0, 512.0})
    for (const std::uint64_t seed : {1u, 2u, 77u})
      for (const Layout layout : {Layout::pages, Layout::segments, Layout::linear}) {
        const FrameLaw law(seed, mean);
        std::set<std::uint64_t> seen;
        const auto frames = list_frames(law, {16384, two_regions, layout});
        for (std::size_t i = 0; i < frames.size(); ++i) {
          seen.insert(frames[i]);
          REQUIRE((frames[i] - 0x100000) / 16384 == (16384 + i) / 16384);
        }
        REQUIRE(seen.size() == two_regions);
      }
}

TEST_CASE("pages and 2 MiB segments of one number lie in the same 2 MiB of memory", "[frame_law]") {
  const FrameLaw law(5, 3.0);
  for (std::uint64_t segment = 0; segment < 64; ++segment) {
    const auto base = law.address({segment * 512, 512, Layout::segments}, 0).raw;
    REQUIRE(base % (2u << 20) == 0);
    for (const std::uint64_t frame : list_frames(law, {segment * 512, 512, Layout::pages})) REQUIRE(frame / 512 == base / (2u << 20));
  }
}

TEST_CASE("runs and their count are those that a walk over the pages finds", "[frame_law]") {
  std::mt19937_64 random(3);
  for (const double mean : {1.0, 1.5, 3.0, 20.0, 90.0, 200.0, 600.0})
    for (int n = 0; n < 60; ++n) {
      const FrameLaw law(random(), mean);
      const Layout layout = Layout(random() % 3);
      const FrameExtent extent{random() % 20000, 1 + random() % 3000, layout};
      const auto frames = list_frames(law, extent);
      REQUIRE(law.count_runs(extent) == runs_in(frames));
      std::uint64_t first = 0;
      for (std::uint64_t i = 0; i < extent.count; ++i) {
        if (i > 0 && frames[i] != frames[i - 1] + 1) first = i;
        const PageSpan run = law.run(extent, i);
        REQUIRE(run.first == first);
        REQUIRE((run.end == extent.count || frames[run.end] != frames[run.end - 1] + 1));
        REQUIRE(run.end > i);
      }
    }
}

TEST_CASE("the mean run length is the one asked for", "[frame_law]") {
  const FrameExtent extent{0, 1 << 22, Layout::pages};
  REQUIRE(FrameLaw(1, 1.0).count_runs(extent) == 1u << 22);
  for (const double mean : {1.0, 1.25, 2.0, 2.4, 6.0, 14.0, 50.0, 150.0, 400.0})
    REQUIRE(double(extent.count) / double(FrameLaw(9, mean).count_runs(extent)) == Approx(mean).epsilon(0.02));
  REQUIRE(FrameLaw(1, 512.0).count_runs(extent) == 1);
}

TEST_CASE("a map of several extents answers as a list of pages would", "[dma_map]") {
  std::mt19937_64 random(11);
  for (int n = 0; n < 150; ++n) {
    const FrameLaw law(random(), n % 3 == 0 ? 1.0 : n % 3 == 1 ? 12.0 : 512.0);
    std::vector<FrameExtent> extents;
    std::vector<std::uint64_t> frames;
    std::uint64_t next = random() % 2000;
    for (std::uint64_t k = 1 + random() % 6; k > 0; --k) {
      const FrameExtent extent{next, 1 + random() % 900, Layout(random() % 3)};
      extents.push_back(extent);
      for (const std::uint64_t frame : list_frames(law, extent)) frames.push_back(frame);
      next = random() % 3 == 0 ? random() % 9000 : extent.end();  // now and then the extents join
    }
    const std::uint64_t lead = random() % 4096, cut = random() % 4096;
    const std::uint64_t length = frames.size() * 4096 - lead - (frames.size() > 1 ? cut : 0);
    const DmaMap map(law, extents, Bytes(lead), Bytes(length));
    REQUIRE(map.count_runs() == runs_in(frames));
    for (const std::uint64_t limit : {1u, 3u, 100u, 512u, 700u}) REQUIRE(map.count_runs(limit) == runs_in(frames, limit));
    for (int k = 0; k < 100; ++k) {
      const std::uint64_t offset = random() % length;
      std::uint64_t page = (lead + offset) / 4096, end = page + 1;
      while (end < frames.size() && frames[end] == frames[end - 1] + 1) ++end;
      const DmaRun run = map.at(Bytes(offset));
      REQUIRE(run.start.raw == frames[page] * 4096 + (lead + offset) % 4096);
      REQUIRE(run.length.raw == std::min(end * 4096 - lead, length) - offset);
    }
  }
}

TEST_CASE("blocks of a map begin on multiples of the I/O virtual address", "[dma_map]") {
  const FrameLaw law(1, 512.0);
  const std::uint64_t memory = 0x100000000;
  const DmaMap map(law, {{3, 9, Layout::linear}}, Bytes(100), Bytes(8 * 4096));
  REQUIRE(map.block(0, KiB(4), Iova(0x7000 + 100)).raw == memory + 3 * 4096);
  REQUIRE(map.block(8, KiB(4), Iova(0x7000 + 100)).raw == memory + 11 * 4096);
  REQUIRE(map.block(0, KiB(16), Iova(0x7000 + 100)).raw == memory);
  REQUIRE(map.block(2, KiB(16), Iova(0x7000 + 100)).raw == memory + 8 * 4096);
}

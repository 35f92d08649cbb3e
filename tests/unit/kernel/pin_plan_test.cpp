// Are the counts of a registration those of the closed formulas, and is the table's page size the greatest that maps the pages right?
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "host/address_space.h"
#include "kernel/pin_plan.h"

using namespace mtsim;
using verbs::PageKind;

namespace {

struct Plan : PinPlan {
  FaultCounts faults;
};

/// Maps, pins and counts a buffer that nobody has touched yet, from byte `off` of it on.
Plan plan_for(AddressSpace& space, const verbs::MmapRequest& request, Bytes off, Bytes length, const PinRules& rules = {},
              Bytes iova_shift = Bytes(0)) {
  const Va va = space.mmap(request).address + off;
  const PinReply reply = space.pin(va, length, true);
  REQUIRE(reply.error == 0);
  Plan plan{plan_pinning(*reply.range.map, reply.counts, rules), reply.faults};
  plan_table(plan, *reply.range.map, Iova(va.raw + iova_shift.raw), rules);
  return plan;
}

verbs::MmapRequest buffer(Bytes length, PageKind page, Bytes align = Bytes(0), Bytes at = Bytes(0)) {
  verbs::MmapRequest request;
  request.length = length;
  request.page = page;
  request.align = align;
  request.at = at;
  return request;
}

/// Whether a table of blocks of `size` bytes can map the pages: page by page, each at its place in one aligned piece of memory a block.
bool fits(const std::vector<std::uint64_t>& frames, std::uint64_t first_iova_page, std::uint64_t size) {
  const std::uint64_t pages = size / 4096;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const std::uint64_t iova = first_iova_page + i;
    if (iova % pages != frames[i] % pages) return false;
    if (i > 0 && iova % pages != 0 && frames[i] != frames[i - 1] + 1) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("one GiB of scattered 4 KiB pages", "[pin_plan]") {
  FramePool pool({GiB(4), 1.0, 1});
  AddressSpace space(pool);
  const Plan plan = plan_for(space, buffer(GiB(1), PageKind::base_4k, MiB(2)), Bytes(0), GiB(1));
  REQUIRE(plan.pages == Pages(262144));
  REQUIRE(plan.batches == 512);
  REQUIRE(plan.grabs == 262144);
  REQUIRE(plan.folios == 262144);
  REQUIRE(plan.faults.pages_4k == 262144);
  REQUIRE(plan.faults.zeroed == GiB(1));
  REQUIRE(plan.sg_entries == 262144);
  REQUIRE(plan.page_size == KiB(4));
  REQUIRE(plan.blocks == 262144);
}

TEST_CASE("one GiB of transparent huge pages", "[pin_plan]") {
  FramePool pool({GiB(4), 1.0, 1});
  AddressSpace space(pool);
  const Plan plan = plan_for(space, buffer(GiB(1), PageKind::thp), Bytes(0), GiB(1));
  REQUIRE(plan.pages == Pages(262144));
  REQUIRE(plan.batches == 512);
  REQUIRE(plan.grabs == 512);
  REQUIRE(plan.faults.pages_2m == 512);
  REQUIRE(plan.sg_entries == 512);
  REQUIRE(plan.page_size == MiB(2));
  REQUIRE(plan.blocks == 512);

  SECTION("taken one page off, each huge page lies in two batches") {
    const PinPlan off = plan_for(space, buffer(GiB(1) + MiB(2), PageKind::thp), KiB(4), GiB(1));
    REQUIRE(off.batches == 512);
    REQUIRE(off.folios == 513);
    REQUIRE(off.grabs == 1024);
    REQUIRE(off.page_size == MiB(2));
    REQUIRE(off.blocks == 513);
  }
  SECTION("an I/O virtual address one page off forces 4 KiB entries") {
    const PinPlan shifted = plan_for(space, buffer(GiB(1), PageKind::thp), Bytes(0), GiB(1), {}, KiB(4));
    REQUIRE(shifted.page_size == KiB(4));
    REQUIRE(shifted.blocks == 262144);
  }
  SECTION("where nobody chooses, entries are 4 KiB") {
    PinRules rules;
    rules.choice = PageSizeChoice::none;
    const PinPlan fixed = plan_for(space, buffer(GiB(1), PageKind::thp), Bytes(0), GiB(1), rules);
    REQUIRE(fixed.page_size == KiB(4));
    REQUIRE(fixed.blocks == 262144);
    REQUIRE(fixed.sg_entries == 512);
  }
}

TEST_CASE("one misaligned 4 KiB run drops the whole MR to 4 KiB", "[page_size]") {
  const FrameLaw contiguous;
  const std::vector<FrameExtent> good{{0, 512 * 4, Layout::linear}};
  const std::vector<FrameExtent> bad{{0, 700, Layout::linear}, {9001, 1, Layout::linear}, {701, 512 * 4 - 701, Layout::linear}};
  const Iova iova(std::uint64_t{1} << 40);
  REQUIRE(best_page_size(DmaMap(contiguous, good, Bytes(0), MiB(8)), iova, mlx5_page_sizes) == MiB(8));
  REQUIRE(best_page_size(DmaMap(contiguous, bad, Bytes(0), MiB(8)), iova, mlx5_page_sizes) == KiB(4));
}

TEST_CASE("the page size is the greatest that maps every page right, or the smallest that holds all of it", "[page_size]") {
  std::mt19937_64 random(23);
  int greater_than_a_page = 0;
  for (int n = 0; n < 3000; ++n) {
    const FrameLaw law(random(), n % 2 ? 1.0 : 30.0);
    std::vector<FrameExtent> extents;
    std::vector<std::uint64_t> frames;
    for (std::uint64_t k = 1 + random() % 4; k > 0; --k) {
      const std::uint64_t unit = std::uint64_t{1} << random() % 6;
      const FrameExtent extent{random() % 500 * unit, (1 + random() % 8) * unit, n % 3 ? Layout::linear : Layout::pages};
      extents.push_back(extent);
      for (std::uint64_t i = 0; i < extent.count; ++i) frames.push_back(law.address(extent, i).raw / 4096);
    }
    const std::uint64_t lead = random() % 4096, length = frames.size() * 4096 - lead;
    // Half the time the first pages agree, so that something is to be found.
    const std::uint64_t iova_page = n % 4 < 2 ? 0x10000 + frames[0] % 64 : 0x10000 + random() % 64;
    const PageSizes supported = n % 5 == 0 ? (PageSizes{1} << 12 | PageSizes{1} << 21) : mlx5_page_sizes;
    std::uint64_t expected = 0;
    for (unsigned k = 12; k <= 31; ++k) {
      const std::uint64_t size = std::uint64_t{1} << k;
      if ((supported & size) == 0) continue;
      if (!fits(frames, iova_page, size)) break;
      expected = size;
      const std::uint64_t first = iova_page * 4096 + lead;
      if (first / size == (first + length - 1) / size) break;
    }
    const Bytes got = best_page_size(DmaMap(law, extents, Bytes(lead), Bytes(length)), Iova(iova_page * 4096 + lead), supported);
    REQUIRE(got.raw == expected);
    greater_than_a_page += got.raw > 4096;
  }
  REQUIRE(greater_than_a_page > 500);
}

TEST_CASE("no page size fits when I/O virtual and physical address differ within a page, or there is nothing to map", "[page_size]") {
  const DmaMap map(FrameLaw(), {{5, 1, Layout::linear}}, Bytes(8), Bytes(100));
  REQUIRE(best_page_size(map, Iova(0x1000 + 4), mlx5_page_sizes) == Bytes(0));
  REQUIRE(best_page_size(map, Iova(0x1000 + 8), mlx5_page_sizes) == KiB(4));
  REQUIRE(best_page_size(DmaMap(FrameLaw(), {}, Bytes(0), Bytes(0)), Iova(0), mlx5_page_sizes) == Bytes(0));
  REQUIRE(best_page_size(map, Iova(~std::uint64_t{0} - 50), mlx5_page_sizes) == Bytes(0));
}

TEST_CASE("scatter entries end at the segment limit", "[sg_table]") {
  const DmaMap map(FrameLaw(), {{0, 5u << 18, Layout::linear}}, Bytes(0), GiB(5));
  REQUIRE(count_sg_entries(map, mlx5_max_segment) == 3);
  REQUIRE(count_sg_entries(map, KiB(64) + Bytes(5)) == 5u << 14);
  std::vector<std::uint64_t> lengths;
  for_each_sg_entry(map, mlx5_max_segment, [&](const DmaRun& entry) {
    lengths.push_back(entry.length.raw >> 30);
    return true;
  });
  REQUIRE(lengths == std::vector<std::uint64_t>{2, 2, 1});
}

TEST_CASE("100 GiB in 2 MiB pages merge from 26,214,400 pages to 51,200 entries", "[sg_table]") {
  FramePool pool({GiB(256), 1.0, 1});
  AddressSpace space(pool);
  const Plan plan = plan_for(space, buffer(GiB(100), PageKind::huge_2m), Bytes(0), GiB(100));
  REQUIRE(plan.pages == Pages(26214400));
  REQUIRE(plan.sg_entries == 51200);
}

TEST_CASE("a few bytes across a page boundary are two pages", "[pin_plan]") {
  FramePool pool({GiB(1), 1.0, 1});
  AddressSpace space(pool);
  const Plan plan = plan_for(space, buffer(KiB(64), PageKind::base_4k), Bytes(4090), Bytes(10));
  REQUIRE(plan.pages == Pages(2));
  REQUIRE(plan.batches == 1);
  REQUIRE(plan.sg_entries == 2);
  const PinPlan nothing = plan_for(space, buffer(KiB(64), PageKind::base_4k), Bytes(100), Bytes(0));
  REQUIRE(nothing.pages == Pages(1));
  REQUIRE(nothing.page_size == Bytes(0));
}

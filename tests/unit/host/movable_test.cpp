// ZONE_MOVABLE: does memory of programs come from there first, does a pin move it out, and does nothing else land or stay there?
#include <catch2/catch.hpp>
#include <random>

#include "host/address_space.h"

using namespace mtsim;
using verbs::PageKind;

namespace {

constexpr std::uint64_t zone_pages = MiB(128) / page_bytes;

FramePoolParams memory(Bytes size = MiB(512)) {
  FramePoolParams p = defaults<FramePoolParams>();
  p.size = size;
  p.movable = MiB(128);
  return p;
}

verbs::MmapRequest buffer(Bytes length, PageKind page = PageKind::base_4k) {
  verbs::MmapRequest request;
  request.length = length;
  request.page = page;
  return request;
}

/// Frames of a range that lie in the zone, one by one.
std::uint64_t in_zone(const AddressSpace& space, Va at, Bytes length) {
  std::uint64_t pages = 0;
  const std::uint64_t first = at.raw / page_bytes.raw, end = first + length / page_bytes;
  for (std::uint64_t page = first; page < end; ++page)
    if (const auto part = space.page_table().part_from(page, page + 1)) pages += part->frames.first < zone_pages;
  return pages;
}

}  // namespace

TEST_CASE("programs get movable memory first, drivers never", "[movable]") {
  FramePool pool(memory());
  AddressSpace space(pool);
  const PageKind kind = GENERATE(PageKind::base_4k, PageKind::thp, PageKind::huge_2m);
  const Va first = space.mmap(buffer(MiB(64), kind)).address, second = space.mmap(buffer(MiB(96), kind)).address;
  REQUIRE(space.fault_in(first, MiB(64), true).error == 0);
  CHECK(in_zone(space, first, MiB(64)) == MiB(64) / page_bytes);
  REQUIRE(space.fault_in(second, MiB(96), true).error == 0);
  CHECK(in_zone(space, second, MiB(96)) == MiB(64) / page_bytes);
  CHECK(pool.free() == Pages(MiB(512 - 160) / page_bytes));
  std::uint64_t driver = 0;
  while (const auto extent = pool.allocate_contiguous(MiB(1))) {
    CHECK(extent->first >= zone_pages);
    driver += extent->count;
  }
  CHECK(driver == MiB(512 - 128 - 32) / page_bytes);
}

TEST_CASE("a pin moves out what is movable, once, and takes absent pages from elsewhere", "[movable]") {
  FramePool pool(memory());
  AddressSpace space(pool);
  const PageKind kind = GENERATE(PageKind::base_4k, PageKind::thp, PageKind::huge_2m);
  const Va at = space.mmap(buffer(MiB(64), kind)).address;
  REQUIRE(space.fault_in(at, MiB(32), true).error == 0);
  const Pages free = pool.free();
  const PinReply pinned = space.pin(at, MiB(64), true);
  REQUIRE(pinned.error == 0);
  CHECK(pinned.reclaimed.migrated == MiB(32) / page_bytes);
  CHECK(pinned.faults.zeroed == MiB(32));
  CHECK(in_zone(space, at, MiB(64)) == 0);
  // The frames that were moved from are free again: only the second half is new.
  CHECK(pool.free() + Pages(MiB(32) / page_bytes) == free);
  for (std::uint64_t page = 0; page < MiB(64) / page_bytes; page += 37)
    CHECK(pinned.range.map->page(page) == space.page_table().lookup(at + page_bytes * page)->pa);
  const PinReply again = space.pin(at, MiB(64), false);
  CHECK(again.reclaimed.migrated == 0);
  space.unpin(again.range);
  space.unpin(pinned.range);
  REQUIRE(space.munmap(at, MiB(64)).error == 0);
  CHECK(pool.free() == pool.size());
}

TEST_CASE("a huge page that is pinned in part moves whole", "[movable]") {
  FramePool pool(memory());
  AddressSpace space(pool);
  const Va at = space.mmap(buffer(MiB(4), PageKind::huge_2m)).address;
  REQUIRE(space.fault_in(at, MiB(4), true).error == 0);
  const PinReply pinned = space.pin(at + KiB(64), KiB(4), true);
  REQUIRE(pinned.error == 0);
  CHECK(pinned.reclaimed.migrated == 512);
  CHECK(in_zone(space, at, MiB(2)) == 0);
  CHECK(in_zone(space, at + MiB(2), MiB(2)) == 512);
}

TEST_CASE("no room outside of the zone: ENOMEM, and nothing is pinned", "[movable]") {
  FramePool pool(memory(MiB(192)));
  AddressSpace space(pool);
  const Va at = space.mmap(buffer(MiB(96))).address;
  REQUIRE(space.fault_in(at, MiB(96), true).error == 0);
  const PinReply pinned = space.pin(at, MiB(96), true);
  CHECK(pinned.error == ENOMEM);
  CHECK(pinned.reclaimed.migrated == MiB(64) / page_bytes);
  CHECK(pool.free() == Pages(MiB(96) / page_bytes));
  REQUIRE(space.munmap(at, MiB(96)).error == 0);
  CHECK(pool.free() == pool.size());
}

TEST_CASE("random calls: nothing that is pinned lies in the zone, and no frame is lost", "[movable]") {
  std::mt19937_64 random(GENERATE(1, 2, 3, 4));
  FramePool pool(memory(MiB(256)));
  AddressSpace space(pool);
  struct Buffer {
    Va at;
    std::vector<PinnedRange> pins;
  };
  std::vector<Buffer> buffers;
  const Bytes length = MiB(8);
  for (int step = 0; step < 300; ++step) {
    const auto within = [&] {
      const Bytes off = page_bytes * (random() % 2000);
      return std::pair{off, page_bytes * (1 + random() % (length / page_bytes - off / page_bytes))};
    };
    if (buffers.size() < 6 || random() % 8 == 0) {
      const PageKind kind = std::array{PageKind::base_4k, PageKind::thp, PageKind::huge_2m}[random() % 3];
      const MapReply made = space.mmap(buffer(length, kind));
      REQUIRE(made.error == 0);
      buffers.push_back({made.address, {}});
      continue;
    }
    const std::size_t chosen = random() % buffers.size();
    Buffer& b = buffers[chosen];
    const auto [off, part] = within();
    switch (random() % 5) {
      case 0:
        space.fault_in(b.at + off, part, random() % 2 == 0);
        break;
      case 1:
      case 2: {
        const PinReply pinned = space.pin(b.at + off, part, true);
        if (pinned.error != 0) break;
        CHECK(in_zone(space, b.at + off, part) == 0);
        b.pins.push_back(pinned.range);
        break;
      }
      case 3:
        if (b.pins.empty()) break;
        space.unpin(b.pins.back());
        b.pins.pop_back();
        break;
      default:
        REQUIRE(space.munmap(b.at, length).error == 0);
        for (const PinnedRange& pin : b.pins) space.unpin(pin);
        buffers.erase(buffers.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
  }
  for (const Buffer& b : buffers) {
    REQUIRE(space.munmap(b.at, length).error == 0);
    for (const PinnedRange& pin : b.pins) space.unpin(pin);
  }
  CHECK(pool.free() == pool.size());
}

TEST_CASE("a movable part that is no whole number of regions, or leaves nothing, is refused", "[movable]") {
  FramePoolParams p = memory();
  p.movable = MiB(100);
  CHECK_THROWS_WITH(FramePool(p),
                    "host.memory.movable: 100MiB is not a whole number of 64MiB regions that leaves some of the 512MiB of "
                    "host.memory.size");
  p.movable = p.size;
  CHECK_THROWS(FramePool(p));
}

// How many dependent reads does each table shape cost on a cold look-up (nothing cached), how many entries does it write, and when is its
// table full?
#include <catch2/catch.hpp>
#include <set>
#include <vector>

#include "support/cold_look_up.h"

using namespace mtsim;
using namespace mtsim::test;
using translate::Step;

namespace {

std::unique_ptr<translate::Architecture> make(const std::string& name, std::uint64_t entries = 0,
                                              translate::Allocation allocation = translate::Allocation::first_fit) {
  translate::ArchitectureOptions options = architecture_options(64, entries);
  options.allocation = allocation;
  return translate::Architectures::make(name, options);
}

/// A region of `pages` pages, in a row or with a gap after each run of `run`.
translate::Region region(std::uint32_t index, std::uint64_t pages, std::uint64_t run) {
  translate::Region r;
  r.grant = {Key(index, 0), 1, verbs::Access::local_write, Iova(0x4000'0000), page_bytes * pages, true};
  std::vector<FrameExtent> extents;
  for (std::uint64_t done = 0; done < pages; done += run) {
    FrameExtent extent;
    extent.first = (1u << 20) + done * 2;
    extent.count = std::min(run, pages - done);
    extents.push_back(extent);
  }
  r.map = std::make_shared<DmaMap>(FrameLaw{}, extents, Bytes{}, page_bytes * pages);
  return r;
}

/// Looks up the first, the last and some pages between; all take as many reads. Checks where they end.
std::size_t reads(const translate::Architecture& architecture, const translate::Region& r) {
  std::set<std::size_t> counts;
  const std::uint64_t pages = r.grant.length / page_bytes;
  for (const std::uint64_t page : {std::uint64_t{0}, pages / 3, pages / 2, pages - 1}) {
    const LookUp got = cold(architecture, r.grant.key, r.grant.start + page_bytes * page + Bytes(5));
    REQUIRE(got.end.kind == Step::Kind::done);
    CHECK(got.end.address == r.map->at(page_bytes * page).start + Bytes(5));
    CHECK(got.end.length == page_bytes - Bytes(5));
    counts.insert(got.reads.size());
  }
  CHECK(counts.size() == 1);
  return *counts.begin();
}

}  // namespace

TEST_CASE("radix: the context and one line a level; levels by size: 2, 512, 2^18, 2^27 blocks", "[shapes]") {
  const auto [pages, expected, entries] =
      GENERATE(table<std::uint64_t, std::size_t, std::uint64_t>({{1, 1, 0},
                                                                 {2, 1, 0},
                                                                 {3, 2, 3},
                                                                 {512, 2, 512},
                                                                 {513, 3, 513 + 2},
                                                                 {1u << 18, 3, (1u << 18) + 512},
                                                                 {(1u << 18) + 1, 4, (1u << 18) + 1 + 513 + 2}}));
  const auto architecture = make("radix");
  const translate::Region r = region(7, pages, std::max<std::uint64_t>(1, pages / 4));
  translate::TableWrites writes;
  REQUIRE(add(*architecture, r, &writes));
  CHECK(writes.entries == entries);
  CHECK(reads(*architecture, r) == expected);
}

TEST_CASE("pble: contiguous regions need none, others a row of one chunk, and leaves under a root where that has no room", "[shapes]") {
  const auto [pages, run, expected, entries] = GENERATE(table<std::uint64_t, std::uint64_t, std::size_t, std::uint64_t>(
      {{1000, 1000, 1, 0}, {2, 1, 2, 2}, {1u << 18, 1u << 17, 2, 1u << 18}, {(1u << 18) + 1, 1u << 17, 3, (1u << 18) + 1 + 513}}));
  const auto architecture = make("pble");
  const translate::Region r = region(7, pages, run);
  translate::TableWrites writes;
  REQUIRE(add(*architecture, r, &writes));
  CHECK(writes.entries == entries);
  CHECK(reads(*architecture, r) == expected);
}

TEST_CASE("pble: a fragmented chunk makes a region fall to the second level, and below 513 entries fail", "[shapes]") {
  // Two chunks' worth, filled with rows of 1,024, of which every other one goes again.
  const auto architecture = make("pble", 2u << 18);
  for (std::uint32_t i = 0; i < 512; ++i) REQUIRE(add(*architecture, region(1 + i, 1024, 512)));
  CHECK_FALSE(add(*architecture, region(600, 2, 1)));
  for (std::uint32_t i = 0; i < 512; i += 2) drop(*architecture, Key(1 + i, 0));
  const translate::Region row = region(601, 1024, 512), leaves = region(602, 1025, 512);
  REQUIRE(add(*architecture, row));
  CHECK(reads(*architecture, row) == 2);
  REQUIRE(add(*architecture, leaves));
  CHECK(reads(*architecture, leaves) == 3);
  drop(*architecture, leaves.grant.key);
  REQUIRE(add(*architecture, leaves));
}

TEST_CASE("tables in the device are not read over PCIe, and nothing of them is written to host memory", "[shapes]") {
  const auto architecture = make("device", 1000);
  const translate::Region r = region(7, 1000, 3);
  translate::TableWrites writes;
  REQUIRE(add(*architecture, r, &writes));
  CHECK(writes.in_device);
  CHECK(reads(*architecture, r) == 0);
  CHECK_FALSE(add(*architecture, region(8, 1, 1)));
  drop(*architecture, r.grant.key);
  CHECK(cold(*architecture, r.grant.key, r.grant.start).end.kind == Step::Kind::judge);
  CHECK(add(*architecture, region(8, 1000, 1)));
}

TEST_CASE("buddy: powers of two of 8 entries; fragmentation refuses what would fit", "[shapes]") {
  const bool buddy = GENERATE(true, false);
  const auto architecture = make("flat_mtt", 64, buddy ? translate::Allocation::buddy : translate::Allocation::first_fit);
  // 9 entries take 16 of a buddy table.
  for (std::uint32_t i = 0; i < 4; ++i) REQUIRE(add(*architecture, region(1 + i, 9, 1)));
  CHECK_FALSE(add(*architecture, region(5, 9, 1)));
  // Half of the table is free, but not in one piece.
  drop(*architecture, Key(1, 0));
  drop(*architecture, Key(3, 0));
  CHECK_FALSE(add(*architecture, region(5, 32, 1)));
  CHECK(add(*architecture, region(5, 16, 1)));
  drop(*architecture, Key(5, 0));
  // Freed neighbours join again.
  drop(*architecture, Key(2, 0));
  CHECK(add(*architecture, region(6, 32, 1)));
  CHECK(reads(*architecture, region(6, 32, 1)) == 2);
}

TEST_CASE("no more can be registered than the table has entries for: 2^log_num_mtt x 2^log_mtts_per_seg pages on mlx4", "[shapes]") {
  const auto architecture = make("flat_mtt", 1u << 20, translate::Allocation::buddy);
  CHECK_FALSE(add(*architecture, region(1, (1u << 20) + 1, 1u << 20)));
  REQUIRE(add(*architecture, region(1, 1u << 20, 1u << 20)));
  CHECK_FALSE(add(*architecture, region(2, 1, 1)));
  drop(*architecture, Key(1, 0));
  // In larger blocks it takes less.
  translate::Region huge = region(3, 1u << 21, 1u << 21);
  huge.block = MiB(2);
  CHECK(add(*architecture, huge));
}

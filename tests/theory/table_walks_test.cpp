// Does each translation architecture read on a cold look-up (nothing cached) exactly what counting on paper gives? The counts here are made
// page by page.
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <vector>

#include "support/cold_look_up.h"
#include "support/random_regions.h"
#include "translate/prefix_count.h"

using namespace mtsim;
using namespace mtsim::test;
using translate::Step;

namespace {

std::uint64_t depth(std::uint64_t n, std::uint64_t base) {
  std::uint64_t levels = 0;
  for (std::uint64_t reach = 1; reach < n; reach *= base) ++levels;
  return levels;
}

}  // namespace

TEST_CASE("counts before a place are right between the places at which they are kept", "[architectures]") {
  std::mt19937_64 random(4);
  const std::uint64_t places = GENERATE(1u, 513u, 4096u, 4097u, 50000u), least = GENERATE(1u, 512u);
  std::vector<std::uint64_t> before{0};
  for (std::uint64_t i = 0; i < places; ++i) before.push_back(before.back() + random() % 2);
  std::uint64_t longest = 0;
  const auto count = [&](std::uint64_t first, std::uint64_t end) {
    longest = std::max(longest, end - first);
    return before[end] - before[first];
  };
  const translate::PrefixCount counted(places, least, count);
  CHECK(counted.total() == before.back());
  longest = 0;
  for (std::uint64_t i = 0; i < places; ++i) REQUIRE(counted.before(i, count) == before[i]);
  CHECK(longest < (places + 4095) / 4096 + least);
}

TEST_CASE("inline: one read while the context holds all addresses, two beyond", "[architectures]") {
  auto options = architecture_options();
  options.inline_entries = GENERATE(1, 2, 4, 6);
  const auto architecture = translate::Architectures::make("inline", options);
  std::mt19937_64 random(6);
  for (std::uint32_t round = 1; round <= 60; ++round) {
    translate::Region r = random_region(random, round, 12, false);
    translate::TableWrites writes;
    REQUIRE(add(*architecture, r, &writes));
    const std::uint64_t blocks = frames_of(r).size();
    CHECK(cold(*architecture, r.grant.key, r.grant.start).reads.size() == (blocks <= options.inline_entries ? 1 : 2));
    CHECK(writes.entries == (blocks <= options.inline_entries ? 0 : blocks));
  }
}

TEST_CASE("range: 1 + ceil(log_B n) reads for n runs, B runs a line; the lines of each level are as few as can be", "[architectures]") {
  const std::uint64_t line = GENERATE(32, 64, 128, 512), fan_out = line / 16;
  const auto architecture = translate::Architectures::make("range", architecture_options(line));
  std::mt19937_64 random(7);
  for (std::uint32_t round = 1; round <= 40; ++round) {
    const translate::Region r = random_region(random, round, random() % 3 ? 5000 : 3);
    translate::TableWrites writes;
    REQUIRE(add(*architecture, r, &writes));
    const auto frames = frames_of(r);
    std::uint64_t runs = 1;
    for (std::size_t i = 1; i < frames.size(); ++i) runs += frames[i] != frames[i - 1] + 1;
    const std::uint64_t levels = depth(runs, fan_out);
    std::vector<std::set<std::uint64_t>> lines(levels);
    for (std::uint64_t i = 0; i < frames.size(); ++i) {
      const LookUp got = cold(*architecture, r.grant.key, address_in(r, i));
      REQUIRE(got.reads.size() == 1 + levels);
      for (std::size_t level = 0; level < levels; ++level) lines[level].insert(got.reads[1 + level].tag);
      // What it gives goes on to the end of the run.
      std::uint64_t end = i + 1;
      while (end < frames.size() && frames[end] == frames[end - 1] + 1) ++end;
      const std::uint64_t rest = std::min((r.grant.start.raw / 4096 + end) * 4096, r.grant.start.raw + r.grant.length.raw);
      REQUIRE(got.end.length.raw == rest - address_in(r, i).raw);
    }
    std::uint64_t entries = 0, of_level = runs;
    for (std::size_t level = levels; level-- != 0;) {
      entries += 2 * of_level;
      of_level = (of_level + fan_out - 1) / fan_out;
      CHECK(lines[level].size() == of_level);
    }
    CHECK(writes.entries == entries);
  }
}

TEST_CASE("range: a GiB of scattered pages has 262,144 runs and 9 levels of 4; in 2 MiB pages 512 and 5", "[architectures]") {
  const bool huge = GENERATE(false, true);
  translate::Region r;
  FrameExtent extent;
  extent.first = 512 * 512;
  extent.count = 1u << 18;
  extent.layout = huge ? Layout::segments : Layout::pages;
  r.grant = {Key(1, 0), 1, verbs::Access::local_write, Iova(GiB(4).raw), GiB(1), true};
  r.map = std::make_shared<DmaMap>(FrameLaw(3, 1), std::vector<FrameExtent>{extent}, Bytes(0), GiB(1));
  const auto architecture = translate::Architectures::make("range", architecture_options());
  REQUIRE(add(*architecture, r));
  CHECK(cold(*architecture, r.grant.key, r.grant.start + MiB(700)).reads.size() == 1 + (huge ? 5u : 9u));
}

TEST_CASE("mapped_icm: the map's line before the context and before the entry's line, four reads in all", "[architectures]") {
  auto options = architecture_options();
  options.icm_page = Bytes(GENERATE(4096, 65536));
  options.icm_line = Bytes(GENERATE(8, 64));
  const auto architecture = translate::Architectures::make("mapped_icm", options);
  std::mt19937_64 random(8);
  const std::uint64_t map = tables_start.raw + GiB(8).raw - (GiB(8).raw / options.icm_page.raw * 8 + 4095) / 4096 * 4096;
  for (std::uint32_t round = 1; round <= 40; ++round) {
    const translate::Region r = random_region(random, round, 3000);
    translate::TableWrites writes;
    REQUIRE(add(*architecture, r, &writes));
    const std::uint64_t page = random() % frames_of(r).size();
    const LookUp got = cold(*architecture, r.grant.key, address_in(r, page));
    REQUIRE(got.reads.size() == 4);
    const auto map_line = [&](Pa of) {
      return map + (of - tables_start).raw / options.icm_page.raw * 8 / options.icm_line.raw * options.icm_line.raw;
    };
    CHECK(got.reads[0].line_kind == 2);
    CHECK(got.reads[0].address.raw == map_line(got.reads[1].address));
    CHECK(got.reads[1].line_kind == 0);
    CHECK(got.reads[1].address == tables_start + Bytes(round * 64));
    CHECK(got.reads[2].line_kind == 2);
    CHECK(got.reads[2].address.raw == map_line(got.reads[3].address));
    CHECK(got.reads[3].line_kind == 1);
    CHECK(got.reads[3].address == writes.table + Bytes(page * 8 / 64 * 64));
    CHECK(got.reads[3].address.raw + 64 <= map);
  }
}

TEST_CASE("page_table: one line a level down to the leaf, which is the greatest that fits; tables only where leaves are not",
          "[architectures]") {
  const auto architecture = translate::Architectures::make("page_table", architecture_options());
  std::mt19937_64 random(9);
  std::size_t huge = 0;
  for (std::uint32_t round = 1; round <= 60; ++round) {
    translate::Region r = random_region(random, round, 6000);
    const bool mixed = round % 3 != 0;
    if (mixed) r.block_sizes = architecture->block_sizes();
    translate::TableWrites writes;
    REQUIRE(add(*architecture, r, &writes));
    const auto frames = frames_of(r);
    const std::uint64_t first = r.grant.start.raw / 4096, end = first + frames.size();
    std::uint64_t levels = 0;
    while (first >> 9 * levels != (end - 1) >> 9 * levels) ++levels;
    std::set<std::uint64_t> read_tables, expected_tables;
    for (std::uint64_t page = first; page < end; ++page) {
      const std::uint64_t area = page / 512 * 512;
      bool leaf = mixed && area >= first && area + 512 <= end && frames[area - first] % 512 == 0;
      for (std::uint64_t i = 1; leaf && i < 512; ++i) leaf = frames[area - first + i] == frames[area - first] + i;
      const LookUp got = cold(*architecture, r.grant.key, address_in(r, page - first));
      const std::uint64_t reads = levels - (leaf && levels > 0);
      REQUIRE(got.reads.size() == 1 + reads);
      for (std::size_t level = 0; level < reads; ++level) {
        const std::uint64_t height = levels - 1 - level, address = got.reads[1 + level].address.raw;
        read_tables.insert(address / 4096);
        expected_tables.insert(height << 56 | page >> 9 * (height + 1));
        REQUIRE(address % 4096 / 64 == (page >> 9 * height) % 512 / 8);
      }
      huge += leaf;
    }
    CHECK(read_tables.size() == expected_tables.size());
    CHECK(writes.entries == 512 * expected_tables.size());
  }
  CHECK(huge > 512 * 10);
}

TEST_CASE("page_table: a leaf of 1 GiB; blocks of one size; no more than four levels", "[architectures]") {
  const auto architecture = translate::Architectures::make("page_table", architecture_options());
  translate::Region r;
  FrameExtent extent;
  extent.first = 5u << 18;
  extent.count = 3u << 18;
  extent.layout = Layout::linear;
  r.grant = {Key(1, 0), 1, verbs::Access::local_write, Iova(GiB(6).raw), GiB(3), true};
  r.map = std::make_shared<DmaMap>(FrameLaw{}, std::vector<FrameExtent>{extent}, Bytes(0), GiB(3));
  const auto reads = [&](std::uint64_t block_sizes, Bytes block) {
    r.block_sizes = block_sizes;
    r.block = block;
    REQUIRE(add(*architecture, r));
    const LookUp got = cold(*architecture, r.grant.key, r.grant.start + GiB(1) + Bytes(77));
    CHECK(got.end.address == r.map->at(GiB(1) + Bytes(77)).start);
    return got.reads.size();
  };
  // Its addresses share a table of 512 GiB: three levels.
  CHECK(reads(architecture->block_sizes(), page_bytes) == 2);
  CHECK(reads(page_bytes.raw | MiB(2).raw, page_bytes) == 3);
  CHECK(reads(0, page_bytes) == 4);
  CHECK(reads(0, MiB(2)) == 3);
  CHECK(reads(0, GiB(1)) == 2);
  r.grant.start = Iova((std::uint64_t{1} << 48) - GiB(1).raw);
  CHECK_FALSE(add(*architecture, r));
}

TEST_CASE("physical: one read and no table where the device sees contiguous memory; anything else is refused", "[architectures]") {
  const auto architecture = translate::Architectures::make("physical", architecture_options());
  std::mt19937_64 random(10);
  std::size_t refused = 0;
  for (std::uint32_t round = 1; round <= 100; ++round) {
    const translate::Region r = random_region(random, round, round % 2 ? 4 : 40);
    const auto frames = frames_of(r);
    translate::TableWrites writes;
    if (frames.back() - frames.front() != frames.size() - 1) {
      CHECK_FALSE(add(*architecture, r));
      ++refused;
      continue;
    }
    REQUIRE(add(*architecture, r, &writes));
    CHECK(writes.entries == 0);
    const LookUp got = cold(*architecture, r.grant.key, r.grant.start);
    CHECK(got.reads.size() == 1);
    CHECK(got.end.address == r.map->at(Bytes(0)).start);
    CHECK(got.end.length == r.grant.length);
  }
  CHECK(refused > 10);
  CHECK(refused < 90);
}

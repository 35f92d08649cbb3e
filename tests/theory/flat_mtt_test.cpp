// How many table lines does a flat MTT make the NIC read, and what do its tables occupy?
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <vector>

#include "support/cold_look_up.h"

using namespace mtsim;
using test::cold;
using test::LookUp;
using translate::Step;

namespace {

constexpr Pa tables = test::tables_start;

std::unique_ptr<translate::Architecture> flat(std::uint64_t mtt_line = 64) {
  return translate::Architectures::make("flat_mtt", test::architecture_options(mtt_line));
}

/// A region of `length` bytes from `start` on over consecutive frames, committed.
translate::TableWrites add(translate::Architecture& architecture, Key key, Iova start, Bytes length, Bytes block) {
  translate::Region region;
  region.grant = {key, 1, verbs::Access::local_write, start, length, true};
  region.block = block;
  const std::uint64_t lead = start.raw % page_bytes.raw;
  // Frames follow each other, so aligned that blocks of addresses are blocks of memory.
  const std::uint64_t first = (1 << 20) + start.raw % block.raw / page_bytes.raw;
  const FrameExtent extent = [&] {
    FrameExtent e;
    e.first = first;
    e.count = pages_spanned(lead, length).raw;
    return e;
  }();
  region.map = std::make_shared<DmaMap>(FrameLaw{}, std::vector<FrameExtent>{extent}, Bytes(lead), length);
  translate::TableWrites writes;
  REQUIRE(test::add(architecture, region, &writes));
  return writes;
}

}  // namespace

TEST_CASE("a cold look-up is two dependent reads: the key's context, then the line that holds the entry", "[flat_mtt]") {
  const std::uint64_t line = GENERATE(8, 32, 64, 512);
  const auto architecture = flat(line);
  add(*architecture, Key(3, 1), Iova(0x10000), MiB(3), page_bytes);
  const auto writes = add(*architecture, Key(7, 9), Iova(0x7000'0000), MiB(1), page_bytes);
  for (const std::uint64_t page : {0, 1, 7, 8, 100, 255}) {
    const LookUp got = cold(*architecture, Key(7, 9), Iova(0x7000'0000 + page * 4096 + 12));
    CHECK(got.kinds == std::vector<Step::Kind>{Step::Kind::read, Step::Kind::judge, Step::Kind::read, Step::Kind::done});
    CHECK(got.reads[0].line_kind == 0);
    CHECK(got.reads[0].address == tables + Bytes(7 * 64));
    CHECK(got.reads[1].line_kind == 1);
    CHECK(got.reads[1].address == writes.table + Bytes(page * 8 / line * line));
    CHECK(got.end.length == Bytes(4096 - 12));
  }
}

TEST_CASE("a region has an entry a block, and its look-ups touch every line of its array once", "[flat_mtt]") {
  std::mt19937_64 random(4);
  for (int round = 0; round < 40; ++round) {
    const std::uint64_t line = 8u << random() % 5;
    const std::uint64_t block = 4096u << random() % 10;
    const std::uint64_t start = random() % (1u << 26), length = 1 + random() % (1u << 22);
    const auto architecture = flat(line);
    const auto writes = add(*architecture, Key(1, 0), Iova(start), Bytes(length), Bytes(block));
    const std::uint64_t blocks = (start + length - 1) / block - start / block + 1;
    CHECK(writes.entries == blocks);
    std::set<std::uint64_t> tags;
    std::set<std::uint64_t> physical;
    for (std::uint64_t b = start / block; b <= (start + length - 1) / block; ++b) {
      const std::uint64_t address = std::max(start, b * block);
      const LookUp got = cold(*architecture, Key(1, 0), Iova(address));
      REQUIRE(got.end.kind == Step::Kind::done);
      tags.insert(got.reads.at(1).tag);
      physical.insert(got.end.address.raw / block);
    }
    CHECK(tags.size() == (blocks * 8 + line - 1) / line);
    CHECK(physical.size() == blocks);
  }
}

TEST_CASE("a key that nobody has costs the read of the context at its place", "[flat_mtt]") {
  const auto architecture = flat();
  // 4,096 places: an index beyond them falls on the place that it has modulo their number.
  const std::uint32_t index = GENERATE(99u, 4096u + 99u);
  const LookUp unknown = cold(*architecture, Key(index, 0), Iova(0));
  CHECK(unknown.kinds == std::vector<Step::Kind>{Step::Kind::read, Step::Kind::judge});
  CHECK(unknown.reads.at(0).address == tables + Bytes(99 * 64));
  CHECK(unknown.end.grant == nullptr);
}

TEST_CASE("a region's entries stand in the lowest free lines that are enough, whatever came and went before", "[flat_mtt]") {
  const auto architecture = flat();
  std::mt19937_64 random(9);
  std::vector<bool> taken(40000);  // by line of 64 bytes
  struct Live {
    Key key;
    std::uint64_t first, lines;
  };
  std::vector<Live> live;
  const Pa base = tables + Bytes(4096 * 64);
  for (std::uint32_t i = 1; i < 3000; ++i) {
    if (random() % 5 < 2 && !live.empty()) {
      const std::size_t k = random() % live.size();
      test::drop(*architecture, live[k].key);
      for (std::uint64_t line = 0; line < live[k].lines; ++line) taken[live[k].first + line] = false;
      live.erase(live.begin() + long(k));
      continue;
    }
    const std::uint64_t entries = 1 + random() % (random() % 3 ? 60 : 600), lines = (entries + 7) / 8;
    std::uint64_t first = 0;
    for (std::uint64_t run = 0, line = 0; run < lines; ++line) {
      run = taken[line] ? 0 : run + 1;
      first = line + 1 - run;
    }
    const auto writes = add(*architecture, Key(i, 0), Iova(std::uint64_t{i} << 32), Bytes(entries * 4096), page_bytes);
    REQUIRE((writes.table - base).raw == first * 64);
    for (std::uint64_t line = 0; line < lines; ++line) taken[first + line] = true;
    live.push_back({Key(i, 0), first, lines});
  }
}

// Architectures without a table of their own, which find addresses in the page tables of the process: does a look-up read one line a level
// down to the leaf that the page really has, and do regions of one process share them? Leaves and lines here are counted page by page.
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "support/cold_look_up.h"

using namespace mtsim;
using namespace mtsim::test;
using translate::Step;

namespace {

/// Memory of a process: a mixture of pages of 4 KiB, 2 MiB and 1 GiB, each at a multiple of its size.
struct Mixture {
  std::uint64_t first_page = 0;
  std::vector<FrameExtent> extents;
  std::vector<std::uint8_t> leaf;  ///< of each page: 0, 1, 2
};

Mixture mixture(std::mt19937_64& random, std::uint64_t first_page) {
  Mixture out;
  out.first_page = first_page;
  std::uint64_t page = first_page, frame = 1u << 20;
  for (int part = 0; part < 6; ++part) {
    const unsigned kind = static_cast<unsigned>(random() % (part == 2 ? 3 : 2));
    const std::uint64_t unit = std::uint64_t{1} << 9 * kind;
    // What lies before the next multiple is of 4 KiB pages.
    if (const std::uint64_t gap = (unit - page % unit) % unit; gap != 0) {
      out.extents.push_back({frame, gap, Layout::pages});
      out.leaf.insert(out.leaf.end(), gap, 0);
      page += gap;
      frame += gap;
    }
    frame = (frame + (1u << 18)) >> 18 << 18;
    const std::uint64_t count = kind == 2 ? unit : unit * (1 + random() % 5);
    out.extents.push_back({frame, count, kind == 2 ? Layout::linear : kind == 1 ? Layout::segments : Layout::pages});
    out.leaf.insert(out.leaf.end(), count, static_cast<std::uint8_t>(kind));
    page += count;
    frame += count + 3;
  }
  return out;
}

/// Pages [from, from + count) of it.
translate::Region part(const Mixture& all, std::uint32_t index, std::uint64_t from, std::uint64_t count) {
  std::vector<FrameExtent> extents;
  std::uint64_t at = 0;
  for (const FrameExtent& extent : all.extents) {
    const std::uint64_t low = std::max(from, at), high = std::min(from + count, at + extent.count);
    if (low < high) extents.push_back(extent.part(low - at, high - low));
    at += extent.count;
  }
  translate::Region r;
  r.grant = {Key(index, 0), 1, verbs::Access::local_write, Iova((all.first_page + from) * 4096), page_bytes * count, true};
  r.map = std::make_shared<DmaMap>(FrameLaw(5, 3), extents, Bytes(0), page_bytes * count);
  return r;
}

}  // namespace

TEST_CASE("process_page_table: a line a level from the root to the leaf; ats: the leaf's line; regions share them", "[architectures]") {
  const std::string name = GENERATE("process_page_table", "ats");
  const std::uint64_t line = GENERATE(8u, 64u);
  CAPTURE(name, line);
  const auto architecture = translate::Architectures::make(name, architecture_options(line));
  std::mt19937_64 random(31);
  // Across the end of a table of the third level.
  const Mixture memory = mixture(random, (std::uint64_t{1} << 27) - 700);
  // Which entries stand together in a line: process, level, number.
  using Line = std::tuple<std::uint32_t, unsigned, std::uint64_t>;
  std::map<Line, std::uint64_t> tags;
  std::map<std::uint64_t, Line> lines;
  std::array<std::size_t, 3> seen{};
  for (std::uint32_t round = 1; round <= 30; ++round) {
    const std::uint64_t from = random() % (memory.leaf.size() / 2), count = 1 + random() % (memory.leaf.size() - from);
    translate::Region r = part(memory, round, from, count);
    r.process = round % 2;
    // Some are known under other addresses than the process's own.
    if (round % 3 == 0) {
      r.memory = Va(r.grant.start.raw);
      r.grant.start = Iova(random() % 1000 * 4096);
    }
    translate::TableWrites writes;
    REQUIRE(add(*architecture, r, &writes));
    CHECK(writes.entries == 0);
    for (std::uint64_t i = 0; i < count; i += 1 + random() % (memory.leaf[from + i] == 2 ? 100000 : 300)) {
      const std::uint64_t page = memory.first_page + from + i;
      const unsigned leaf = memory.leaf[from + i];
      const Iova address = r.grant.start + page_bytes * i + Bytes(9);
      const LookUp got = cold(*architecture, r.grant.key, address);
      REQUIRE(got.end.kind == Step::Kind::done);
      REQUIRE(got.end.address == r.map->page(i) + Bytes(9));
      std::uint64_t end = ((page >> 9 * leaf) + 1) << 9 * leaf;
      end = std::min(end - page, count - i);
      if (leaf != 0) REQUIRE(got.end.length == page_bytes * end - Bytes(9));
      REQUIRE(got.reads.size() == (name == "ats" ? 2 : 1 + 4 - leaf));
      for (std::size_t read = 1; read < got.reads.size(); ++read) {
        const unsigned height = name == "ats" ? leaf : static_cast<unsigned>(4 - read);
        const std::uint64_t entry = page >> 9 * height;
        // The top level's entries of different 512 GiB stand by themselves.
        const Line is{r.process, height, height == 3 ? entry : entry / (line / 8)};
        const std::uint64_t tag = got.reads[read].tag;
        REQUIRE(tags.emplace(is, tag).first->second == tag);
        REQUIRE(lines.emplace(tag, is).first->second == is);
        REQUIRE(got.reads[read].line_kind == 1);
        if (name != "ats") REQUIRE(tag < architecture->lines(1));
        if (name != "ats") REQUIRE(got.reads[read].address == tables_start + Bytes(4096 * 64 + tag * line));
      }
      ++seen[leaf];
    }
    if (round % 4 == 0) drop(*architecture, r.grant.key);
  }
  CHECK(seen[0] > 30);
  CHECK(seen[1] > 30);
}

TEST_CASE("process_page_table: a process has no more than the table space has addresses for", "[architectures]") {
  const auto architecture = translate::Architectures::make("process_page_table", architecture_options());
  std::uint32_t areas = 0;
  for (;; ++areas) {
    REQUIRE(areas < 20);
    translate::Region r;
    FrameExtent extent;
    extent.count = 1;
    r.grant = {Key(1 + areas, 0), 1, verbs::Access::local_write, Iova(std::uint64_t{areas} << 39), page_bytes, true};
    r.map = std::make_shared<DmaMap>(FrameLaw{}, std::vector<FrameExtent>{extent}, Bytes(0), page_bytes);
    if (!add(*architecture, r)) break;
  }
  // 1 GiB of the last level, 2 MiB of the one above, 4 KiB of the one above that, and the top: 7 times in 8 GiB.
  CHECK(areas == 7);
}

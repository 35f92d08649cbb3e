// Tables of keys: does a look-up read the list, the child's context and the child's line that counting on paper gives, and is no more
// written than that? The pieces here are cut page by page.
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <vector>

#include "support/cold_look_up.h"
#include "support/random_regions.h"

using namespace mtsim;
using namespace mtsim::test;
using translate::Step;

namespace {

/// The first page of each piece.
std::vector<std::uint64_t> pieces_of(const std::string& name, const std::vector<std::uint64_t>& frames, std::uint64_t child_pages) {
  std::vector<std::uint64_t> out{0};
  std::uint64_t length = 0;
  for (std::uint64_t page = 0; page < frames.size(); ++page) {
    const bool run_goes_on = page != 0 && frames[page] == frames[page - 1] + 1;
    if (length >= child_pages && (name == "ksm" || !run_goes_on)) {
      out.push_back(page);
      length = 0;
    }
    ++length;
  }
  return out;
}

}  // namespace

TEST_CASE("ksm, klm: the context, the list up to the piece's entry, the child's context, a line of its array", "[architectures]") {
  const std::string name = GENERATE("ksm", "klm");
  const std::uint64_t line = GENERATE(16u, 64u), per_line = line / 16;
  CAPTURE(name, line);
  auto options = architecture_options(line);
  options.contexts = 1u << 16;
  options.child = KiB(GENERATE(16u, 256u));
  const auto architecture = translate::Architectures::make(name, options);
  const std::uint64_t child_pages = options.child / page_bytes;
  std::mt19937_64 random(21);
  std::size_t several = 0;
  for (std::uint32_t round = 1; round <= 40; ++round) {
    const translate::Region r = random_region(random, round, 1500);
    translate::TableWrites writes;
    REQUIRE(add(*architecture, r, &writes));
    const auto frames = frames_of(r);
    const auto pieces = pieces_of(name, frames, child_pages);
    if (pieces.size() == 1) {
      CHECK(writes.entries == frames.size());
      CHECK(cold(*architecture, r.grant.key, r.grant.start).reads.size() == 2);
      continue;
    }
    ++several;
    // 16 bytes for each piece in the list, 64 for its context, 8 for each page.
    CHECK(writes.entries == pieces.size() * 2 + pieces.size() * 8 + frames.size());
    std::set<std::uint64_t> list, contexts, lines;
    std::uint64_t expected_lines = 0, piece = 0;
    for (std::uint64_t page = 0; page < frames.size(); ++page) {
      if (piece + 1 < pieces.size() && pieces[piece + 1] == page) ++piece;
      const std::uint64_t scan = name == "klm" ? piece / per_line + 1 : 1;
      const LookUp got = cold(*architecture, r.grant.key, address_in(r, page));
      REQUIRE(got.end.kind == Step::Kind::done);
      REQUIRE(got.reads.size() == 1 + scan + 2);
      CHECK(got.reads.front().line_kind == 0);
      CHECK(got.reads.front().address == tables_start + Bytes(round * 64));
      for (std::uint64_t i = 0; i < scan; ++i) {
        REQUIRE(got.reads[1 + i].line_kind == 1);
        REQUIRE(got.reads[1 + i].address == writes.table + Bytes(line * (name == "klm" ? i : piece / per_line)));
        list.insert(got.reads[1 + i].tag);
      }
      const Step &context = got.reads[1 + scan], &entry = got.reads.back();
      REQUIRE(context.line_kind == 0);
      REQUIRE(context.tag >= options.contexts);
      REQUIRE(context.address == tables_start + Bytes(context.tag * 64));
      contexts.insert(context.tag);
      REQUIRE(entry.line_kind == 1);
      lines.insert(entry.tag);
      expected_lines += (page - pieces[piece]) % (line / 8) == 0;
    }
    CHECK(list.size() == (pieces.size() + per_line - 1) / per_line);
    CHECK(contexts.size() == pieces.size());
    CHECK(lines.size() == expected_lines);
    for (const std::uint64_t tag : lines) REQUIRE(list.count(tag) == 0);
    if (round % 3 == 0) drop(*architecture, r.grant.key);
  }
  CHECK(several > 20);
}

TEST_CASE("ksm, klm: pieces are whole blocks; in blocks larger than a piece each block is one", "[architectures]") {
  const std::string name = GENERATE("ksm", "klm");
  CAPTURE(name);
  auto options = architecture_options();
  options.child = MiB(1);
  const auto architecture = translate::Architectures::make(name, options);
  translate::Region r;
  FrameExtent extent;
  extent.first = 512 * 512 + 17;
  extent.count = 512 * 10 - 17;
  extent.layout = Layout::segments;
  // Ten blocks of 2 MiB, the first without its first 17 pages: with it alone a piece of klm is too short.
  const std::uint64_t pieces = name == "ksm" ? 10 : 9;
  const Bytes length = page_bytes * extent.count;
  r.grant = {Key(1, 0), 1, verbs::Access::local_write, Iova(GiB(4).raw + 17 * 4096), length, true};
  r.block = MiB(2);
  r.map = std::make_shared<DmaMap>(FrameLaw(3, 1), std::vector<FrameExtent>{extent}, Bytes(0), length);
  translate::TableWrites writes;
  REQUIRE(add(*architecture, r, &writes));
  CHECK(writes.entries == 10 + pieces * (2 + 8));
  std::set<std::uint64_t> contexts;
  for (std::uint64_t page = 0; page < extent.count; page += 7) {
    const Iova address = r.grant.start + page_bytes * page;
    const LookUp got = cold(*architecture, r.grant.key, address);
    REQUIRE(got.end.kind == Step::Kind::done);
    REQUIRE(got.end.address == r.map->at(page_bytes * page).start);
    REQUIRE(got.end.length == MiB(2) - Bytes(address.raw % MiB(2).raw));
    contexts.insert(got.reads[got.reads.size() - 2].tag);
  }
  CHECK(contexts.size() == pieces);
}

TEST_CASE("ksm: 5 GiB in children of 1 GiB are four reads; 1 GiB is a plain key", "[architectures]") {
  const auto architecture = translate::Architectures::make("ksm", architecture_options());
  for (const std::uint64_t gib : {1u, 5u}) {
    translate::Region r;
    FrameExtent extent;
    extent.first = 512 * 512;
    extent.count = gib << 18;
    r.grant = {Key(1, 0), 1, verbs::Access::local_write, Iova(GiB(64).raw), GiB(gib), true};
    r.map = std::make_shared<DmaMap>(FrameLaw(3, 1), std::vector<FrameExtent>{extent}, Bytes(0), GiB(gib));
    translate::TableWrites writes;
    REQUIRE(add(*architecture, r, &writes));
    CHECK(writes.entries == (gib << 18) + (gib == 5 ? 5 * 10 : 0));
    CHECK(cold(*architecture, r.grant.key, r.grant.start + MiB(700)).reads.size() == (gib == 5 ? 4 : 2));
  }
}

TEST_CASE("ksm, klm: contexts of children run out like tables, and come back", "[architectures]") {
  auto options = architecture_options();
  options.contexts = 64;
  options.child = KiB(4);
  const std::string name = GENERATE("ksm", "klm");
  const auto architecture = translate::Architectures::make(name, options);
  const auto region = [](std::uint32_t index, std::uint64_t pages) {
    translate::Region r;
    std::vector<FrameExtent> extents;
    for (std::uint64_t i = 0; i < pages; ++i) {
      FrameExtent extent;
      extent.first = 1024 + 2 * i;
      extent.count = 1;
      extents.push_back(extent);
    }
    r.grant = {Key(index, 0), 1, verbs::Access::local_write, Iova(GiB(1).raw), page_bytes * pages, true};
    r.map = std::make_shared<DmaMap>(FrameLaw{}, extents, Bytes(0), page_bytes * pages);
    return r;
  };
  for (int round = 0; round < 3; ++round) {
    CHECK_FALSE(add(*architecture, region(1, 65)));
    REQUIRE(add(*architecture, region(1, 40)));
    CHECK_FALSE(add(*architecture, region(2, 25)));
    REQUIRE(add(*architecture, region(2, 24)));
    CHECK(add(*architecture, region(3, 1)));
    drop(*architecture, Key(1, 0));
    drop(*architecture, Key(2, 0));
  }
}

// Does each translation architecture read on a cold look-up (nothing cached) exactly what counting on paper gives, and find the page that
// is there? The counts here are made page by page.
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "translate/architecture.h"
#include "translate/prefix_count.h"

using namespace mtsim;
using translate::Step;

namespace {

constexpr Pa tables{std::uint64_t{1} << 40};
const std::vector<std::string> all_names{"device", "flat_mtt", "inline", "mapped_icm", "page_table", "pble", "radix", "range"};

translate::ArchitectureOptions options_of(std::uint64_t line = 64, std::uint64_t entries = 0) {
  translate::ArchitectureOptions options;
  options.space = {tables, GiB(8)};
  options.contexts = 4096;
  options.mtt_line = Bytes(line);
  options.table_entries = entries;
  return options;
}

/// The lines that a commit calls stale.
class Noted final : public translate::Architecture::Stale {
 public:
  bool has(std::uint32_t kind, std::uint64_t tag) const {
    for (const auto& [of, first, count] : ranges_)
      if (of == kind && tag >= first && tag - first < count) return true;
    return false;
  }

 private:
  void lines(std::uint32_t kind, std::uint64_t first, std::uint64_t count) override { ranges_.emplace_back(kind, first, count); }
  std::vector<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>> ranges_;
};

bool add(translate::Architecture& architecture, const translate::Region& r, translate::TableWrites* out = nullptr) {
  translate::TableWrites writes;
  if (!architecture.build(r, writes)) return false;
  Noted nobody;
  architecture.commit(writes, nobody);
  if (out != nullptr) *out = writes;
  return true;
}

struct LookUp {
  std::vector<Step> reads;  ///< each came only when the one before had been answered
  Step end;
};

LookUp cold(const translate::Architecture& architecture, Key key, Iova address) {
  LookUp out;
  translate::Walk walk{key, address, 0, 0};
  translate::Content content = 0;
  for (;;) {
    Step step;
    architecture.step(walk, content, step);
    if (step.kind == Step::Kind::read) {
      out.reads.push_back(step);
      content = architecture.content(step.line_kind, step.tag);
      // The short way gives what the search gives, also to the key of another region, or of none.
      for (const std::uint32_t off : {0u, 1u, 1000u})
        CHECK(architecture.content_for(Key(key.raw + (off << 8)), step.line_kind, step.tag) == content);
    } else if (step.kind != Step::Kind::judge || step.grant == nullptr || !step.grant->valid) {
      out.end = step;
      return out;
    }
  }
}

/// A region of `pages` frames: runs of random length, some of them whole 2 MiB, that lie where a 2 MiB page may or askew.
translate::Region random_region(std::mt19937_64& random, std::uint32_t index, std::uint64_t most_pages, bool law = true) {
  translate::Region r;
  const std::uint64_t pages = 1 + random() % most_pages, lead = random() % 4096;
  std::uint64_t start = (random() % 5 == 0 ? (std::uint64_t{1} << 27) - random() % most_pages : random() % (1u << 20));
  if (random() % 2 == 0) start = start / 512 * 512;
  std::vector<FrameExtent> extents;
  FrameLaw frames;
  if (law && random() % 2 == 0) {
    const double runs[] = {1, 2.5, 40, 300, 512};
    frames = FrameLaw(random(), runs[random() % 5]);
    const std::uint64_t count = 1 + random() % 3;
    for (std::uint64_t i = 0, left = pages; i < count && left != 0; ++i) {
      FrameExtent extent;
      extent.count = i + 1 == count ? left : 1 + random() % left;
      left -= extent.count;
      extent.first = (i + 1) * 512 * 4096 + (random() % 2 ? (start + pages - left - extent.count) % 512 : random() % 512);
      extent.layout = random() % 3 == 0 ? Layout::segments : Layout::pages;
      extents.push_back(extent);
    }
  } else {
    std::uint64_t next = 1u << 20;
    for (std::uint64_t done = 0; done < pages;) {
      FrameExtent extent;
      extent.count = std::min<std::uint64_t>(pages - done, random() % 3 == 0 ? 1 + random() % 2000 : 1 + random() % 20);
      const std::uint64_t page = start + done;
      // Half of them where the address and the frame agree on where 2 MiB begin.
      extent.first = (next + 1024) / 512 * 512 + (random() % 2 ? page % 512 : random() % 512);
      next = extent.first + extent.count;
      done += extent.count;
      extents.push_back(extent);
    }
  }
  const Bytes length{pages * 4096 - lead - (pages == 1 ? 0 : random() % 4096)};
  r.grant = {Key(index, 0), 1, verbs::Access::local_write, Iova(start * 4096 + lead), length, true};
  r.map = std::make_shared<DmaMap>(frames, extents, Bytes(lead), length);
  return r;
}

/// The frame of each page, one by one.
std::vector<std::uint64_t> frames_of(const translate::Region& r) {
  std::vector<std::uint64_t> out;
  for (std::uint64_t i = 0; i < r.map->pages().raw; ++i) out.push_back(r.map->page(i).raw / 4096);
  return out;
}

/// An address in page `i` of the region.
Iova address_in(const translate::Region& r, std::uint64_t i) {
  const std::uint64_t first = r.grant.start.raw / 4096;
  return i == 0 ? r.grant.start : Iova((first + i) * 4096);
}

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

TEST_CASE("each page of a region is found where the DMA map has it, and no more than what follows it there", "[architectures]") {
  std::mt19937_64 random(5);
  const std::string name = GENERATE(from_range(all_names));
  const auto architecture = translate::Architectures::make(name, options_of());
  CAPTURE(name);
  for (std::uint32_t round = 1; round <= 60; ++round) {
    translate::Region r = random_region(random, round, 6000);
    if (architecture->mixes_block_sizes() && random() % 2) r.block_sizes = architecture->block_sizes() & ((1ull << 31) - 1) & ~0xfffull;
    REQUIRE(add(*architecture, r));
    const auto frames = frames_of(r);
    for (std::uint64_t i = 0; i < frames.size(); i += 1 + random() % 7) {
      const Iova address = address_in(r, i);
      const LookUp got = cold(*architecture, r.grant.key, address);
      REQUIRE(got.end.kind == Step::Kind::done);
      REQUIRE(got.end.address.raw == frames[i] * 4096 + address.raw % 4096);
      const std::uint64_t last = i + (address.raw % 4096 + got.end.length.raw - 1) / 4096;
      REQUIRE(got.end.length.raw > 0);
      if (name != "range" && name != "page_table") REQUIRE(last == i);
      REQUIRE(last < frames.size());
      REQUIRE(frames[last] - frames[i] == last - i);
    }
  }
}

TEST_CASE("inline: one read while the context holds all addresses, two beyond", "[architectures]") {
  auto options = options_of();
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
  const auto architecture = translate::Architectures::make("range", options_of(line));
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
  const auto architecture = translate::Architectures::make("range", options_of());
  REQUIRE(add(*architecture, r));
  CHECK(cold(*architecture, r.grant.key, r.grant.start + MiB(700)).reads.size() == 1 + (huge ? 5u : 9u));
}

TEST_CASE("mapped_icm: the map's line before the context and before the entry's line, four reads in all", "[architectures]") {
  auto options = options_of();
  options.icm_page = Bytes(GENERATE(4096, 65536));
  options.icm_line = Bytes(GENERATE(8, 64));
  const auto architecture = translate::Architectures::make("mapped_icm", options);
  std::mt19937_64 random(8);
  const std::uint64_t map = tables.raw + GiB(8).raw - (GiB(8).raw / options.icm_page.raw * 8 + 4095) / 4096 * 4096;
  for (std::uint32_t round = 1; round <= 40; ++round) {
    const translate::Region r = random_region(random, round, 3000);
    translate::TableWrites writes;
    REQUIRE(add(*architecture, r, &writes));
    const std::uint64_t page = random() % frames_of(r).size();
    const LookUp got = cold(*architecture, r.grant.key, address_in(r, page));
    REQUIRE(got.reads.size() == 4);
    const auto map_line = [&](Pa of) {
      return map + (of - tables).raw / options.icm_page.raw * 8 / options.icm_line.raw * options.icm_line.raw;
    };
    CHECK(got.reads[0].line_kind == 2);
    CHECK(got.reads[0].address.raw == map_line(got.reads[1].address));
    CHECK(got.reads[1].line_kind == 0);
    CHECK(got.reads[1].address == tables + Bytes(round * 64));
    CHECK(got.reads[2].line_kind == 2);
    CHECK(got.reads[2].address.raw == map_line(got.reads[3].address));
    CHECK(got.reads[3].line_kind == 1);
    CHECK(got.reads[3].address == writes.table + Bytes(page * 8 / 64 * 64));
    CHECK(got.reads[3].address.raw + 64 <= map);
  }
}

TEST_CASE("page_table: one line a level down to the leaf, which is the greatest that fits; tables only where leaves are not",
          "[architectures]") {
  const auto architecture = translate::Architectures::make("page_table", options_of());
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
  const auto architecture = translate::Architectures::make("page_table", options_of());
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
  const auto architecture = translate::Architectures::make("physical", options_of());
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

TEST_CASE("what a region's look-ups have read is stale once it ends or is replaced, and is not believed any more", "[architectures]") {
  const std::string name = GENERATE(from_range(all_names));
  CAPTURE(name);
  const bool replaced = GENERATE(false, true);
  const auto architecture = translate::Architectures::make(name, options_of());
  std::mt19937_64 random(11);
  for (std::uint32_t round = 1; round <= 20; ++round) {
    const translate::Region r = random_region(random, 7, 3000);
    REQUIRE(add(*architecture, random_region(random, 8, 50)));
    REQUIRE(add(*architecture, r));
    const Iova address = address_in(r, r.map->pages().raw / 2);
    const LookUp before = cold(*architecture, r.grant.key, address);
    // A look-up that has read all but its last line.
    translate::Walk walk{r.grant.key, address, 0, 0};
    translate::Content content = 0;
    Step step;
    for (std::size_t reads = 0; reads < before.reads.size();) {
      architecture->step(walk, content, step);
      if (step.kind != Step::Kind::read) continue;
      content = architecture->content(step.line_kind, step.tag);
      ++reads;
    }
    Noted noted;
    if (replaced) {
      translate::TableWrites writes;
      REQUIRE(architecture->build(r, writes));
      architecture->commit(writes, noted);
    } else {
      architecture->commit(architecture->drop(r.grant.key), noted);
    }
    for (const Step& read : before.reads)
      if (read.line_kind < 2) CHECK(noted.has(read.line_kind, read.tag));
    if (!before.reads.empty() && before.reads.back().line_kind == 1) {
      architecture->step(walk, content, step);
      CHECK(step.kind == Step::Kind::fault);
    }
    const LookUp after = cold(*architecture, r.grant.key, address);
    CHECK((after.end.kind == Step::Kind::done) == replaced);
    architecture->commit(architecture->drop(r.grant.key), noted);
  }
}

TEST_CASE("a region that takes another's place under a look-up answers for its own addresses, and for no others", "[architectures]") {
  const std::string name = GENERATE(from_range(all_names));
  CAPTURE(name);
  const auto architecture = translate::Architectures::make(name, options_of());
  std::mt19937_64 random(14);
  std::size_t found = 0;
  for (std::uint32_t round = 1; round <= 300; ++round) {
    const translate::Region before = random_region(random, 7, 3000);
    translate::Region after = round % 2 ? random_region(random, 7, 3000) : before;
    if (round % 4 == 1) after.grant.start = Iova(before.grant.start.raw / 4096 * 4096 + after.grant.start.raw % 4096);
    REQUIRE(add(*architecture, before));
    const Iova address = address_in(before, random() % before.map->pages().raw);
    translate::Walk walk{before.grant.key, address, 0, 0};
    translate::Content content = 0;
    Step step;
    for (std::size_t reads = 1 + random() % 5;;) {
      architecture->step(walk, content, step);
      if (step.kind == Step::Kind::done || step.kind == Step::Kind::fault) break;
      if (step.kind == Step::Kind::judge && address.raw - step.grant->start.raw >= step.grant->length.raw) break;
      if (step.kind != Step::Kind::read) continue;
      // The line comes after the change, and so with what is there then.
      if (--reads == 0) REQUIRE(add(*architecture, after));
      content = architecture->content(step.line_kind, step.tag);
      if (reads == 0) reads = ~std::size_t{0};
    }
    if (step.kind == Step::Kind::done && step.address != before.map->at(Bytes(address.raw - before.grant.start.raw)).start) {
      const std::uint64_t offset = address.raw - after.grant.start.raw;
      REQUIRE(offset < after.grant.length.raw);
      REQUIRE(step.address == after.map->at(Bytes(offset)).start);
      ++found;
    }
    Noted nobody;
    architecture->commit(architecture->drop(before.grant.key), nobody);
  }
  if (name != "device" && name != "inline") CHECK(found > 0);
}

TEST_CASE("tables that are full take no more, and what is given back can be used again", "[architectures]") {
  const std::string name = GENERATE(from_range(all_names));
  CAPTURE(name);
  const auto architecture = translate::Architectures::make(name, options_of(64, 512 * 40));
  std::mt19937_64 random(12);
  std::vector<translate::Region> regions;
  std::vector<translate::TableWrites> written;
  std::uint64_t entries = 0;
  for (std::uint32_t i = 1;; ++i) {
    REQUIRE(i < 4000);
    const translate::Region r = random_region(random, i, 4000, false);
    translate::TableWrites writes;
    if (!add(*architecture, r, &writes)) break;
    entries += writes.entries;
    regions.push_back(r);
  }
  CHECK(entries <= 512 * 40);
  CHECK(entries > 512 * 20);
  // In another order, whole again: what failed took nothing with it.
  std::shuffle(regions.begin(), regions.end(), random);
  Noted nobody;
  for (const translate::Region& r : regions) architecture->commit(architecture->drop(r.grant.key), nobody);
  for (int round = 0; round < 3; ++round) {
    std::sort(regions.begin(), regions.end(), [](const auto& a, const auto& b) { return a.grant.key.index() < b.grant.key.index(); });
    for (const translate::Region& r : regions) REQUIRE(add(*architecture, r));
    for (const translate::Region& r : regions) architecture->commit(architecture->drop(r.grant.key), nobody);
  }
}

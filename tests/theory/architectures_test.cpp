// Whatever the translation architecture: does a look-up find the page that is there, and nothing that is there no longer? Compared page by
// page with the map of the memory.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "support/cold_look_up.h"
#include "support/random_regions.h"

using namespace mtsim;
using namespace mtsim::test;
using translate::Step;

namespace {

const std::vector<std::string> all_names{"ats",        "device", "flat_mtt",           "inline", "klm",  "ksm", "mapped_icm",
                                         "page_table", "pble",   "process_page_table", "radix",  "range"};

/// Children of 1 MiB, so that regions of a few MiB have several.
std::unique_ptr<translate::Architecture> make(const std::string& name, std::uint64_t entries = 0) {
  translate::ArchitectureOptions options = architecture_options(64, entries);
  options.child = MiB(1);
  return translate::Architectures::make(name, options);
}

}  // namespace

TEST_CASE("each page of a region is found where the DMA map has it, and no more than what follows it there", "[architectures]") {
  std::mt19937_64 random(5);
  const std::string name = GENERATE(from_range(all_names));
  const auto architecture = make(name);
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
      if (!architecture->mixes_block_sizes()) REQUIRE(last == i);
      REQUIRE(last < frames.size());
      REQUIRE(frames[last] - frames[i] == last - i);
    }
  }
}

TEST_CASE("what a region's look-ups have read is stale once it ends or is replaced, and is not believed any more", "[architectures]") {
  const std::string name = GENERATE(from_range(all_names));
  CAPTURE(name);
  const bool replaced = GENERATE(false, true);
  const auto architecture = make(name);
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
    StaleLines noted;
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
  const auto architecture = make(name);
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
    StaleLines nobody;
    architecture->commit(architecture->drop(before.grant.key), nobody);
  }
  if (name != "device" && name != "inline") CHECK(found > 0);
}

TEST_CASE("tables that are full take no more, and what is given back can be used again", "[architectures]") {
  const std::string name = GENERATE(from_range(all_names));
  CAPTURE(name);
  const auto architecture = make(name, 512 * 40);
  // A registration writes nothing there.
  if (architecture->host_tables() != translate::Architecture::HostTables::none) return;
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
  // Contexts of children, 8 entries each where they have 256, lie elsewhere.
  CHECK(entries <= 512 * 40 + (name == "klm" || name == "ksm" ? 512 * 40 / 32 : 0));
  CHECK(entries > 512 * 20);
  // In another order, whole again: what failed took nothing with it.
  std::shuffle(regions.begin(), regions.end(), random);
  StaleLines nobody;
  for (const translate::Region& r : regions) architecture->commit(architecture->drop(r.grant.key), nobody);
  for (int round = 0; round < 3; ++round) {
    std::sort(regions.begin(), regions.end(), [](const auto& a, const auto& b) { return a.grant.key.index() < b.grant.key.index(); });
    for (const translate::Region& r : regions) REQUIRE(add(*architecture, r));
    for (const translate::Region& r : regions) architecture->commit(architecture->drop(r.grant.key), nobody);
  }
}

// Do processes see in their memory what they have written, whatever becomes of the frames under it? Judged against one value for each
// page of each process, which knows nothing of frames.
#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <vector>

#include "base/contents.h"
#include "host/address_space.h"

using namespace mtsim;
using verbs::Advice;

namespace {

constexpr std::uint64_t pages = 1024;  // two pages of 2 MiB, where there are any

struct Seen {
  Contents contents;
  FramePool pool;
  std::vector<std::unique_ptr<AddressSpace>> processes;
  Va memory;

  static FramePoolParams params() {
    FramePoolParams p = defaults<FramePoolParams>();
    p.size = MiB(256);
    p.swap = MiB(64);
    return p;
  }
  Seen() : pool(params()) { pool.follow(&contents); }
  ~Seen() {
    processes.clear();
    pool.follow(nullptr);
  }
  Va at(std::uint64_t page) const { return memory + page_bytes * page; }
  /// Where a page's contents stand; null: there is no memory.
  std::pair<const Contents*, std::uint64_t> of(std::size_t process, std::uint64_t page) const {
    const std::vector<SeenPart> parts = processes[process]->see(at(page), page_bytes);
    REQUIRE(parts.size() == 1);
    REQUIRE(parts[0].length == page_bytes.raw);
    const Contents* where = parts[0].kind == SeenPart::Kind::frames   ? &contents
                            : parts[0].kind == SeenPart::Kind::absent ? &processes[process]->stored()
                                                                      : nullptr;
    return {where, parts[0].first};
  }
  bool same(std::size_t p, std::uint64_t page, std::size_t q, std::uint64_t other) const {
    const auto [here, first] = of(p, page);
    const auto [there, second] = of(q, other);
    if (here == nullptr || there == nullptr) return here == there;
    return here->same(first, page_bytes.raw, *there, second);
  }
};

}  // namespace

TEST_CASE("A process sees what it has written, through swap, migration, copies and forks", "[seen]") {
  const auto seed = GENERATE(range(1u, 41u));
  std::mt19937 random(seed);
  const auto below = [&](std::uint64_t n) { return std::uniform_int_distribution<std::uint64_t>(0, n - 1)(random); };
  Seen s;
  verbs::MmapRequest request;
  request.length = page_bytes * pages;
  request.shared = seed % 3 == 0;
  request.page = seed % 2 == 0 ? verbs::PageKind::thp : verbs::PageKind::base_4k;
  INFO("seed " << seed);
  s.processes.push_back(std::make_unique<AddressSpace>(s.pool, AddressSpaceLimits{65530, s.pool.swap(), Pages(0)}));
  s.memory = s.processes[0]->mmap(request).address;
  // Values of pages by process; a shared mapping has those of the first for all. -1: not mapped.
  std::vector<std::vector<std::int64_t>> values{std::vector<std::int64_t>(pages, 0)};
  std::vector<std::vector<PinnedRange>> pins(1);
  std::int64_t next = 1;
  for (int step = 0; step < 120; ++step) {
    const std::size_t p = below(s.processes.size());
    const std::uint64_t first = below(pages), count = 1 + below(std::min<std::uint64_t>(pages - first, 40));
    AddressSpace& space = *s.processes[p];
    const auto set = [&](std::uint64_t page, std::int64_t value) { values[p][page] = value; };
    switch (below(8)) {
      case 0:
      case 1:
        for (std::uint64_t page = first; page < first + count; ++page) {
          if (space.fault_in(s.at(page), page_bytes, true).error != 0) continue;
          const auto [where, number] = s.of(p, page);
          REQUIRE(where == &s.contents);
          s.contents.write(number, page_bytes.raw);
          if (!request.shared) set(page, next);
          else
            for (auto& v : values)
              if (v[page] >= 0) v[page] = next;
          ++next;
        }
        break;
      case 2:
        space.fault_in(s.at(first), page_bytes * count, false);
        break;
      case 3:
        space.madvise(s.at(first), page_bytes * count, Advice::dontneed);
        for (std::uint64_t page = first; page < first + count; ++page)
          if (!request.shared && values[p][page] >= 0) set(page, 0);
        break;
      case 4:
        space.madvise(s.at(first), page_bytes * count, below(2) == 0 ? Advice::pageout : Advice::migrate);
        break;
      case 5:
        if (s.processes.size() < 3) {
          ForkReply made = space.fork(below(2) == 0);
          REQUIRE(made.error == 0);
          s.processes.push_back(std::move(made.child));
          values.push_back(std::vector<std::int64_t>(values[p]));
          pins.emplace_back();
        }
        break;
      case 6:
        if (pins[p].size() < 3) {
          PinReply pinned = space.pin(s.at(first), page_bytes * count, below(2) == 0);
          if (pinned.error == 0) pins[p].push_back(std::move(pinned.range));
        } else {
          space.unpin(pins[p].back());
          pins[p].pop_back();
        }
        break;
      default:
        if (below(4) != 0) break;
        if (space.munmap(s.at(first), page_bytes * std::min<std::uint64_t>(count, 3)).error != 0) break;
        for (std::uint64_t page = first; page < first + std::min<std::uint64_t>(count, 3); ++page) set(page, -1);
    }
    for (int asked = 0; asked < 60; ++asked) {
      const std::size_t q = below(s.processes.size()), r = below(s.processes.size());
      const std::uint64_t page = below(pages), other = below(3) == 0 ? below(pages) : page;
      INFO("step " << step << ": page " << page << " of process " << q << ", page " << other << " of process " << r);
      REQUIRE(s.same(q, page, r, other) == (values[q][page] == values[r][other]));
    }
  }
  for (std::size_t p = 0; p < pins.size(); ++p)
    for (const PinnedRange& range : pins[p]) s.processes[p]->unpin(range);
}

TEST_CASE("Frames that come back from the pool hold zeros", "[seen]") {
  Seen s;
  s.processes.push_back(std::make_unique<AddressSpace>(s.pool));
  AddressSpace& space = *s.processes[0];
  verbs::MmapRequest request;
  request.length = MiB(1);
  s.memory = space.mmap(request).address;
  REQUIRE(space.fault_in(s.memory, MiB(1), true).error == 0);
  for (const SeenPart& part : space.see(s.memory, MiB(1))) s.contents.write(part.first, part.length);
  // Pinned pages outlive the mapping with what they hold.
  const PinReply pinned = space.pin(s.memory, KiB(64), true);
  REQUIRE(pinned.error == 0);
  REQUIRE(space.munmap(s.memory, MiB(1)).error == 0);
  const std::uint64_t frame = pinned.range.map->frame(0).first * page_bytes.raw;
  CHECK_FALSE(s.contents.same(frame, 1, Contents(), 0));
  CHECK(space.see(s.memory, MiB(1)).front().kind == SeenPart::Kind::nothing);
  space.unpin(pinned.range);
  CHECK(s.contents.empty());
}

// Do the IOTLB, the paging-structure caches and the walks do what a slow model of them says, in state and in time?
#include "host/iommu.h"

#include <catch2/catch.hpp>
#include <list>
#include <map>
#include <random>
#include <set>

#include "host/root_complex.h"

using namespace mtsim;
using host::Iommu;
using host::IommuParams;

namespace {

constexpr Pa start{std::uint64_t{1} << 46};

IommuParams params(std::uint32_t entries, std::uint32_t structures = 0, std::uint32_t walks = 64) {
  IommuParams p = defaults<IommuParams>();
  p.iotlb_entries = entries;
  p.structure_entries = structures;
  p.walks = walks;
  p.walk_read = ns(70);
  return p;
}

/// `pages` device pages from `start` on, in frames that are alone or run on.
IoPageTable table_of(std::uint64_t pages, bool scattered, std::uint64_t sizes = IoPageTable::all_sizes, std::uint64_t first_frame = 0) {
  IoPageTable table(FrameLaw{}, sizes);
  std::vector<FrameExtent> frames;
  if (scattered)
    for (std::uint64_t i = 0; i < pages; ++i) frames.push_back({first_frame + 2 * i, 1, Layout::linear});
  else frames.push_back({first_frame, pages, Layout::linear});
  table.map(start, std::make_shared<const DmaMap>(FrameLaw{}, frames, Bytes(), page_bytes * pages));
  return table;
}

/// An LRU list of so many things.
template <class T>
class SlowLru {
 public:
  explicit SlowLru(std::size_t most) : most_(most) {}
  bool use(const T& what) {
    const auto found = std::find(order_.begin(), order_.end(), what);
    if (found == order_.end()) return false;
    order_.erase(found);
    order_.push_front(what);
    return true;
  }
  void add(const T& what) {
    if (use(what)) return;
    order_.push_front(what);
    if (order_.size() > most_) order_.pop_back();
  }

 private:
  std::size_t most_;
  std::list<T> order_;
};

}  // namespace

TEST_CASE("a cold walk of four levels makes four reads, one after the other; then the IOTLB answers at once", "[iommu]") {
  const unsigned levels = GENERATE(3u, 4u, 5u);
  const IoPageTable table = table_of(16, true);
  Iommu iommu(params(8), levels, Pa(0), nullptr);
  iommu.add_domain(table);
  const auto cold = iommu.translate(0, start + Bytes(5 * 4096 + 100), us(1));
  CHECK(cold.at == us(1) + ns(70) * levels);
  CHECK(cold.address == *table.translate(start + Bytes(5 * 4096 + 100)));
  CHECK(cold.length == Bytes(4096 - 100));
  CHECK(iommu.counts().reads == levels);
  const auto warm = iommu.translate(0, start + Bytes(5 * 4096), cold.at);
  CHECK(warm.at == cold.at);
  CHECK(iommu.counts().hits == 1);
  CHECK(iommu.counts().reads == levels);
}

TEST_CASE("an entry for 2 MiB ends a walk a level earlier, one for 1 GiB two, and covers all of it", "[iommu]") {
  // Frames from where physical addresses are multiples of 1 GiB.
  const std::uint64_t align = GiB(1) / page_bytes;
  const std::uint64_t first = align - FrameLaw::memory_start.raw / page_bytes.raw % align;
  struct Case {
    std::uint64_t sizes;
    unsigned reads;
    Bytes covered;
  };
  const Case c =
      GENERATE(Case{std::uint64_t{1} << 12, 4, KiB(4)}, Case{1u << 12 | 1u << 21, 3, MiB(2)}, Case{IoPageTable::all_sizes, 2, GiB(1)});
  const IoPageTable table = table_of(2 * align, false, c.sizes, first);
  Iommu iommu(params(8), 4, Pa(0), nullptr);
  iommu.add_domain(table);
  const auto answer = iommu.translate(0, start, us(1));
  CHECK(iommu.counts().reads == c.reads);
  CHECK(answer.length == c.covered);
  CHECK(iommu.translate(0, start + (c.covered - Bytes(1)), us(2)).at == us(2));
  CHECK(iommu.translate(0, start + c.covered, us(2)).at > us(2));
}

TEST_CASE("nested: (g+1)(n+1)-1 reads", "[iommu]") {
  const unsigned guest = GENERATE(3u, 4u), host = GENERATE(3u, 4u, 5u);
  IommuParams p = params(8);
  p.nested_levels = host;
  const IoPageTable table = table_of(4, true);
  Iommu iommu(p, guest, Pa(0), nullptr);
  iommu.add_domain(table);
  iommu.translate(0, start, us(1));
  CHECK(iommu.counts().reads == (guest + 1) * (host + 1) - 1);
}

TEST_CASE("walks in flight are bounded: others wait in order; a second miss of a page waits for the first's walk", "[iommu]") {
  const IoPageTable table = table_of(64, true);
  Iommu iommu(params(64, 0, 2), 4, Pa(0), nullptr);
  iommu.add_domain(table);
  const Time walk = ns(280);
  for (std::int64_t i = 0; i < 6; ++i)
    CHECK(iommu.translate(0, start + page_bytes * static_cast<std::uint64_t>(i), us(1)).at == us(1) + walk * (i / 2 + 1));
  CHECK(iommu.translate(0, start + page_bytes * 4 + Bytes(8), us(1) + ns(1)).at == us(1) + walk * 3);
  CHECK(iommu.counts().merged == 1);
  CHECK(iommu.counts().walks == 6);
  CHECK(iommu.usage(us(2)).most == 2);
  CHECK(iommu.usage(us(2)).busy == walk * 6);
  CHECK(iommu.usage(us(1) + ns(10)).busy == ns(20));
}

TEST_CASE("IOTLB and paging-structure caches against a slow model of both", "[iommu]") {
  std::mt19937_64 random(GENERATE(1u, 2u, 3u));
  const std::uint32_t entries = 1 + static_cast<std::uint32_t>(random() % 40), structures = static_cast<std::uint32_t>(random() % 6);
  constexpr std::uint64_t pages = 4096;
  const IoPageTable table = table_of(pages, true);
  Iommu iommu(params(entries, structures), 4, Pa(0), nullptr);
  iommu.add_domain(table);
  SlowLru<std::uint64_t> iotlb(entries);
  std::vector<SlowLru<std::uint64_t>> upper(3, SlowLru<std::uint64_t>(structures));
  Time now = us(1);
  std::uint64_t reads = 0;
  for (int i = 0; i < 5000; ++i) {
    // So far apart that every walk has ended.
    now += us(1);
    const std::uint64_t page = random() % (random() % 2 == 0 ? 30 : pages);
    Time expected = now;
    if (!iotlb.use(page)) {
      unsigned level = 1;
      const std::uint64_t number = start.raw / 4096 + page;
      while (level < 4 && !upper[level - 1].use(number >> (9 * level))) ++level;
      for (unsigned k = 1; k < 4; ++k)
        if (structures != 0) upper[k - 1].add(number >> (9 * k));
      iotlb.add(page);
      reads += level;
      expected += ns(70) * level;
    }
    REQUIRE(iommu.translate(0, start + page_bytes * page, now).at == expected);
  }
  CHECK(iommu.counts().reads == reads);
}

TEST_CASE("N pages at random with E entries hit E of N times", "[iommu]") {
  constexpr std::uint64_t pages = 256, rounds = 200'000;
  const std::uint32_t entries = GENERATE(16u, 112u, 256u);
  const auto by = GENERATE(host::Eviction::lru, host::Eviction::fifo, host::Eviction::random);
  IommuParams p = params(entries);
  p.iotlb_replacement = by;
  const IoPageTable table = table_of(pages, true);
  Iommu iommu(p, 4, Pa(0), nullptr);
  iommu.add_domain(table);
  std::mt19937_64 random(5);
  Time now = us(1);
  for (std::uint64_t i = 0; i < rounds; ++i) iommu.translate(0, start + page_bytes * (random() % pages), now += us(1));
  const double hits = static_cast<double>(iommu.counts().hits) / static_cast<double>(rounds);
  CHECK(hits == Approx(static_cast<double>(entries) / pages).margin(0.01));
}

TEST_CASE("a set-associative IOTLB loses pages that fall in one set", "[iommu]") {
  IommuParams p = params(64);
  p.iotlb_ways = 4;
  const IoPageTable table = table_of(256, true);
  Iommu iommu(p, 4, Pa(0), nullptr);
  iommu.add_domain(table);
  const auto rounds = [&](std::uint64_t stride) {
    for (int round = 0; round < 3; ++round)
      for (std::uint64_t i = 0; i < 5; ++i)
        iommu.translate(0, start + page_bytes * (i * stride), us(1000 * (round + 1)) + us(10 * std::int64_t(i)));
    return iommu.counts().walks;
  };
  CHECK(rounds(16) == 15);
}

TEST_CASE("what is invalidated is walked for again, an entry under way too; what is not stays as it was", "[iommu]") {
  IoPageTable table = table_of(8, true);
  Iommu iommu(params(64), 4, Pa(0), nullptr);
  iommu.add_domain(table);
  for (std::uint64_t i = 0; i < 8; ++i) iommu.translate(0, start + page_bytes * i, us(1));
  const Pa before = iommu.translate(0, start, us(10)).address;
  table.unmap(start);
  // Lazily: the IOTLB still has it.
  CHECK(iommu.translate(0, start, us(11)).address == before);
  CHECK(iommu.counts().faults == 0);
  table.invalidate(start.raw / 4096, 2);
  CHECK(iommu.translate(0, start, us(12)).fault);
  CHECK_FALSE(iommu.translate(0, start + page_bytes * 2, us(12)).fault);
  table.invalidate_all();
  CHECK(iommu.translate(0, start + page_bytes * 2, us(13)).fault);
  // A walk brings what the table had when it began; invalidated meanwhile, it is not kept.
  IoPageTable other = table_of(8, true);
  iommu.add_domain(other);
  const Time end = iommu.translate(1, start, us(20)).at;
  other.invalidate(start.raw / 4096, 1);
  CHECK(iommu.translate(1, start, end + ns(1)).at == end + ns(1) + ns(280));
}

TEST_CASE("walks go through the last-level cache, and bring their lines there", "[iommu]") {
  host::LlcParams cache = defaults<host::LlcParams>();
  cache.size = MiB(1);
  cache.ways = 16;
  cache.miss = ns(80);
  host::Llc llc(cache);
  const IoPageTable table = table_of(64, true);
  Iommu iommu(params(0), 4, Pa(0), &llc);
  iommu.add_domain(table);
  CHECK(iommu.translate(0, start, us(1)).at == us(1) + (ns(70) + ns(80)) * 4);
  // Eight entries stand in a line.
  CHECK(iommu.translate(0, start + page_bytes * 7, us(2)).at == us(2) + ns(70) * 4);
  CHECK(iommu.translate(0, start + page_bytes * 8, us(3)).at == us(3) + ns(70) * 4 + ns(80));
}

namespace {

FramePoolParams memory() {
  FramePoolParams p = defaults<FramePoolParams>();
  p.size = GiB(1);
  return p;
}

}  // namespace

TEST_CASE("in order, a write that waits for its walk holds those behind it and reads; a relaxed one passes", "[iommu]") {
  host::RootComplexParams root = defaults<host::RootComplexParams>();
  root.read_latency = ns(100);
  const IoPageTable table = table_of(64, true);
  host::RootComplex complex("root", root, memory(), defaults<host::LlcParams>(), params(64));
  complex.translate_by(&table, 4);
  CHECK(complex.keeps_state());
  const auto access = [](std::uint64_t page, bool relaxed = false) {
    ports::MemoryAccess a;
    a.address = start + page_bytes * page;
    a.length = Bytes(64);
    a.relaxed = relaxed;
    return a;
  };
  complex.write(access(1), us(1));  // page 1 is known from 1.28 us on
  CHECK(complex.write(access(1), us(5)) == us(5));
  CHECK(complex.write(access(2), us(10)) == us(10) + ns(280));
  CHECK(complex.write(access(1), us(10) + ns(1)) == us(10) + ns(280));
  CHECK(complex.write(access(1, true), us(10) + ns(2)) == us(10) + ns(2));
  CHECK(complex.read(access(1), us(10) + ns(3)).at == us(10) + ns(280) + ns(100));
  CHECK(complex.read(access(1), us(20)).at == us(20) + ns(100));
  // The driver's own queues and tables are mapped, too: a page of them is walked for like any other.
  ports::MemoryAccess own;
  own.address = FrameLaw::memory_start + Bytes(8192);
  own.length = Bytes(64);
  CHECK(complex.read(own, us(30)).at == us(30) + ns(280) + ns(100));
  CHECK(complex.read(own, us(31)).at == us(31) + ns(100));
  // A translated address needs no look-up.
  ports::MemoryAccess done = access(40);
  done.translated = true;
  CHECK(complex.read(done, us(40)).at == us(40) + ns(100));
  // A read of several pages is answered page by page.
  ports::MemoryAccess both = access(1);
  both.address += Bytes(4000);
  both.length = Bytes(200);
  const auto first = complex.read(both, us(50));
  CHECK(first.length == Bytes(96));
}

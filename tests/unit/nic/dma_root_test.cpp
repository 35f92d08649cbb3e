// What do the IOMMU, credits and the completion buffer do to bursts of DMA, to the picosecond and against closed forms, and does nothing
// deadlock however little there is?
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "host/root_complex.h"
#include "nic/dma_engine.h"
#include "pcie/link.h"
#include "support/fresh_systemc.h"

using namespace mtsim;
using engine::Order;
using ports::Purpose;

namespace {

constexpr Pa start{std::uint64_t{1} << 46};

/// 125 ps a byte, 100 ns one way; MPS 256, MRRS 512.
pcie::LinkParams round_link() {
  pcie::LinkParams p = defaults<pcie::LinkParams>();
  p.generation = 2;
  p.lanes = 16;
  p.efficiency = 1;
  p.latency = ns(100);
  return p;
}

struct Setting {
  pcie::LinkParams link = round_link();
  host::IommuParams iommu = defaults<host::IommuParams>();
  bool translates = true;
};

struct Bench {
  test::FreshSystemC context;
  engine::Scheduler scheduler{"scheduler"};
  IoPageTable table{FrameLaw{}, std::uint64_t{1} << 12};
  host::RootComplex root;
  pcie::Link link;
  nic::DmaEngine dma;
  std::vector<std::pair<int, Time>> ended;
  std::vector<ports::Translation> translations;

  static host::RootComplexParams memory() {
    host::RootComplexParams p = defaults<host::RootComplexParams>();
    p.read_latency = ns(80);
    p.write_latency = ns(50);
    return p;
  }
  static FramePoolParams frames() {
    FramePoolParams p = defaults<FramePoolParams>();
    p.size = GiB(1);
    return p;
  }
  explicit Bench(const Setting& s)
      : root("root", memory(), frames(), defaults<host::LlcParams>(), s.iommu),
        link("link", scheduler, s.link),
        dma("dma", scheduler, KiB(32), Order(7)) {
    const FrameExtent all{0, 4096, Layout::linear};
    table.map(start, std::make_shared<const DmaMap>(FrameLaw{}, std::vector<FrameExtent>{all}, Bytes(), MiB(16)));
    root.translate_by(s.translates ? &table : nullptr, 4);
    dma.link(link);
    dma.memory(root);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  engine::Flow read(Time at, Pa from, Bytes length, int who, ports::Agent agent = ports::Agent::payload) {
    co_await engine::Until(scheduler, at, Order(std::uint64_t(who)));
    co_await ports::DmaRead(dma, from, length, agent, Order(std::uint64_t(who)));
    ended.emplace_back(who, scheduler.now());
  }
  engine::Flow write(Time at, Pa to, Bytes length, int who, Purpose purpose = Purpose::payload, bool relaxed = false) {
    co_await engine::Until(scheduler, at, Order(std::uint64_t(who)));
    co_await ports::WriteRoom(dma);
    if (relaxed) {
      dma.write(to, length, nullptr, {purpose, true});
      co_return;
    }
    co_await ports::DmaWrite(dma, to, length, Order(std::uint64_t(who)), purpose);
    ended.emplace_back(who, scheduler.now());
  }
  engine::Flow ask(Time at, Pa page) {
    co_await engine::Until(scheduler, at, Order(1));
    translations.push_back(co_await ports::DmaTranslate(dma, page, Order(1)));
    ended.emplace_back(0, scheduler.now());
  }
  engine::Flow reads(int count, Bytes length, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < count; ++i) scheduler.spawn(read(scheduler.now(), start + Bytes(random() % MiB(15).raw), length, i));
    co_return;
  }
  /// When a write of 64 bytes that comes to the root complex at `at` takes effect.
  Time write_effect(Time at, Pa to, bool relaxed) {
    ports::MemoryAccess access;
    access.address = to;
    access.length = Bytes(64);
    access.relaxed = relaxed;
    return root.write(access, at);
  }
  void run() { sc_core::sc_start(); }
  Time end_of(int who) const {
    const auto found = std::find_if(ended.begin(), ended.end(), [&](const auto& e) { return e.first == who; });
    REQUIRE(found != ended.end());
    return found->second;
  }
};

constexpr Time walk = ns(280);                                            // four reads of 70 ns
constexpr Time read64 = ps(3'000 + 100'000 + 80'000 + 10'500 + 100'000);  // 24 B up, 84 B down

}  // namespace

TEST_CASE("a 64 B read that misses the IOTLB takes the walk longer, one that hits does not", "[dma_root]") {
  Bench b({});
  b.scheduler.spawn(b.read(us(1), start, Bytes(64), 1));
  b.scheduler.spawn(b.read(us(2), start + Bytes(128), Bytes(64), 2));
  b.run();
  CHECK(b.end_of(1) == us(1) + read64 + walk);
  CHECK(b.end_of(2) == us(2) + read64);
}

TEST_CASE("without an IOMMU times are as ever, and no event more", "[dma_root]") {
  Setting s;
  s.translates = false;
  Bench b(s);
  b.scheduler.spawn(b.read(us(1), FrameLaw::memory_start, Bytes(64), 1));
  b.run();
  CHECK_FALSE(b.root.keeps_state());
  CHECK(b.end_of(1) == us(1) + read64);
  CHECK(b.scheduler.timed_events() == 3);  // its beginning, the data's being there, its arrival
}

TEST_CASE("a read of two pages: each page's completions leave when it is translated", "[dma_root]") {
  Setting s;
  s.iommu.walks = 1;
  Bench b(s);
  // 64 B on either side: the second page's walk begins when the first's has ended.
  b.scheduler.spawn(b.read(us(1), start + Bytes(4032), Bytes(128), 1));
  b.run();
  CHECK(b.end_of(1) == us(1) + ps(3'000 + 100'000) + walk * 2 + ns(80) + ps(10'500 + 100'000));
  CHECK(b.link.counts().completions.all().tlps == 2);
  CHECK(b.dma.tags_in_use() == 0);
}

TEST_CASE("reads come back in the order in which they are there, not in which they were asked for", "[dma_root]") {
  Bench b({});
  b.scheduler.spawn(b.read(us(1), start, Bytes(64), 1));
  b.scheduler.spawn(b.read(us(5), start + KiB(64), Bytes(64), 2));  // misses
  b.scheduler.spawn(b.read(us(5), start, Bytes(64), 3));            // hits
  b.run();
  REQUIRE(b.ended.size() == 3);
  CHECK(b.ended[1].first == 3);
  CHECK(b.ended[1].second == us(5) + read64 + ps(3'000));
  CHECK(b.end_of(2) == us(5) + read64 + walk);
}

TEST_CASE("a posted write takes effect when it is translated; the CQE behind it no earlier, even if the write may be overtaken",
          "[dma_root]") {
  Setting s;
  s.link.relaxed_ordering = GENERATE(ports::RelaxedOrdering::never, ports::RelaxedOrdering::by_mr, ports::RelaxedOrdering::always);
  Bench b(s);
  b.scheduler.spawn(b.write(us(1), start + KiB(4), Bytes(64), 1, Purpose::cqes));  // the CQ's page is known from now on
  b.scheduler.spawn(b.write(us(5), start, Bytes(256), 2, Purpose::payload, true));
  b.scheduler.spawn(b.write(us(5), start + KiB(4), Bytes(64), 3, Purpose::cqes));
  b.run();
  CHECK(b.end_of(1) == us(1) + ps(11'000 + 100'000) + walk + ns(50));
  // 280 B on the link, then the walk of the payload's page.
  CHECK(b.end_of(3) == us(5) + ps(35'000 + 100'000) + walk + ns(50));
}

TEST_CASE("payload with relaxed ordering passes payload that waits for its walk", "[dma_root]") {
  Setting s;
  s.link.relaxed_ordering = ports::RelaxedOrdering::always;
  const bool always = GENERATE(true, false);
  if (!always) s.link.relaxed_ordering = ports::RelaxedOrdering::never;
  Bench b(s);
  b.scheduler.spawn(b.write(us(1), start + KiB(4), Bytes(64), 1));
  b.scheduler.spawn(b.write(us(5), start, Bytes(64), 2));
  b.scheduler.spawn(b.write(us(5), start + KiB(4), Bytes(64), 3));
  b.run();
  CHECK(b.end_of(2) == us(5) + ps(11'000 + 100'000) + walk + ns(50));
  CHECK(b.end_of(3) == (always ? us(5) + ps(22'000 + 100'000) + ns(50) : b.end_of(2)));
}

TEST_CASE("of two writes to the same page the later one takes effect no earlier, though both may pass others", "[dma_root]") {
  const std::int64_t later = GENERATE(0, 10, 100, 200, 300, 1000);
  Bench b({});
  const Time first = b.write_effect(us(5), start, true);
  CHECK(first > us(5));
  CHECK(b.write_effect(us(5) + ns(later), start, true) >= first);
}

TEST_CASE("a relaxed write passes a strict one to the same bytes that waits behind a walk", "[dma_root]") {
  const bool relaxed = GENERATE(true, false);
  Bench b({});
  b.write_effect(us(1), start + KiB(4), false);
  const Time walks = b.write_effect(us(5), start, false);
  const Time waits = b.write_effect(us(5), start + KiB(4), false);
  CHECK(waits == walks);
  CHECK(b.write_effect(us(5), start + KiB(4), relaxed) == (relaxed ? us(5) : walks));
}

TEST_CASE("a device asks for a translation and uses it", "[dma_root]") {
  Bench b({});
  b.scheduler.spawn(b.ask(us(1), start + KiB(8)));
  b.scheduler.spawn(b.ask(us(2), start + MiB(64)));
  b.run();
  REQUIRE(b.translations.size() == 2);
  CHECK(b.translations[0].ok);
  CHECK(b.translations[0].address == *b.table.translate(start + KiB(8)));
  CHECK(b.translations[0].length == KiB(4));
  // 24 B up, the walk, 28 B down; memory itself is not read.
  CHECK(b.ended[0].second == us(1) + ps(3'000 + 100'000) + walk + ps(3'500 + 100'000));
  CHECK_FALSE(b.translations[1].ok);
}

TEST_CASE("non-posted credits bound reads a second: so many in the time from a request to its credit's return", "[dma_root]") {
  Setting s;
  s.translates = false;
  s.link.read_credits = GENERATE(1u, 3u, 8u);
  s.link.tags = 64;
  Bench b(s);
  constexpr int count = 200;
  for (int i = 0; i < count; ++i) b.scheduler.spawn(b.read(us(1), FrameLaw::memory_start, Bytes(64), i));
  b.run();
  // 3 ns on the link, 100 up, 80 in memory, 100 back; rounds of as many as there are credits.
  const Time round = ps(3'000) + ns(280);
  const std::int64_t credits = s.link.read_credits;
  // The last round's completions queue for the link, 10.5 ns each.
  const Time expected = round * (count / credits) + read64 + ps(10'500) * (credits - 1);
  CAPTURE(credits, (b.ended.back().second - us(1)).raw, expected.raw);
  CHECK(b.ended.back().second - us(1) <= expected);
  CHECK(b.ended.back().second - us(1) >= expected - round - ps(10'500) * credits);
  CHECK(b.dma.most().read_credits == s.link.read_credits);
  CHECK(b.dma.credit_usage().waited > 0);
}

TEST_CASE("posted credits bound writes a second, by TLPs or by bytes", "[dma_root]") {
  Setting s;
  s.translates = false;
  const bool by_bytes = GENERATE(true, false);
  if (by_bytes) s.link.write_data_credits = Bytes(512);
  else s.link.write_credits = 2;
  Bench b(s);
  constexpr int count = 100;
  for (int i = 0; i < count; ++i) b.scheduler.spawn(b.write(us(1), FrameLaw::memory_start, Bytes(256), i));
  b.run();
  // 35 ns on the link, 100 up, 100 for the credit to come back; two at a time.
  const Time round = ns(235);
  CHECK(b.ended.back().second - us(1) >= round * (count / 2 - 1));
  CHECK(b.ended.back().second - us(1) <= (round + ns(35)) * (count / 2) + ns(50));
  CHECK(b.dma.most().write_credits == (by_bytes ? 0 : 2));
  CHECK(b.dma.most().write_data == (by_bytes ? Bytes(512) : Bytes(0)));
}

TEST_CASE("the completion buffer bounds the bytes of reads in flight", "[dma_root]") {
  Setting s;
  s.translates = false;
  s.link.completion_buffer = GENERATE(Bytes(512), Bytes(1000), Bytes(4096));
  Bench b(s);
  for (int i = 0; i < 50; ++i) b.scheduler.spawn(b.read(us(1), FrameLaw::memory_start + Bytes(std::uint64_t(i) * 1000), Bytes(3000), i));
  b.run();
  CHECK(b.ended.size() == 50);
  CHECK(b.dma.most().completion_bytes <= s.link.completion_buffer);
  CHECK(b.dma.most().completion_bytes.raw * 2 > s.link.completion_buffer.raw);
  CHECK(b.link.counts().completions.all().payload_bytes == 50 * 3000);
}

TEST_CASE("completions of 64 B: more TLPs, the same bytes", "[dma_root]") {
  Setting s;
  s.translates = false;
  s.link.completion = Bytes(64);
  Bench b(s);
  b.scheduler.spawn(b.read(us(1), FrameLaw::memory_start, Bytes(256), 1));
  b.run();
  CHECK(b.link.counts().completions.all().tlps == 4);
  CHECK(b.end_of(1) == us(1) + ps(3'000 + 100'000 + 80'000 + 4 * 10'500 + 100'000));
}

TEST_CASE("random bursts with little of everything: all end, and nothing is exceeded", "[dma_root]") {
  std::mt19937_64 random(GENERATE(1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u));
  const auto one_of = [&](auto... values) {
    const std::array all{values...};
    return all[random() % all.size()];
  };
  Setting s;
  s.link.tags = one_of(1u, 2u, 64u);
  s.link.read_credits = one_of(0u, 1u, 5u);
  s.link.write_credits = one_of(0u, 1u, 7u);
  s.link.write_data_credits = Bytes(one_of(0u, 256u, 1000u));
  s.link.completion_buffer = Bytes(one_of(0u, 512u, 2000u));
  s.link.completion = Bytes(one_of(0u, 64u, 128u));
  s.link.relaxed_ordering = one_of(ports::RelaxedOrdering::never, ports::RelaxedOrdering::always);
  s.iommu.walks = one_of(1u, 2u, 64u);
  s.iommu.iotlb_entries = one_of(0u, 1u, 100u);
  s.iommu.structure_entries = one_of(0u, 2u);
  s.translates = random() % 4 != 0;
  Bench b(s);
  const Pa base = s.translates ? start : FrameLaw::memory_start;
  constexpr int count = 300;
  std::uint64_t read = 0, written = 0;
  for (int i = 0; i < count; ++i) {
    const Bytes length(1 + random() % one_of(64u, 4096u, 20'000u));
    const Pa at = base + Bytes(random() % MiB(15).raw);
    const Time when = ns(std::int64_t(random() % 20'000));
    if (random() % 2 == 0) {
      b.scheduler.spawn(b.read(when, at, length, i, one_of(ports::Agent::payload, ports::Agent::tables, ports::Agent::control)));
      read += length.raw;
    } else {
      b.scheduler.spawn(b.write(when, at, length, i));
      written += length.raw;
    }
  }
  b.run();
  CHECK(b.ended.size() == count);
  CHECK(b.link.counts().completions.all().payload_bytes == read);
  CHECK(b.link.counts().writes.all().payload_bytes == written);
  CHECK(b.dma.tags_in_use() == 0);
  CHECK(b.dma.tag_usage().most <= s.link.tags);
  CHECK(b.dma.most().read_credits <= s.link.read_credits);
  CHECK(b.dma.most().write_credits <= s.link.write_credits);
  CHECK(b.dma.most().write_data <= s.link.write_data_credits);
  CHECK(b.dma.most().completion_bytes <= s.link.completion_buffer);
  if (s.translates) {
    const host::Iommu& iommu = *b.root.iommu();
    CHECK(iommu.usage(b.scheduler.now()).most <= s.iommu.walks);
    CHECK(iommu.counts().hits + iommu.counts().merged + iommu.counts().walks == iommu.counts().lookups);
    CHECK(iommu.counts().faults == 0);
  }
  CHECK(b.link.up_usage().busy <= b.scheduler.now());
  CHECK(b.link.down_usage().busy <= b.scheduler.now());
}

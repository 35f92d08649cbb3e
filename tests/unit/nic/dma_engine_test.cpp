// Are bursts cut into the TLPs that addresses and limits demand, and do reads share the tags in order of arrival?
#include "nic/dma_engine.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "pcie/link.h"
#include "support/nic_rig.h"

using namespace mtsim;
using engine::Order;

namespace {

pcie::LinkParams link_of(std::uint32_t tags, std::uint64_t max_payload = 256, std::uint64_t max_read_request = 512) {
  pcie::LinkParams p = defaults<pcie::LinkParams>();
  p.tags = tags;
  p.max_payload = Bytes(max_payload);
  p.max_read_request = Bytes(max_read_request);
  return p;
}

struct Bench {
  test::FreshSystemC context;
  engine::Scheduler scheduler{"scheduler"};
  test::PlainMemory memory{"memory", ns(90), ns(50)};
  pcie::Link link;
  nic::DmaEngine dma;
  std::vector<int> ended;
  std::vector<Time> begun;

  explicit Bench(const pcie::LinkParams& params, Bytes write_buffer = KiB(32))
      : link("link", scheduler, params), dma("dma", scheduler, write_buffer, Order(7)) {
    dma.link(link);
    dma.memory(memory);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  engine::Flow read(Pa from, Bytes length, int who) {
    co_await ports::DmaRead(dma, from, length, ports::Agent::payload, Order(static_cast<std::uint64_t>(who)));
    ended.push_back(who);
  }
  /// A write as soon as there is room for it.
  engine::Flow write(Pa to, Bytes length, int who) {
    co_await ports::WriteRoom(dma);
    begun.push_back(scheduler.now());
    co_await ports::DmaWrite(dma, to, length, Order(static_cast<std::uint64_t>(who)), ports::Purpose::payload);
    ended.push_back(who);
  }
  void run() { sc_core::sc_start(); }
};

}  // namespace

TEST_CASE("a read is cut at multiples of the largest request, its completions at those of the largest payload", "[dma_engine]") {
  struct Case {
    std::uint64_t address, length, requests, completions;
  };
  const Case c = GENERATE(Case{0, 4096, 8, 16}, Case{0, 1, 1, 1}, Case{0, 512, 1, 2}, Case{0, 513, 2, 3}, Case{511, 2, 2, 2},
                          Case{300, 4096, 9, 17}, Case{256, 256, 1, 1}, Case{255, 256, 1, 2}, Case{511, 1025, 3, 5});
  Bench b(link_of(64));
  b.scheduler.spawn(b.read(Pa((1 << 20) + c.address), Bytes(c.length), 1));
  b.run();
  CHECK(b.ended == std::vector<int>{1});
  CHECK(b.link.counts().reads.all().tlps == c.requests);
  CHECK(b.link.counts().reads.all().payload_bytes == 0);
  CHECK(b.link.counts().completions.all().tlps == c.completions);
  CHECK(b.link.counts().completions.all().payload_bytes == c.length);
  CHECK(b.dma.tag_usage().most == c.requests);
  CHECK(b.dma.tags_in_use() == 0);
}

TEST_CASE("a write is cut at multiples of the largest payload", "[dma_engine]") {
  struct Case {
    std::uint64_t address, length, tlps;
  };
  const Case c = GENERATE(Case{0, 64, 1}, Case{0, 4096, 16}, Case{1, 4096, 17}, Case{255, 2, 2}, Case{192, 64, 1});
  Bench b(link_of(64));
  b.dma.write(Pa((1 << 20) + c.address), Bytes(c.length), nullptr);
  CHECK(b.link.counts().writes.all().tlps == c.tlps);
  CHECK(b.link.counts().writes.all().payload_bytes == c.length);
  CHECK(b.link.counts().writes.all().header_bytes == c.tlps * 24);
}

TEST_CASE("reads wait for tags in order of arrival: a small one does not overtake", "[dma_engine]") {
  Bench b(link_of(8));
  b.scheduler.spawn(b.read(Pa(1 << 20), Bytes(6 * 512), 1));  // two tags are left
  b.scheduler.spawn(b.read(Pa(2 << 20), Bytes(4 * 512), 2));  // needs four
  b.scheduler.spawn(b.read(Pa(3 << 20), Bytes(64), 3));       // one would do
  b.run();
  CHECK(b.ended == std::vector<int>{1, 2, 3});
  CHECK(b.dma.tag_usage().requests == 3);
  CHECK(b.dma.tag_usage().waited == 2);
  CHECK(b.dma.tag_usage().most == 6);
}

TEST_CASE("a burst larger than all tags goes in parts, and gives the same requests", "[dma_engine]") {
  const std::uint32_t tags = GENERATE(1u, 3u, 64u);
  Bench b(link_of(tags));
  b.scheduler.spawn(b.read(Pa((1 << 20) + 100), Bytes(8192), 1));
  b.scheduler.spawn(b.read(Pa(2 << 20), Bytes(64), 2));
  b.run();
  CHECK(b.ended == std::vector<int>{1, 2});
  CHECK(b.link.counts().reads.all().tlps == 17 + 1);
  CHECK(b.link.counts().completions.all().tlps == 33 + 1);
  CHECK(b.link.counts().completions.all().payload_bytes == 8192 + 64);
  CHECK(b.dma.tag_usage().most == std::min(tags, 18u));
  CHECK(b.dma.tags_in_use() == 0);
}

TEST_CASE("with one tag every read has its round trip to itself", "[dma_engine]") {
  const auto time_of = [](int reads) {
    Bench b(link_of(1));
    for (int i = 1; i <= reads; ++i) b.scheduler.spawn(b.read(Pa((1 << 20) + std::uint64_t(i) * 4096), Bytes(64), i));
    b.run();
    CHECK(b.dma.tag_usage().busy == b.scheduler.now());
    return b.scheduler.now();
  };
  CHECK(time_of(10) == time_of(1) * 10);
}

TEST_CASE("a write begins when less than the buffer is left before the link, in order of arrival", "[dma_engine]") {
  // 64 Gb/s are 125 ps a byte: a write of 256 B is 35,000 ps on the link, the buffer of 512 B stands for 64,000 ps.
  pcie::LinkParams params = link_of(8);
  params.generation = 2;
  params.lanes = 16;
  params.efficiency = 1;
  Bench b(params, Bytes(512));
  for (int i = 0; i < 5; ++i) b.scheduler.spawn(b.write(Pa((1 << 20) + std::uint64_t(i) * 256), Bytes(256), i));
  b.run();
  // The first is on the link at once, the second leaves room for a third; then 70,000 wait. There is room again when the link takes the
  // second up, and the third; nobody waits longer than a TLP beyond that.
  REQUIRE(b.begun.size() == 5);
  for (std::size_t i = 0; i < 3; ++i) CHECK(b.begun[i] == ps(0));
  for (std::size_t i = 3; i < 5; ++i) {
    const Time room = ps(35'000) * static_cast<std::int64_t>(i - 2);
    CHECK(b.begun[i] >= room);
    CHECK(b.begun[i] < room + ps(35'000));
  }
  CHECK(b.ended == std::vector<int>{0, 1, 2, 3, 4});
  CHECK(b.dma.write_usage().waited == 2);
  CHECK(b.link.counts().writes.all().payload_bytes == 5 * 256);
}

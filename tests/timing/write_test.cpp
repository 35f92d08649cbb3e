// When does each step of a WRITE end, to the picosecond? Every sum is worked out by hand from the figures in round_figures.h.
#include <catch2/catch.hpp>

#include "timing/round_figures.h"

using namespace mtsim;
using test::TimedPair;
using verbs::Opcode;
using verbs::Send;
using Stamps = std::vector<std::int64_t>;

namespace {

constexpr Time start = us(10);  // of the operations that find the caches warm

}  // namespace

TEST_CASE("a cold 4 KiB WRITE, its WQE fetched", "[timing]") {
  TimedPair t;
  t.fill(Opcode::write, 4096);
  t.rig.ring(t.pair, false);
  t.rig.run();

  // The doorbell is a write TLP of 24 + 8 B: 4,000, and the link.
  const std::int64_t doorbell = 4'000 + 100'000;
  // A read of one 64 B line: request 24 B, link, memory, completion 20 + 64 B, link.
  const std::int64_t line = 3'000 + 100'000 + 80'000 + 10'500 + 100'000;
  // The WQE is such a read; the NIC takes it up at the next edge.
  const std::int64_t fetched = doorbell + line + 500;
  REQUIRE(fetched == 398'000);
  // 40,000 in the pipe, 8,000 to find that the MPT cache has no such line, the line, up to the edge.
  const std::int64_t judged = fetched + 40'000 + 8'000 + line + 500;
  // 6,000 to find that the MTT cache has no such line either, the line, up to the edge.
  const std::int64_t translated = judged + 6'000 + line + 500;
  // Eight read requests, of which the first counts: 3,000, link, memory; then 16 completions of 20 + 256 B, 34,500 each; link.
  const std::int64_t in_nic = translated + 3'000 + 100'000 + 80'000 + 16 * 34'500 + 100'000;
  // One packet of 82 + 16 (RETH) + 4,096 B at 80 ps, and the way.
  const std::int64_t arrived = in_nic + 335'520 + 170'000;
  REQUIRE(arrived == 2'380'520);
  // Up to the edge, 30,000 in the pipe.
  const std::int64_t taken_up = arrived + 480 + 30'000;
  const std::int64_t remote_judged = taken_up + 8'000 + line + 500;
  const std::int64_t remote_translated = remote_judged + 6'000 + line + 500;
  // The payload is handed on at once and the acknowledgement, 82 + 4 B, leaves.
  const std::int64_t acknowledged = remote_translated + 6'880 + 170'000;
  // The CQE is a write of 24 + 64 B; link; seen after 50,000.
  const std::int64_t completed = acknowledged + 11'000 + 100'000 + 50'000;
  REQUIRE(completed == 3'350'880);

  CHECK(t.stamps(0) == Stamps{0, doorbell, fetched, fetched, judged, translated, in_nic, arrived, taken_up, remote_judged,
                              remote_translated, remote_translated, acknowledged, acknowledged, completed});
  CHECK(t.pair.cq->times == std::vector<Time>{Time(completed)});
}

TEST_CASE("a warm 4 KiB WRITE: fetched, or carried by the doorbell", "[timing]") {
  const bool blueflame = GENERATE(false, true);
  TimedPair t;
  t.warm_up();
  t.rig.at(start, [&] {
    t.fill(Opcode::write, 4096);
    t.rig.ring(t.pair, blueflame);
  });
  t.rig.run();

  // A doorbell of 8 B, or one that carries the 64 B WQE: 24 B more each, and the link.
  const std::int64_t doorbell = (blueflame ? 11'000 : 4'000) + 100'000;
  // Read the WQE (request 24 B, link, memory, completion 84 B, link), or have it.
  const std::int64_t there = blueflame ? doorbell : doorbell + 3'000 + 100'000 + 80'000 + 10'500 + 100'000 + 500;
  REQUIRE(there == (blueflame ? 111'000 : 398'000));
  const std::int64_t judged = there + 40'000 + 8'000;  // pipe, MPT cache
  const std::int64_t translated = judged + 6'000;      // MTT cache
  const std::int64_t in_nic = translated + 3'000 + 100'000 + 80'000 + 16 * 34'500 + 100'000;
  const std::int64_t arrived = in_nic + 335'520 + 170'000;
  const std::int64_t taken_up = arrived + 480 + 30'000;  // edge, pipe
  const std::int64_t remote_judged = taken_up + 8'000;
  const std::int64_t remote_translated = remote_judged + 6'000;
  const std::int64_t acknowledged = remote_translated + 6'880 + 170'000;
  const std::int64_t completed = acknowledged + 11'000 + 100'000 + 50'000;
  REQUIRE(completed == (blueflame ? 1'887'880 : 2'174'880));

  CHECK(t.stamps(1, start) == Stamps{0, doorbell, there, there, judged, translated, in_nic, arrived, taken_up, remote_judged,
                                     remote_translated, remote_translated, acknowledged, acknowledged, completed});
}

TEST_CASE("a warm inline WRITE of 64 B: fetched, or carried by the doorbell", "[timing]") {
  const bool blueflame = GENERATE(false, true);
  TimedPair t;
  t.warm_up();
  t.rig.at(start, [&] {
    // Control, remote address and inline header take 36 B; with 64 B of data two basic blocks of the ring.
    t.fill(Opcode::write, 64, 0, Send::signaled | Send::inline_data).basic_blocks = 2;
    t.rig.hosts[0].nic->doorbells().ring(t.pair.local, t.pair.producer, blueflame ? Bytes(128) : Bytes{});
  });
  t.rig.run();

  // 24 + 8 B, or 24 + 128 B; link.
  const std::int64_t doorbell = (blueflame ? 19'000 : 4'000) + 100'000;
  // The WQE's 128 B come in one completion of 20 B more: 18,500.
  const std::int64_t there = blueflame ? doorbell : doorbell + 3'000 + 100'000 + 80'000 + 18'500 + 100'000 + 500;
  const std::int64_t ready = there + 40'000;              // no key to check, nothing to gather
  const std::int64_t arrived = ready + 12'960 + 170'000;  // 82 + 16 + 64 B
  const std::int64_t taken_up = arrived + 40 + 30'000;
  const std::int64_t remote_translated = taken_up + 8'000 + 6'000;
  const std::int64_t acknowledged = remote_translated + 6'880 + 170'000;
  const std::int64_t completed = acknowledged + 11'000 + 100'000 + 50'000;
  REQUIRE(completed == (blueflame ? 723'880 : 1'010'880));

  CHECK(t.stamps(1, start) == Stamps{0, doorbell, there, there, ready, ready, ready, arrived, taken_up, taken_up + 8'000, remote_translated,
                                     remote_translated, acknowledged, acknowledged, completed});
}

TEST_CASE("a WRITE that finds its key in the caches and its translation not", "[timing]") {
  TimedPair t;
  t.warm_up();
  t.rig.at(start, [&] {
    t.fill(Opcode::write, 4096, 8 * 4096);  // a line of the MTT holds the entries of eight pages: this is the next
    t.rig.ring(t.pair, true);
  });
  t.rig.run();

  const std::int64_t line = 3'000 + 100'000 + 80'000 + 10'500 + 100'000;
  const std::int64_t there = 11'000 + 100'000;
  const std::int64_t judged = there + 40'000 + 8'000;
  const std::int64_t translated = judged + 6'000 + line + 500;
  const std::int64_t in_nic = translated + 3'000 + 100'000 + 80'000 + 16 * 34'500 + 100'000;
  const std::int64_t arrived = in_nic + 335'520 + 170'000;
  const std::int64_t taken_up = arrived + 480 + 30'000;
  const std::int64_t remote_judged = taken_up + 8'000;
  const std::int64_t remote_translated = remote_judged + 6'000 + line + 500;
  const std::int64_t acknowledged = remote_translated + 6'880 + 170'000;
  const std::int64_t completed = acknowledged + 11'000 + 100'000 + 50'000;
  // Two lines, each rounded up to its edge, more than when all is there.
  REQUIRE(completed == 1'887'880 + 2 * 294'000);

  CHECK(t.stamps(1, start) == Stamps{0, there, there, there, judged, translated, in_nic, arrived, taken_up, remote_judged,
                                     remote_translated, remote_translated, acknowledged, acknowledged, completed});
}

// When does each step of a READ end, to the picosecond? Every sum is worked out by hand from the figures in round_figures.h.
#include <catch2/catch.hpp>

#include "timing/round_figures.h"

using namespace mtsim;
using test::TimedPair;
using verbs::Opcode;
using Stamps = std::vector<std::int64_t>;

TEST_CASE("a cold 64 B READ, its WQE fetched", "[timing]") {
  TimedPair t;
  t.fill(Opcode::read, 64);
  t.rig.ring(t.pair, false);
  t.rig.run();

  const std::int64_t doorbell = 4'000 + 100'000;                          // 24 + 8 B, link
  const std::int64_t line = 3'000 + 100'000 + 80'000 + 10'500 + 100'000;  // any read of 64 B
  const std::int64_t fetched = doorbell + line + 500;                     // up to the edge
  const std::int64_t ready = fetched + 40'000;                            // pipe; a READ looks its own key up when data comes back
  const std::int64_t arrived = ready + 7'840 + 170'000;                   // 82 + 16 B
  REQUIRE(arrived == 615'840);
  const std::int64_t taken_up = arrived + 160 + 30'000;                           // edge, pipe
  const std::int64_t judged = taken_up + 8'000 + line + 500;                      // MPT miss, up to the edge
  const std::int64_t translated = judged + 6'000 + line + 500;                    // MTT miss, up to the edge
  const std::int64_t data = translated + line;                                    // the payload is 64 B too
  const std::int64_t back = data + 12'000 + 170'000;                              // 82 + 4 (AETH) + 64 B
  const std::int64_t local_judged = back + 500 + 8'000 + line + 500;              // edge, MPT miss, edge
  const std::int64_t scattered = local_judged + 6'000 + line + 500;               // MTT miss, edge
  const std::int64_t completed = scattered + 11'000 + 11'000 + 100'000 + 50'000;  // the payload's TLP, then the CQE's; link; seen
  REQUIRE(completed == 2'498'000);

  CHECK(t.stamps(0) == Stamps{0, doorbell, fetched, fetched, ready, ready, ready, arrived, taken_up, judged, translated, data, back,
                              scattered, completed});
}

TEST_CASE("a warm 64 B READ, carried by the doorbell", "[timing]") {
  constexpr Time start = us(10);
  TimedPair t;
  t.warm_up();
  t.rig.at(start, [&] {
    t.fill(Opcode::read, 64);
    t.rig.ring(t.pair, true);
  });
  t.rig.run();

  const std::int64_t there = 11'000 + 100'000;  // 24 + 64 B, link
  const std::int64_t ready = there + 40'000;
  const std::int64_t arrived = ready + 7'840 + 170'000;
  const std::int64_t taken_up = arrived + 160 + 30'000;
  const std::int64_t judged = taken_up + 8'000;
  const std::int64_t translated = judged + 6'000;
  const std::int64_t data = translated + 3'000 + 100'000 + 80'000 + 10'500 + 100'000;
  const std::int64_t back = data + 12'000 + 170'000;
  const std::int64_t scattered = back + 500 + 8'000 + 6'000;  // edge, both caches
  const std::int64_t completed = scattered + 11'000 + 11'000 + 100'000 + 50'000;
  REQUIRE(completed == 1'035'000);

  CHECK(t.stamps(1, start) ==
        Stamps{0, there, there, there, ready, ready, ready, arrived, taken_up, judged, translated, data, back, scattered, completed});
}

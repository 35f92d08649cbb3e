// What do QP contexts and request contexts cost that are near, farther, or in host memory? Every sum is worked out by hand from the figures
// in round_figures.h and from read_test.cpp, where all contexts are at hand.
#include <catch2/catch.hpp>

#include "timing/round_figures.h"

using namespace mtsim;
using test::FreshNicRig;
using test::NicRig;
using verbs::Opcode;
using Stamps = std::vector<std::int64_t>;

namespace {

test::RigSettings with_contexts(std::uint32_t lines, std::uint32_t second) {
  test::RigSettings s = test::round_figures();
  s.nic.qp_cache = defaults<nic::QpCacheParams>();
  s.nic.qp_cache.enabled = true;
  s.nic.qp_cache.lines = lines;
  s.nic.qp_level2 = defaults<nic::QpLevel2Params>();
  s.nic.qp_level2.lines = second;
  s.nic.qp_level2.latency = ns(20);
  return s;
}

/// Two connections; tables are warm, and the second's contexts are those used last.
struct TwoPairs {
  explicit TwoPairs(const test::RigSettings& settings) : rig(settings) {
    for (NicRig::Pair* pair : {&first, &second}) {
      write(*pair);
      rig.run();
    }
  }
  void write(NicRig::Pair& pair) { post(pair, Opcode::write); }
  void read(NicRig::Pair& pair) { post(pair, Opcode::read); }
  void post(NicRig::Pair& pair, Opcode opcode) {
    rig.fill(pair, opcode, {local.start.raw, 64, local.key}, remote.start.raw, remote.key);
    rig.ring(pair, true);
  }
  /// Stamps of operation `i` without that of a retransmission, counted from `since`.
  std::vector<std::int64_t> stamps(std::size_t i, Time since) {
    std::vector<std::int64_t> out;
    for (unsigned step = 0; step < ports::step_count; ++step)
      if (ports::Step(step) != ports::Step::retry) out.push_back((rig.hosts[0].log->operations.at(i).first.stamp[step] - since).raw);
    return out;
  }

  FreshNicRig rig;
  NicRig::Pair first = rig.connect(), second = rig.connect();
  verbs::Grant local = rig.register_memory(0, KiB(64)), remote = rig.register_memory(1, KiB(64));
};

constexpr Time start = us(20);

constexpr std::int64_t there = 11'000 + 100'000;                               // 24 + 64 B, link
constexpr std::int64_t to_peer = 7'840 + 170'000;                              // 82 + 16 B
constexpr std::int64_t line = 3'000 + 100'000 + 80'000 + 10'500 + 100'000;     // a read of 64 B
constexpr std::int64_t context = 3'000 + 100'000 + 80'000 + 51'875 + 100'000;  // 375 B come in two completions of 20 B more each
constexpr std::int64_t response = 12'000 + 170'000;                            // 82 + 4 + 64 B
constexpr std::int64_t end = 11'000 + 11'000 + 100'000 + 50'000;               // the payload's TLP, then the CQE's; link; seen

}  // namespace

TEST_CASE("contexts in the first level cost nothing", "[timing]") {
  TwoPairs t(with_contexts(2, 0));
  t.rig.at(start, [&] { t.read(t.first); });
  t.rig.run();
  CHECK(t.stamps(2, start).back() == 1'035'000);
}

TEST_CASE("a context in the second level keeps each pipe for as long as the look-up takes", "[timing]") {
  TwoPairs t(with_contexts(1, 16));
  const Time before[] = {t.rig.hosts[0].nic->requester.pipe().usage().busy, t.rig.hosts[1].nic->responder.pipe().usage().busy};
  t.rig.at(start, [&] { t.read(t.first); });
  t.rig.run();

  const std::int64_t ready = there + 20'000 + 40'000;
  const std::int64_t arrived = ready + to_peer;
  const std::int64_t taken_up = arrived + 160 + 20'000 + 30'000;
  const std::int64_t judged = taken_up + 8'000;
  const std::int64_t translated = judged + 6'000;
  const std::int64_t data = translated + line;
  const std::int64_t back = data + response;
  const std::int64_t scattered = back + 500 + 8'000 + 6'000;  // the answer finds the context in the first level
  CHECK(t.stamps(2, start) ==
        Stamps{0, there, there, there, ready, ready, ready, arrived, taken_up, judged, translated, data, back, scattered, scattered + end});
  CHECK(scattered + end == 1'035'000 + 2 * 20'000);
  CHECK(t.rig.hosts[0].nic->requester.pipe().usage().busy - before[0] == ns(10 + 20));
  CHECK(t.rig.hosts[1].nic->responder.pipe().usage().busy - before[1] == ns(10 + 20));
}

TEST_CASE("a context that is nowhere in the NIC is read, while the pipes are free", "[timing]") {
  TwoPairs t(with_contexts(1, 0));
  t.rig.at(start, [&] { t.read(t.first); });
  t.rig.run();

  const std::int64_t fetched = there + context + 125;  // up to the edge
  const std::int64_t ready = fetched + 40'000;
  const std::int64_t arrived = ready + to_peer;
  const std::int64_t taken_up = arrived + 160 + context + 125 + 30'000;
  const std::int64_t judged = taken_up + 8'000;
  const std::int64_t translated = judged + 6'000;
  // The payload's read waits for the link until the context that had to go has been written: 375 bytes in two TLPs of 24 more each.
  const std::int64_t written = arrived + 160 + context + 52'875;
  REQUIRE(written == translated + 8'750);
  const std::int64_t data = written + line;
  const std::int64_t back = data + response;
  const std::int64_t scattered = back + 750 + 8'000 + 6'000;
  CHECK(t.stamps(2, start) == Stamps{0, there, there, fetched, ready, ready, ready, arrived, taken_up, judged, translated, data, back,
                                     scattered, scattered + end});
  CHECK(scattered + end == 1'714'000);
}

TEST_CASE("an answer whose request's context has gone waits for the WQE", "[timing]") {
  test::RigSettings settings = test::round_figures();
  settings.nic.request_cache = defaults<nic::RequestCacheParams>();
  settings.nic.request_cache.lines = 1;
  TwoPairs t(settings);
  t.rig.at(start, [&] { t.read(t.first); });
  t.rig.at(start + ns(400), [&] { t.read(t.second); });  // its WQE takes the place
  t.rig.run();

  const std::int64_t back = there + 40'000 + to_peer + 160 + 30'000 + 8'000 + 6'000 + line + response;
  const std::int64_t scattered = back + line + 8'000 + 6'000;  // 848,500 and 293,500 end at an edge
  CHECK(t.rig.hosts[0].nic->request_contexts->misses().count == 1);
  CHECK(t.rig.hosts[0].nic->request_contexts->cache().counts().lookups == 8);
  CHECK(t.stamps(2, start)[12] == back);
  CHECK(t.stamps(2, start)[13] == scattered);
  CHECK(t.stamps(2, start)[14] == scattered + end);
  CHECK(t.stamps(3, start + ns(400)).back() == 1'035'000);
}

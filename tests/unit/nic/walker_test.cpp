// Does the Walker fetch what is missing once, within its bound, and give what the tables say when a fetch ends?
#include "nic/walker.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "timing/round_figures.h"

using namespace mtsim;
using test::FreshNicRig;
using test::NicRig;
using verbs::Opcode;
using verbs::Status;

namespace {

constexpr std::uint32_t mpt = 0, mtt = 1;

Status only_status(const NicRig::Pair& pair) {
  REQUIRE(pair.cq->completions.size() == 1);
  return pair.cq->completions[0].status;
}

}  // namespace

TEST_CASE("look-ups that miss the same line share one fetch", "[walker]") {
  FreshNicRig rig(test::round_figures());
  const verbs::Grant local = rig.register_memory(0, KiB(64)), remote = rig.register_memory(1, KiB(64));
  std::vector<NicRig::Pair> pairs;
  for (int q = 0; q < 5; ++q) pairs.push_back(rig.connect());
  for (NicRig::Pair& pair : pairs) {
    rig.fill(pair, Opcode::read, {local.start.raw, 64, local.key}, remote.start.raw, remote.key);
    rig.ring(pair, true);
  }
  rig.run();
  for (const NicRig::Pair& pair : pairs) CHECK(only_status(pair) == Status::SUCCESS);
  const nic::Walker& walker = rig.hosts[1].nic->walker;
  CHECK(walker.misses(mpt).count == 5);
  CHECK(walker.misses(mpt).merged == 4);
  CHECK(walker.misses(mtt).merged + 1 == walker.misses(mtt).count);
  // Two lines and five payloads of 64 B.
  CHECK(rig.hosts[1].link->counts().completions.all().payload_bytes == 2 * 64 + 5 * 64);
}

TEST_CASE("walks in flight are bounded: with fewer places they follow each other", "[walker]") {
  // From the first translation to the last of eight look-ups that miss both tables, each in lines of its own.
  const auto spread = [](std::uint32_t walks) {
    test::RigSettings settings = test::round_figures();
    settings.nic.nic.walks = walks;
    FreshNicRig rig(settings);
    const verbs::Grant local = rig.register_memory(0, KiB(64));
    std::vector<NicRig::Pair> pairs;
    for (int q = 0; q < 8; ++q) {
      const verbs::Grant remote = rig.register_memory(1, KiB(64));
      NicRig::Pair& pair = pairs.emplace_back(rig.connect());
      rig.fill(pair, Opcode::read, {local.start.raw, 64, local.key}, remote.start.raw, remote.key);
      rig.ring(pair, true);
    }
    rig.run();
    for (const NicRig::Pair& pair : pairs) CHECK(only_status(pair) == Status::SUCCESS);
    const engine::Usage usage = rig.hosts[1].nic->walker.walks().usage();
    CHECK(usage.most == walks);
    CHECK(usage.requests == 8);
    std::vector<Time> translated;
    for (const auto& [wqe, status] : rig.hosts[0].log->operations)
      translated.push_back(wqe.stamp[unsigned(ports::Step::responder_translation)]);
    const auto [first, last] = std::minmax_element(translated.begin(), translated.end());
    return *last - *first;
  };
  // A walk keeps its place for two lines of 293.5 ns and the 6 ns between, give or take an edge. One place: seven walks after the
  // first; two places: three pairs after the first pair, whose second began 11 ns after its first. With a place for each they begin
  // 11 ns apart and stay so.
  const Time one = spread(1), two = spread(2), eight = spread(8);
  CHECK(one >= ns(7 * 593));
  CHECK(one <= ns(7 * 595));
  CHECK(two >= ns(3 * 593 + 11));
  CHECK(two <= ns(3 * 595 + 22));
  CHECK(eight == ns(7 * 11));
}

TEST_CASE("caches without lines, and one walk at a time, still give right answers", "[walker]") {
  const std::uint32_t lines = GENERATE(0u, 1u, 8u);
  test::RigSettings settings = test::round_figures();
  settings.nic.nic.walks = 1;
  settings.nic.mpt_cache.lines = settings.nic.mtt_cache.lines = lines;
  settings.nic.mpt_cache.ways = settings.nic.mtt_cache.ways = 1;
  FreshNicRig rig(settings);
  std::mt19937_64 random(9);
  std::vector<verbs::Grant> local, remote;
  for (int i = 0; i < 4; ++i) {
    local.push_back(rig.register_memory(0, KiB(256)));
    remote.push_back(rig.register_memory(1, KiB(256)));
  }
  std::vector<NicRig::Pair> pairs;
  for (int q = 0; q < 6; ++q) {
    NicRig::Pair& pair = pairs.emplace_back(rig.connect());
    for (int i = 0; i < 20; ++i) {
      const verbs::Grant &from = local[random() % 4], &to = remote[random() % 4];
      const auto length = static_cast<std::uint32_t>(1 + random() % 20'000);
      rig.fill(pair, random() % 2 ? Opcode::read : Opcode::write, {from.start.raw + random() % 200'000, length, from.key},
               to.start.raw + random() % 200'000, to.key);
    }
    rig.ring(pair, false);
  }
  rig.run();
  for (const NicRig::Pair& pair : pairs) {
    REQUIRE(pair.cq->completions.size() == 20);
    for (const verbs::Completion& c : pair.cq->completions) REQUIRE(c.status == Status::SUCCESS);
  }
  for (const auto& host : rig.hosts) {
    CHECK(host.nic->walker.walks().in_use() == 0);
    CHECK(host.nic->walker.walks().usage().most == 1);
    CHECK((host.nic->mpt_cache->counts().hits == 0) == (lines == 0));
  }
}

TEST_CASE("a deregistration in the middle of a look-up is seen by what is fetched after it", "[walker]") {
  // The responder of a cold 4 KiB WRITE fetches the key's line from 2,419,000 ps to 2,712,500 and that of the translation from 2,719,000
  // to 3,012,500: the sums stand in the timing tests.
  struct Case {
    Time at;
    Status status;
  };
  const Case c = GENERATE(Case{ps(2'600'000), Status::REM_ACCESS_ERR}, Case{ps(2'716'000), Status::REM_ACCESS_ERR},
                          Case{ps(2'900'000), Status::REM_ACCESS_ERR}, Case{ps(3'100'000), Status::SUCCESS});
  const bool taken_again = GENERATE(false, true);  // another MR gets the same entries of the table
  test::TimedPair t;
  t.fill(Opcode::write, 4096);
  t.rig.ring(t.pair, false);
  t.rig.at(c.at, [&] {
    t.rig.deregister(1, t.remote.key);
    if (taken_again) t.rig.register_memory(1, KiB(64));
  });
  t.rig.run();
  CHECK(only_status(t.pair) == c.status);
}

TEST_CASE("a key that was looked up before is refused once its MR is gone", "[walker]") {
  test::TimedPair t;
  t.warm_up();
  t.rig.deregister(1, t.remote.key);
  t.fill(Opcode::write, 64);
  t.rig.ring(t.pair, true);
  t.rig.run();
  CHECK(t.pair.cq->completions.at(1).status == Status::REM_ACCESS_ERR);
}

TEST_CASE("look-ups that miss are told by the lines that they waited for, one after the other", "[walker]") {
  FreshNicRig rig(test::round_figures());
  const verbs::Grant local = rig.register_memory(0, KiB(64)), remote = rig.register_memory(1, KiB(128));
  NicRig::Pair pair = rig.connect();
  // Both lines are missing; then another line of the MTT; then none.
  for (const std::uint64_t page : {0, 8, 8}) {
    rig.fill(pair, Opcode::read, {local.start.raw, 64, local.key}, remote.start.raw + page * 4096, remote.key);
    rig.ring(pair, true);
    rig.run();
  }
  const nic::Walker& walker = rig.hosts[1].nic->walker;
  CHECK(walker.lookups() == 3);
  CHECK(walker.walking() == 0);
  CHECK(walker.most_walking() == 1);
  REQUIRE(walker.chains().size() == 2);
  CHECK(walker.chains()[0].shape == 0x21);  // mpt, then mtt
  CHECK(walker.chains()[0].count == 1);
  // A line each, from the miss to the edge at which it is there, and the second cache's look-up in between.
  CHECK(walker.chains()[0].total == ps(294'000 + 6'000 + 294'000));
  CHECK(walker.chains()[1].shape == 0x2);
  CHECK(walker.chains()[1].total == ps(294'000));
  CHECK(walker.chains()[1].longest == ps(294'000));
}

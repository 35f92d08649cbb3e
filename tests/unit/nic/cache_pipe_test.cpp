// Banks, ports and stalls of a cache: who begins when, and what does a miss cost those behind it?
#include "nic/cache_pipe.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "timing/round_figures.h"

using namespace mtsim;
using test::FreshNicRig;
using test::NicRig;
using verbs::Opcode;
using verbs::Status;

namespace {

constexpr std::uint32_t mtt = 1;

nic::MttCacheParams pipe_of(Time interval, std::uint32_t banks, std::uint32_t ports) {
  nic::MttCacheParams p = defaults<nic::MttCacheParams>();
  p.interval = interval;
  p.banks = banks;
  p.ports = ports;
  return p;
}

/// READs of 64 bytes, each by a QP of its own, all posted at once, from these pages of host 1. When their translations were there, from the
/// first on.
std::vector<Time> translated(const test::RigSettings& settings, const std::vector<std::uint64_t>& pages, std::uint64_t warm_page) {
  FreshNicRig rig(settings);
  const verbs::Grant local = rig.register_memory(0, KiB(64)), remote = rig.register_memory(1, MiB(1));
  std::vector<NicRig::Pair> pairs;
  for (std::size_t i = 0; i < pages.size(); ++i) pairs.push_back(rig.connect());
  const auto post = [&](NicRig::Pair& pair, std::uint64_t page) {
    rig.fill(pair, Opcode::read, {local.start.raw, 64, local.key}, remote.start.raw + page * 4096, remote.key);
    rig.ring(pair, true);
  };
  post(pairs[0], warm_page);
  rig.run();
  rig.hosts[0].log->operations.clear();
  for (std::size_t i = 0; i < pages.size(); ++i) post(pairs[i], pages[i]);
  rig.run();
  std::vector<Time> out;
  for (const auto& [wqe, status] : rig.hosts[0].log->operations) {
    REQUIRE(status == Status::SUCCESS);
    out.push_back(wqe.stamp[unsigned(ports::Step::responder_translation)]);
  }
  std::sort(out.begin(), out.end());
  const Time first = out.front();
  for (Time& t : out) t -= first;
  return out;
}

}  // namespace

TEST_CASE("a look-up begins when a port of its bank is free, between those that have taken their place", "[cache]") {
  test::FreshSystemC context;
  engine::Scheduler scheduler("scheduler");
  const Clock clock(Frequency(1'000'000'000));
  nic::CachePipe pipe(scheduler, clock, pipe_of(ns(4), 2, 1));
  CHECK(pipe.enter(0, ns(10)) == ns(10));
  CHECK(pipe.enter(2, ns(10)) == ns(14));
  CHECK(pipe.enter(1, ns(10)) == ns(10));  // the other bank
  CHECK(pipe.enter(4, ns(5)) == ns(5));    // asked last, but there is room before
  CHECK(pipe.enter(4, ns(7)) == ns(18));   // from 9 on there is room for 1 ns only
  CHECK(pipe.enter(4, ns(30)) == ns(30));
  CHECK(pipe.enter(4, ns(18)) == ns(22));
  nic::CachePipe wide(scheduler, clock, pipe_of(ns(4), 1, 2));
  CHECK(wide.enter(0, ns(10)) == ns(10));
  CHECK(wide.enter(0, ns(10)) == ns(10));
  CHECK(wide.enter(0, ns(11)) == ns(14));
  CHECK(wide.enter(0, ns(11)) == ns(14));
  CHECK(wide.enter(0, ns(11)) == ns(18));
  // Whole cycles.
  nic::CachePipe odd(scheduler, clock, pipe_of(ps(1500), 1, 1));
  CHECK(odd.enter(0, ns(10)) == ns(10));
  CHECK(odd.enter(0, ns(10)) == ns(12));
  CHECK_FALSE(nic::CachePipe::needed(defaults<nic::MttCacheParams>()));
}

TEST_CASE("look-ups that hit follow each other at the interval of a bank, or beside each other in two", "[walker]") {
  // Requests reach the responder 10 ns apart. Pages 0 and 8 have lines next to each other, 0 and 16 lines of one bank.
  test::RigSettings settings = test::round_figures();
  const auto last = [&](std::vector<std::uint64_t> pages) {
    FreshNicRig rig(settings);
    const verbs::Grant local = rig.register_memory(0, KiB(64)), remote = rig.register_memory(1, MiB(1));
    std::vector<NicRig::Pair> pairs;
    Time begin;
    for (int round = 0; round < 2; ++round) {
      rig.hosts[0].log->operations.clear();
      begin = rig.scheduler.now();
      for (std::size_t i = 0; i < pages.size(); ++i) {
        if (round == 0) pairs.push_back(rig.connect());
        rig.fill(pairs[i], Opcode::read, {local.start.raw, 64, local.key}, remote.start.raw + pages[i] * 4096, remote.key);
        rig.ring(pairs[i], true);
      }
      rig.run();
    }
    std::vector<Time> times;
    for (const auto& [wqe, status] : rig.hosts[0].log->operations) times.push_back(wqe.stamp[unsigned(ports::Step::responder_translation)]);
    return *std::max_element(times.begin(), times.end()) - *std::min_element(times.begin(), times.end());
  };
  const Time free = last({0, 8, 16});
  settings.nic.mtt_cache.interval = ns(50);
  CHECK(last({0, 8, 16}) == ns(100));
  settings.nic.mtt_cache.banks = 2;
  // The first and the third are 50 ns apart; the second has a bank to itself.
  CHECK(last({0, 8, 16}) == ns(50));
  settings.nic.mtt_cache.banks = 1;
  settings.nic.mtt_cache.ports = 3;
  CHECK(last({0, 8, 16}) == free);
  CHECK(free < ns(25));
}

TEST_CASE("misses overlap; in a cache that stalls they follow each other, and what would hit waits as well", "[walker]") {
  test::RigSettings settings = test::round_figures();
  const std::vector<std::uint64_t> misses{8, 16, 24, 32}, hit_behind{8, 0};
  const auto passing = translated(settings, misses, 0), passing_hit = translated(settings, hit_behind, 0);
  CHECK(passing.back() < ns(60));
  // The hit is there long before the miss.
  CHECK(passing_hit.back() > ns(250));
  settings.nic.mtt_cache.on_miss = nic::OnMiss::stall;
  const auto stalled = translated(settings, misses, 0), stalled_hit = translated(settings, hit_behind, 0);
  // A line takes 293.5 ns to fetch, and the next look-up then 6 ns to miss. Its line comes 6 ns behind the payload of the one before, whose
  // completion takes 10.5 ns of the link: 293.5 + 6 + 4.5.
  for (std::size_t i = 1; i < stalled.size(); ++i) CHECK((stalled[i] - stalled[i - 1]).raw == ns(304).raw);
  // It looks again when the line has come.
  CHECK(stalled_hit.back().raw == ns(6).raw);
}

TEST_CASE("a cache that stalls and one walk at a time: nobody waits for the other", "[walker]") {
  test::RigSettings settings = test::round_figures();
  settings.nic.nic.walks = 1;
  const bool both = GENERATE(true, false);
  settings.nic.mtt_cache.on_miss = nic::OnMiss::stall;
  if (both) settings.nic.mpt_cache.on_miss = nic::OnMiss::stall;
  settings.nic.mpt_cache.lines = settings.nic.mtt_cache.lines = GENERATE(0u, 1u);
  settings.nic.mpt_cache.ways = settings.nic.mtt_cache.ways = 1;
  const auto times = translated(settings, {8, 16, 24, 32, 40, 48}, 0);
  CHECK(times.size() == 6);
}

TEST_CASE("with the deepest line first, what a cache has below is not read for above it", "[walker]") {
  const bool deepest = GENERATE(false, true);
  const std::string name = GENERATE("radix", "ksm", "mapped_icm", "process_page_table");
  CAPTURE(deepest, name);
  test::RigSettings settings = test::round_figures();
  settings.nic.nic.translation = name;
  settings.nic.nic.deepest_first = deepest;
  settings.nic.nic.child = KiB(64);
  settings.nic.mtt_cache.lines = settings.nic.mtt_cache.ways = 1;
  settings.nic.icm_cache.lines = 0;
  FreshNicRig rig(settings);
  const verbs::Grant local = rig.register_memory(0, KiB(64)), remote = rig.register_memory(1, MiB(4));
  NicRig::Pair pair = rig.connect();
  const auto fetched = [&] {
    std::uint64_t lines = 0;
    const nic::Walker& walker = rig.hosts[1].nic->walker;
    for (std::uint32_t kind = 0; kind < rig.hosts[1].nic->tables().architecture().line_kinds().size(); ++kind)
      lines += walker.misses(kind).count - walker.misses(kind).merged;
    return lines;
  };
  std::uint64_t before = 0;
  for (int round = 0; round < 2; ++round) {
    before = fetched();
    rig.fill(pair, Opcode::read, {local.start.raw, 64, local.key}, remote.start.raw + MiB(3).raw, remote.key);
    rig.ring(pair, true);
    rig.run();
    REQUIRE(pair.cq->completions.back().status == Status::SUCCESS);
  }
  // The one MTT line held is the last: the levels above it (one of a radix over 1,024 pages, the list of keys, the map's two, three of four
  // levels) come again, and the last with them where they push it out.
  const std::uint64_t again = name == "radix" || name == "ksm" || name == "mapped_icm" ? 2 : 4;
  CHECK(fetched() - before == (deepest ? 0 : again));
}

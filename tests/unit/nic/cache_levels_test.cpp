// Does the Walker use a second level, a pool, lines fetched ahead and updated lines as they are meant?
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

constexpr std::uint32_t mpt = 0, mtt = 1;

template <class Params>
Params of_lines(std::uint32_t lines, std::uint32_t ways = 8) {
  Params p = defaults<Params>();
  p.lines = lines;
  p.ways = ways;
  p.latency = ns(20);
  return p;
}

/// READs of 64 bytes by host 0, one after the other, from pages of an MR of host 1.
class Reads {
 public:
  explicit Reads(const test::RigSettings& settings, Bytes size = MiB(1)) : rig(settings), local(rig.register_memory(0, KiB(64))) {
    remote = rig.register_memory(1, size);
    pair = rig.connect();
  }
  Time read(std::uint64_t page) {
    const std::size_t before = pair.cq->completions.size();
    const Time begin = rig.scheduler.now();
    rig.fill(pair, Opcode::read, {local.start.raw, 64, local.key}, remote.start.raw + page * 4096, remote.key);
    rig.ring(pair, true);
    rig.run();
    REQUIRE(pair.cq->completions.size() == before + 1);
    REQUIRE(pair.cq->completions.back().status == Status::SUCCESS);
    return pair.cq->times.back() - begin;
  }
  nic::Nic& nic() { return *rig.hosts[1].nic; }
  std::uint64_t fetched() { return nic().walker.misses(mtt).count - nic().walker.misses(mtt).merged; }

  FreshNicRig rig;
  verbs::Grant local, remote;
  NicRig::Pair pair;
};

}  // namespace

TEST_CASE("a line that the first level has lost comes from the second, in its time and without PCIe", "[walker]") {
  test::RigSettings settings = test::round_figures();
  settings.nic.mtt_cache.lines = settings.nic.mtt_cache.ways = 1;
  settings.nic.mtt_level2 = of_lines<nic::MttLevel2Params>(64);
  Reads reads(settings);
  const Time cold = reads.read(0);
  const Time warm = reads.read(0);
  reads.read(8);
  const std::uint64_t table_reads = reads.rig.hosts[1].link->counts().reads.all().tlps;
  const Time second = reads.read(0);
  CHECK(second == warm + ns(20));
  CHECK(cold > second + ns(200));
  // The payload's read and no other.
  CHECK(reads.rig.hosts[1].link->counts().reads.all().tlps == table_reads + 1);
  // What came from the second level is in the first again.
  CHECK(reads.read(0) == warm);
  CHECK(reads.nic().mtt_cache->counts().lookups == 5);
  CHECK(reads.nic().mtt_level2->counts().lookups == 3);
  CHECK(reads.nic().mtt_level2->counts().hits == 1);
  CHECK(reads.nic().walker.misses(mtt).second == ns(3 * 20));
  CHECK(reads.nic().mpt_level2 == nullptr);
}

TEST_CASE("one pool can stand for the caches of both kinds, and shares out its ways", "[walker]") {
  test::RigSettings settings = test::round_figures();
  settings.nic.mpt_cache.lines = settings.nic.mtt_cache.lines = 0;
  settings.nic.cache_pool = of_lines<nic::CachePoolParams>(4, 4);
  settings.nic.cache_pool.mpt_ways = 1;
  settings.nic.cache_pool.mtt_ways = 3;
  Reads reads(settings);
  for (int round = 0; round < 3; ++round)
    for (std::uint64_t line = 0; line < 3; ++line) reads.read(8 * line);
  CHECK(reads.fetched() == 3);
  CHECK(reads.nic().walker.misses(mpt).count == 1);
  // A fourth line does not fit; the context stays where it is.
  for (int round = 0; round < 3; ++round)
    for (std::uint64_t line = 0; line < 4; ++line) reads.read(8 * line);
  CHECK(reads.fetched() == 3 + 1 + 8);
  CHECK(reads.nic().walker.misses(mpt).count == 1);
  CHECK(reads.nic().cache_pool->held() == 4);
  CHECK(reads.nic().mtt_cache->counts().hits == 0);
}

TEST_CASE("a key that has gone is refused, and the next MR in its place served, whichever level held the lines", "[walker]") {
  test::RigSettings settings = test::round_figures();
  const bool pool = GENERATE(false, true);
  const auto write = GENERATE(nic::TableWrite::invalidate, nic::TableWrite::update);
  if (pool) settings.nic.cache_pool = of_lines<nic::CachePoolParams>(64);
  else settings.nic.mtt_level2 = of_lines<nic::MttLevel2Params>(64);
  settings.nic.mpt_cache.table_write = settings.nic.mtt_cache.table_write = write;
  settings.nic.mtt_level2.table_write = settings.nic.cache_pool.table_write = write;
  Reads reads(settings);
  reads.read(0);
  reads.rig.deregister(1, reads.remote.key);
  const verbs::Grant next = reads.rig.register_memory(1, MiB(1));  // takes the same entries of the table
  reads.rig.fill(reads.pair, Opcode::read, {reads.local.start.raw, 64, reads.local.key}, reads.remote.start.raw, reads.remote.key);
  reads.rig.ring(reads.pair, true);
  reads.rig.run();
  CHECK(reads.pair.cq->completions.back().status == Status::REM_ACCESS_ERR);
  // What is there now is the next MR's, and no level holds anything older: a stale line would fault.
  reads.remote = next;
  reads.pair = reads.rig.connect();
  for (std::uint64_t line = 0; line < 3; ++line) reads.read(8 * line);
  reads.read(0);
}

TEST_CASE("lines that a write updates serve the next MR in their place without a fetch", "[walker]") {
  const auto write = GENERATE(nic::TableWrite::invalidate, nic::TableWrite::update);
  test::RigSettings settings = test::round_figures();
  settings.nic.mtt_cache.table_write = write;
  Reads reads(settings);
  for (std::uint64_t line = 0; line < 4; ++line) reads.read(8 * line);
  CHECK(reads.fetched() == 4);
  reads.rig.deregister(1, reads.remote.key);
  reads.remote = reads.rig.register_memory(1, MiB(1));
  for (std::uint64_t line = 0; line < 5; ++line) reads.read(8 * line);
  CHECK(reads.fetched() == (write == nic::TableWrite::update ? 4 + 1 : 4 + 5));
}

TEST_CASE("the next line is there before it is asked for", "[walker]") {
  test::RigSettings settings = test::round_figures();
  settings.nic.mtt_cache.prefetch = "next_line";
  Reads reads(settings);
  for (std::uint64_t line = 0; line < 10; ++line) reads.read(8 * line);
  // Each line that was fetched ahead brings the one behind it.
  CHECK(reads.fetched() == 1);
  CHECK(reads.nic().mtt_cache->counts().ahead == 10);
  CHECK(reads.nic().mtt_cache->counts().useful == 9);
  CHECK(reads.nic().mtt_cache->counts().useless == 0);
  CHECK(reads.nic().walker.walks().in_use() == 0);
  // The last goes unused with its MR.
  reads.rig.deregister(1, reads.remote.key);
  CHECK(reads.nic().mtt_cache->counts().useless == 1);
}

TEST_CASE("a stride is followed once it was seen twice, forwards and back, and each key has its own", "[walker]") {
  test::RigSettings settings = test::round_figures();
  settings.nic.mtt_cache.prefetch = "stride";
  const bool back = GENERATE(false, true);
  Reads reads(settings, MiB(4));
  for (std::uint64_t i = 0; i < 10; ++i) reads.read(8 * 3 * (back ? 20 - i : i));
  CHECK(reads.fetched() == 3);
  CHECK(reads.nic().mtt_cache->counts().useful == 7);

  const auto stride = nic::Prefetchers::make("stride");
  CHECK_FALSE(stride->ahead(Key(1, 0), 10));
  CHECK_FALSE(stride->ahead(Key(2, 0), 50));
  CHECK_FALSE(stride->ahead(Key(1, 0), 12));
  CHECK_FALSE(stride->ahead(Key(2, 0), 49));
  CHECK(stride->ahead(Key(1, 0), 14) == 16u);
  CHECK(stride->ahead(Key(2, 0), 48) == 47u);
  CHECK_FALSE(stride->ahead(Key(1, 0), 15));
}

TEST_CASE("what is to be fetched ahead waits for nobody's place, and stays within the table", "[walker]") {
  test::RigSettings settings = test::round_figures();
  settings.nic.mtt_cache.prefetch = "next_line";
  const bool few_walks = GENERATE(true, false);
  if (few_walks) settings.nic.nic.walks = 1;
  else settings.pcie.tags = 1;
  Reads reads(settings);
  for (std::uint64_t line = 0; line < 4; ++line) reads.read(8 * line);
  // The walk that missed has the only place, or the only tag.
  CHECK(reads.nic().walker.ahead(mtt).left_out == 4);
  CHECK(reads.nic().mtt_cache->counts().ahead == 0);
  CHECK(reads.fetched() == 4);
  const auto lines = reads.nic().walker.architecture().lines(mtt);
  CHECK(lines == (settings.nic.nic.table_space.raw - settings.nic.nic.contexts * 64) / 64);
  CHECK(reads.nic().walker.architecture().lines(mpt) == settings.nic.nic.contexts);
}

TEST_CASE("a look-up of a line that is being fetched ahead waits for it and no longer", "[walker]") {
  test::RigSettings settings = test::round_figures();
  settings.nic.mtt_cache.prefetch = "next_line";
  Reads reads(settings);
  // Two READs at once, of two lines in a row: the second's is under way already.
  std::vector<NicRig::Pair> pairs{reads.rig.connect(), reads.rig.connect()};
  for (std::uint64_t i = 0; i < 2; ++i) {
    reads.rig.fill(pairs[i], Opcode::read, {reads.local.start.raw, 64, reads.local.key}, reads.remote.start.raw + i * 8 * 4096,
                   reads.remote.key);
    reads.rig.ring(pairs[i], true);
  }
  reads.rig.run();
  for (const NicRig::Pair& pair : pairs) CHECK(pair.cq->completions.at(0).status == Status::SUCCESS);
  CHECK(reads.fetched() == 1);
  CHECK(reads.nic().walker.ahead(mtt).late == 1);
  CHECK(reads.nic().mtt_cache->counts().useful == 0);
}

// Are QP contexts and request contexts where they should be, are they fetched and written back as often as they should, and does nothing
// hang on them?
#include <algorithm>
#include <catch2/catch.hpp>
#include <list>
#include <random>
#include <vector>

#include "timing/round_figures.h"

using namespace mtsim;
using test::FreshNicRig;
using test::NicRig;
using verbs::Opcode;
using verbs::QpState;
using verbs::Status;

namespace {

test::RigSettings with_contexts(std::uint32_t lines, std::uint32_t second, std::uint32_t fetches = 8) {
  test::RigSettings s = test::round_figures();
  s.nic.qp_cache = defaults<nic::QpCacheParams>();
  s.nic.qp_cache.enabled = true;
  s.nic.qp_cache.lines = lines;
  s.nic.qp_cache.fetches = fetches;
  s.nic.qp_level2 = defaults<nic::QpLevel2Params>();
  s.nic.qp_level2.lines = second;
  return s;
}

/// Two levels of least recently used contexts, written from their description.
class SlowContexts {
 public:
  SlowContexts(std::size_t first, std::size_t second) : sizes_{first, second} {}
  std::uint64_t lookups = 0, hits = 0, second_lookups = 0, second_hits = 0, fetches = 0, write_backs = 0;

  void use(int qp) {
    ++lookups;
    if (touch(0, qp)) {
      ++hits;
      return;
    }
    if (sizes_[1] != 0) {
      ++second_lookups;
      if (touch(1, qp)) {
        ++second_hits;
        put(0, qp);
        return;
      }
    }
    ++fetches;
    put(1, qp);
    put(0, qp);
  }

 private:
  bool holds(int level, int qp) const { return std::count(levels_[level].begin(), levels_[level].end(), qp) != 0; }
  bool touch(int level, int qp) {
    if (!holds(level, qp)) return false;
    levels_[level].remove(qp);
    levels_[level].push_back(qp);
    return true;
  }
  void put(int level, int qp) {
    if (sizes_[level] == 0) return;
    levels_[level].push_back(qp);
    if (levels_[level].size() <= sizes_[level]) return;
    const int out = levels_[level].front();
    levels_[level].pop_front();
    if (!holds(1 - level, out)) ++write_backs;
  }

  std::size_t sizes_[2];
  std::list<int> levels_[2];
};

void compare(const nic::QpContexts& contexts, const SlowContexts& slow) {
  CHECK(contexts.first().counts().lookups == slow.lookups);
  CHECK(contexts.first().counts().hits == slow.hits);
  if (contexts.second() != nullptr) {
    CHECK(contexts.second()->counts().lookups == slow.second_lookups);
    CHECK(contexts.second()->counts().hits == slow.second_hits);
  }
  CHECK(contexts.fetches().usage().requests == slow.fetches);
  CHECK(contexts.write_backs() == slow.write_backs);
  CHECK(contexts.written_bytes() == slow.write_backs * 375);
}

/// So many connections, with memory at both ends.
struct Many {
  Many(const test::RigSettings& settings, int count) : rig(settings) {
    for (int i = 0; i < count; ++i) pairs.push_back(rig.connect(16));
    local = rig.register_memory(0, KiB(64));
    remote = rig.register_memory(1, KiB(64));
  }
  void post(int pair, Opcode opcode = Opcode::read) {
    rig.fill(pairs[pair], opcode, {local.start.raw, 64, local.key}, remote.start.raw, remote.key);
    rig.ring(pairs[pair], true);
  }
  std::size_t succeeded() const {
    std::size_t n = 0;
    for (const NicRig::Pair& pair : pairs)
      for (const verbs::Completion& c : pair.cq->completions) n += c.status == Status::SUCCESS;
    return n;
  }

  FreshNicRig rig;
  std::vector<NicRig::Pair> pairs;
  verbs::Grant local, remote;
};

}  // namespace

TEST_CASE("contexts are looked up, fetched and written back as a slow model says", "[contexts]") {
  const auto [first, second] =
      GENERATE(std::pair{0, 0}, std::pair{1, 0}, std::pair{3, 0}, std::pair{2, 5}, std::pair{0, 4}, std::pair{6, 3});
  Many many(with_contexts(first, second), 9);
  SlowContexts requester(first, second), responder(first, second);
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    const int qp = static_cast<int>(random() % 9);
    many.post(qp);
    many.rig.run();
    // As it is taken up, and as its answer comes; once at the peer. Without a first level the pass after the fetch looks no more.
    requester.use(qp);
    requester.use(qp);
    responder.use(qp);
  }
  CHECK(many.succeeded() == 300);
  INFO(first << " and " << second);
  compare(*many.rig.hosts[0].nic->qp_contexts, requester);
  compare(*many.rig.hosts[1].nic->qp_contexts, responder);
}

TEST_CASE("in a pool a context takes as many lines as it needs, and competes with table lines", "[contexts]") {
  test::RigSettings settings = with_contexts(0, 0);
  settings.nic.mpt_cache.lines = settings.nic.mtt_cache.lines = 0;
  settings.nic.cache_pool = defaults<nic::CachePoolParams>();
  settings.nic.cache_pool.lines = 16;
  settings.nic.cache_pool.ways = 0;
  Many many(settings, 3);
  const nic::Nic& nic = *many.rig.hosts[1].nic;
  // 375 bytes are 6 lines of 64: two contexts fit beside a line of each table.
  for (int round = 0; round < 4; ++round)
    for (int qp : {0, 1}) {
      many.post(qp);
      many.rig.run();
    }
  CHECK(nic.cache_pool->held() == 14);
  CHECK(nic.qp_contexts->fetches().usage().requests == 2);
  CHECK(nic.qp_contexts->write_backs() == 0);
  CHECK(nic.walker.misses(0).count + nic.walker.misses(1).count == 2);
  // A third drives out the six lines that were used longest ago: four of the first context, since two places were free.
  many.post(2);
  many.rig.run();
  CHECK(nic.cache_pool->held() == 16);
  CHECK(nic.qp_contexts->fetches().usage().requests == 3);
  CHECK(nic.qp_contexts->write_backs() == 4);
  CHECK(nic.qp_contexts->written_bytes() == 4 * 64);
  CHECK(nic.walker.misses(0).count + nic.walker.misses(1).count == 2);
}

TEST_CASE("without write_back nothing is written", "[contexts]") {
  test::RigSettings settings = with_contexts(1, 0);
  settings.nic.qp_cache.write_back = false;
  Many many(settings, 2);
  for (int i = 0; i < 10; ++i) {
    many.post(i % 2);
    many.rig.run();
  }
  CHECK(many.rig.hosts[1].nic->qp_contexts->fetches().usage().requests == 10);
  CHECK(many.rig.hosts[1].nic->qp_contexts->write_backs() == 0);
}

TEST_CASE("one fetch serves all that wait for the same context", "[contexts]") {
  Many many(with_contexts(0, 0), 1);
  NicRig::Pair& pair = many.pairs[0];
  // The peer's READ arrives at host 0 while that fetches the same context for a READ of its own.
  many.rig.at(us(10), [&] {
    ports::Wqe& wqe = pair.peer_ring->open(0);
    wqe.wr = 1;
    wqe.opcode = Opcode::read;
    wqe.flags = verbs::Send::signaled;
    wqe.length = 64;
    wqe.remote_address = many.local.start.raw;
    wqe.rkey = many.local.key;
    pair.peer_ring->storage(0)[0] = {many.remote.start.raw, 64, many.remote.key};
    wqe.sges = pair.peer_ring->storage(0).data();
    wqe.sge_count = 1;
    many.rig.hosts[1].nic->doorbells().ring(pair.remote, 1, Bytes(64));
  });
  many.rig.at(us(10) + ns(450), [&] { many.post(0); });
  many.rig.run();
  CHECK(many.succeeded() == 1);
  CHECK(pair.peer_cq->completions.at(0).status == Status::SUCCESS);
  const nic::QpContexts& contexts = *many.rig.hosts[0].nic->qp_contexts;
  CHECK(contexts.first().counts().lookups == 3);
  CHECK(contexts.misses().count == 3);
  CHECK(contexts.misses().merged == 1);
  CHECK(contexts.fetches().usage().requests == 2);
}

TEST_CASE("fetches stay within their bound, and caches of one place or none let everything through", "[contexts]") {
  const auto lines = GENERATE(0, 1, 4);
  const auto fetches = GENERATE(1, 3);
  test::RigSettings settings = with_contexts(lines, 0, fetches);
  settings.nic.request_cache = defaults<nic::RequestCacheParams>();
  settings.nic.request_cache.lines = 1;
  settings.nic.request_cache.fetches = fetches;
  Many many(settings, 7);
  for (int i = 0; i < 12; ++i)
    for (int qp = 0; qp < 7; ++qp) many.post(qp, (i + qp) % 3 == 0 ? Opcode::write : Opcode::read);
  many.rig.run();
  CHECK(many.succeeded() == 84);
  for (const NicRig::Host& host : many.rig.hosts) {
    CHECK(host.nic->qp_contexts->fetches().usage().most <= static_cast<std::uint64_t>(fetches));
    CHECK(host.nic->qp_contexts->fetches().in_use() == 0);
    CHECK(host.nic->request_contexts->fetches().usage().most <= static_cast<std::uint64_t>(fetches));
    CHECK(host.nic->request_contexts->fetches().in_use() == 0);
  }
  CHECK(many.rig.hosts[0].nic->request_contexts->misses().count != 0);
}

TEST_CASE("a QP may be destroyed, or reset and used again, while its context is fetched", "[contexts]") {
  const bool destroyed = GENERATE(true, false);
  Many many(with_contexts(1, 0), 2);
  many.post(1);
  many.rig.run();
  nic::Nic& nic = *many.rig.hosts[0].nic;
  many.rig.at(us(20), [&] { many.post(0); });
  many.rig.at(us(20) + ns(250), [&] {
    REQUIRE(nic.qp_contexts->fetches().in_use() == 1);
    if (destroyed) return nic.destroy_qp(many.pairs[0].local);
    nic.set_state(many.pairs[0].local, QpState::reset);
    nic.set_state(many.pairs[0].local, QpState::rts);
    many.pairs[0].producer = 0;
    many.post(0);
  });
  many.rig.run();
  CHECK(nic.qp_contexts->fetches().in_use() == 0);
  CHECK(many.pairs[0].cq->completions.size() == (destroyed ? 0 : 1));
  // The other QP goes on as before, and a context that nobody has is in no cache.
  many.post(1);
  many.rig.run();
  CHECK(many.pairs[1].cq->completions.size() == 2);
  CHECK(nic.qp_contexts->first().held() == 1);
}

TEST_CASE("request contexts are found while they fit, and read again when they do not", "[contexts]") {
  test::RigSettings settings = test::round_figures();
  settings.nic.request_cache = defaults<nic::RequestCacheParams>();
  settings.nic.request_cache.lines = 8;
  Many many(settings, 4);
  const nic::RequestContexts& contexts = *many.rig.hosts[0].nic->request_contexts;
  for (int i = 0; i < 2; ++i)
    for (int qp = 0; qp < 4; ++qp) many.post(qp);
  many.rig.run();
  // Eight fit: each is looked up as it is taken up and as its answer comes, and found.
  CHECK(many.succeeded() == 8);
  CHECK(contexts.cache().counts().lookups == 16);
  CHECK(contexts.cache().counts().hits == 16);
  CHECK(contexts.misses().count == 0);
  CHECK(contexts.cache().held() == 8);
  // Twelve do not: some have to make room before they are over, and are read again.
  for (int i = 0; i < 3; ++i)
    for (int qp = 0; qp < 4; ++qp) many.post(qp);
  many.rig.run();
  CHECK(many.succeeded() == 20);
  CHECK(contexts.misses().count >= 4);
  CHECK(contexts.fetches().usage().requests == contexts.misses().count);
  CHECK(contexts.cache().held() == 8);
}

TEST_CASE("turns of requests: by pieces of one, bursts, or until a QP has no more", "[scheduler]") {
  const auto [order, burst, expected] = GENERATE(std::tuple<std::string, std::uint32_t, std::string>{"round_robin", 2, "010101"},
                                                 std::tuple<std::string, std::uint32_t, std::string>{"burst", 2, "001101"},
                                                 std::tuple<std::string, std::uint32_t, std::string>{"exhaustive", 2, "000111"});
  test::RigSettings settings = test::round_figures();
  settings.nic.requester.qp_order = order;
  settings.nic.requester.burst = burst;
  settings.nic.requester.qp_pieces = 8;
  settings.nic.requester.interval = us(2);
  Many many(settings, 3);
  for (int i = 0; i < 3; ++i)
    for (int qp = 0; qp < 2; ++qp)
      many.rig.fill(many.pairs[qp], Opcode::write, {many.local.start.raw, 64, many.local.key}, many.remote.start.raw, many.remote.key);
  // A third keeps the pipe until both have their WQEs.
  many.rig.at(us(1), [&] {
    many.post(2, Opcode::write);
    for (int qp = 0; qp < 2; ++qp) many.rig.ring(many.pairs[qp], false);
  });
  std::vector<std::pair<Time, char>> taken;
  many.rig.run();
  for (int qp = 0; qp < 2; ++qp)
    for (std::uint32_t i = 0; i < 3; ++i)
      taken.emplace_back(many.pairs[qp].ring->at(i).stamp[unsigned(ports::Step::schedule)], static_cast<char>('0' + qp));
  std::sort(taken.begin(), taken.end());
  std::string sequence;
  for (const auto& [at, qp] : taken) sequence += qp;
  CHECK(sequence == expected);
}

TEST_CASE("WQEs are fetched at the doorbell or at their QP's turn, and no more reads of them at once than allowed", "[scheduler]") {
  const auto prefetch = GENERATE(nic::PrefetchAt::doorbell, nic::PrefetchAt::turn);
  const auto fetches = GENERATE(0u, 1u, 2u);
  test::RigSettings settings = test::round_figures();
  settings.nic.requester.prefetch_at = prefetch;
  settings.nic.requester.wqe_fetches = fetches;
  settings.nic.requester.prefetch = 2;
  Many many(settings, 5);
  for (int i = 0; i < 7; ++i)
    for (int qp = 0; qp < 5; ++qp)
      many.rig.fill(many.pairs[qp], Opcode::write, {many.local.start.raw, 64, many.local.key}, many.remote.start.raw, many.remote.key);
  many.rig.at(us(1), [&] {
    for (int qp = 0; qp < 5; ++qp) many.rig.ring(many.pairs[qp], false);
  });
  many.rig.run();
  CHECK(many.succeeded() == 35);
  const nic::WorkScheduler& scheduler = many.rig.hosts[0].nic->scheduler;
  CHECK(scheduler.fetched_wqes() == 35);
  if (fetches != 0) CHECK(scheduler.fetch_places()->usage().most == fetches);
  else CHECK(scheduler.fetch_places() == nullptr);
  // Held ahead are two at most: with a turn for each pair of them, seven take four reads.
  if (prefetch == nic::PrefetchAt::turn) CHECK(scheduler.fetches() == 5 * 4);
}

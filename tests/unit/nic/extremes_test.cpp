// Caches without lines and without end, one of everything, caches that stall: does every operation still end, and end well, whatever the
// translation architecture? And does an MR that goes in the middle of a look-up leave no doubt about who saw it?
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <random>
#include <vector>

#include "timing/round_figures.h"

using namespace mtsim;
using test::FreshNicRig;
using test::NicRig;
using verbs::Access;
using verbs::Opcode;
using verbs::Status;

namespace {

constexpr Access all_rights = Access::local_write | Access::remote_write | Access::remote_read | Access::remote_atomic;

struct Extreme {
  const char* name;
  std::function<void(test::RigSettings&)> set;
};

void lines(test::RigSettings& s, std::uint32_t n, std::uint32_t ways) {
  for (nic::CacheParams* cache : {static_cast<nic::CacheParams*>(&s.nic.mpt_cache), static_cast<nic::CacheParams*>(&s.nic.mtt_cache),
                                  static_cast<nic::CacheParams*>(&s.nic.icm_cache)}) {
    cache->lines = n;
    cache->ways = ways;
  }
}
void stalls(test::RigSettings& s) {
  for (nic::CacheParams* cache : {static_cast<nic::CacheParams*>(&s.nic.mpt_cache), static_cast<nic::CacheParams*>(&s.nic.mtt_cache),
                                  static_cast<nic::CacheParams*>(&s.nic.icm_cache)}) {
    cache->on_miss = nic::OnMiss::stall;
    cache->interval = ns(4);
  }
}

const std::vector<Extreme> extremes{
    {"no lines", [](auto& s) { lines(s, 0, 1); }},
    {"one line", [](auto& s) { lines(s, 1, 1); }},
    {"a cache for everything", [](auto& s) { lines(s, 1u << 16, 0); }},
    {"one walk", [](auto& s) { s.nic.nic.walks = 1; }},
    {"one walk for several pieces of a QP", [](auto& s) { s.nic.nic.walks = 1, s.nic.requester.qp_pieces = 8; }},
    {"one tag", [](auto& s) { s.pcie.tags = 1; }},
    {"one credit of each", [](auto& s) { s.pcie.read_credits = s.pcie.write_credits = 1, s.pcie.write_data_credits = s.pcie.max_payload; }},
    {"one request at a time", [](auto& s) { s.nic.requester.contexts = s.nic.responder.contexts = 1; }},
    {"smallest buffers",
     [](auto& s) {
       s.nic.requester.buffer = s.nic.responder.buffer = KiB(4), s.nic.nic.write_buffer = Bytes(256);
       s.pcie.completion_buffer = s.pcie.max_read_request;
     }},
    {"nothing ahead", [](auto& s) { s.nic.requester.prefetch = s.nic.responder.receive_prefetch = s.nic.responder.atomic_locks = 1; }},
    {"caches that stall", [](auto& s) { stalls(s); }},
    {"deepest first", [](auto& s) { s.nic.nic.deepest_first = true, lines(s, 2, 1); }},
};

/// An MR of scattered runs of one to four pages, or of one run.
verbs::Grant scattered(NicRig& rig, std::uint32_t host, std::uint64_t pages, bool contiguous, std::mt19937_64& random) {
  NicRig::Host& h = rig.hosts[host];
  const Pa frames = h.memory->allocate(page_bytes * (4 * pages), MiB(2));
  std::uint64_t next = (frames - FrameLaw::memory_start).raw / page_bytes.raw;
  std::vector<FrameExtent> extents;
  for (std::uint64_t done = 0; done < pages;) {
    FrameExtent extent;
    extent.first = next;
    extent.count = contiguous ? pages : std::min<std::uint64_t>(pages - done, 1 + random() % 4);
    extents.push_back(extent);
    next += extent.count + 1;
    done += extent.count;
  }
  translate::Region region;
  region.grant = {Key(h.keys++, 0x5a), 1, all_rights, Iova(0x7f00'0000'0000 + frames.raw), page_bytes * pages, true};
  region.map = std::make_shared<DmaMap>(FrameLaw{}, extents, Bytes{}, page_bytes * pages);
  translate::TableWrites writes;
  REQUIRE(h.nic->tables().architecture().build(region, writes));
  h.nic->tables().commit(writes);
  return region.grant;
}

/// Two QPs with messages of up to 40 KB of every kind, all at once; each must end well.
void carry_out(const test::RigSettings& settings) {
  FreshNicRig rig(settings);
  std::mt19937_64 random(41);
  const bool contiguous = settings.nic.nic.translation == "physical";
  const verbs::Grant local = scattered(rig, 0, 64, contiguous, random), remote = scattered(rig, 1, 64, contiguous, random);
  std::vector<NicRig::Pair> pairs;
  for (int q = 0; q < 2; ++q) {
    NicRig::Pair& pair = pairs.emplace_back(rig.connect(64, all_rights, Bytes(1024), 4));
    for (int i = 0; i < 16; ++i) {
      const Opcode opcode = std::array{Opcode::read, Opcode::write, Opcode::send, Opcode::faa}[static_cast<std::size_t>(i % 4)];
      const std::uint32_t length = opcode == Opcode::faa ? 8 : static_cast<std::uint32_t>(1 + random() % 40'000);
      const std::uint64_t from = random() % 200'000 / 8 * 8, to = random() % 200'000 / 8 * 8;
      if (opcode == Opcode::send) rig.receive(pair, {remote.start.raw + to, length, remote.key});
      rig.fill(pair, opcode, {local.start.raw + from, length, local.key}, remote.start.raw + to, remote.key);
    }
    rig.ring(pair, false);
  }
  rig.run();
  for (const NicRig::Pair& pair : pairs) {
    REQUIRE(pair.cq->completions.size() == 16);
    for (const verbs::Completion& c : pair.cq->completions) REQUIRE(c.status == Status::SUCCESS);
    REQUIRE(pair.peer_receive_cq->completions.size() == 4);
  }
  for (const auto& host : rig.hosts) {
    CHECK(host.nic->walker.walks().in_use() == 0);
    CHECK(host.nic->dma.tags_in_use() == 0);
    for (std::uint32_t kind = 0; kind < 2; ++kind)
      if (const nic::CachePipe* pipe = host.nic->walker.pipe(kind)) CHECK(pipe->turn().in_use() == 0);
  }
}

engine::Flow find(nic::Walker& walker, engine::Scheduler& scheduler, ports::Query& query, bool& hit) {
  hit = walker.probe(query, scheduler.now());
  if (!hit) co_await walker.walk(query);
}

test::RigSettings rig_of(const std::string& translation) {
  test::RigSettings settings = test::round_figures();
  settings.nic.nic.translation = translation;
  settings.nic.nic.child = KiB(32);
  return settings;
}

std::vector<std::string> shipped() {
  std::vector<std::string> names = translate::Architectures::names();
  names.erase(std::remove(names.begin(), names.end(), "direct"), names.end());
  return names;
}

}  // namespace

TEST_CASE("whatever there is little or much of, by itself, every operation ends well on every architecture", "[walker]") {
  for (const std::string& name : shipped())
    for (const Extreme& extreme : extremes) {
      CAPTURE(name, extreme.name);
      test::RigSettings settings = rig_of(name);
      extreme.set(settings);
      carry_out(settings);
    }
}

TEST_CASE("the least of everything at once: every operation ends well on every architecture", "[walker]") {
  for (const std::string& name : shipped()) {
    CAPTURE(name);
    test::RigSettings settings = rig_of(name);
    for (const Extreme& extreme : extremes)
      if (extreme.name != std::string("a cache for everything") && extreme.name != std::string("one line") &&
          extreme.name != std::string("one walk for several pieces of a QP"))
        extreme.set(settings);
    lines(settings, 0, 1);
    carry_out(settings);
  }
}

TEST_CASE("an MR that goes during a look-up is seen until the last line has come, and not after; another in its place is not taken for it",
          "[walker]") {
  // The responder of a cold WRITE of one page. Its translation is there at the edge after the last line's arrival.
  const bool again = GENERATE(false, true);
  for (const std::string& name : shipped()) {
    CAPTURE(name, again);
    const auto run = [&](std::optional<Time> at) {
      FreshNicRig rig(rig_of(name));
      std::mt19937_64 random(42);
      const bool contiguous = name == "physical";
      const verbs::Grant local = scattered(rig, 0, 64, contiguous, random), remote = scattered(rig, 1, 64, contiguous, random);
      NicRig::Pair pair = rig.connect();
      rig.fill(pair, Opcode::write, {local.start.raw, 4096, local.key}, remote.start.raw + 40 * 4096, remote.key);
      rig.ring(pair, false);
      if (at)
        rig.at(*at, [&] {
          rig.deregister(1, remote.key);
          if (again) scattered(rig, 1, 64, contiguous, random);
        });
      rig.run();
      REQUIRE(pair.cq->completions.size() == 1);
      const ports::Wqe& wqe = rig.hosts[0].log->operations.at(0).first;
      return std::pair{pair.cq->completions[0].status, wqe.stamp[unsigned(ports::Step::responder_translation)]};
    };
    const auto [status, there] = run({});
    REQUIRE(status == Status::SUCCESS);
    // From before the packet's arrival on. Where nothing is read it is looked up when the packet is taken up, 30 ns before.
    const Time decided = name == "device" ? there - ns(30) : there;
    for (Time at = there - ns(2145); at <= there + ns(60); at += ns(100)) {
      CAPTURE(at.raw, there.raw);
      REQUIRE(run(at).first == (at < decided ? Status::REM_ACCESS_ERR : Status::SUCCESS));
    }
    REQUIRE(run(decided - ns(3)).first == Status::REM_ACCESS_ERR);
    REQUIRE(run(there).first == Status::SUCCESS);
  }
}

TEST_CASE("a line whose table was written under it is never what it was: it is fetched anew, or has the new content", "[walker]") {
  const bool updates = GENERATE(false, true);
  for (const std::string& name : shipped()) {
    CAPTURE(name, updates);
    test::RigSettings settings = rig_of(name);
    settings.nic.mpt_cache.table_write = settings.nic.mtt_cache.table_write =
        updates ? nic::TableWrite::update : nic::TableWrite::invalidate;
    FreshNicRig rig(settings);
    std::mt19937_64 random(43);
    nic::Walker& walker = rig.hosts[1].nic->walker;
    const auto region = [&](std::uint64_t frame) {
      translate::Region r;
      FrameExtent extent;
      extent.first = frame;
      extent.count = 64;
      r.grant = {Key(5, 0), 1, all_rights, Iova(GiB(5).raw), page_bytes * 64, true};
      r.map = std::make_shared<DmaMap>(FrameLaw{}, std::vector<FrameExtent>{extent}, Bytes{}, page_bytes * 64);
      return r;
    };
    const auto write = [&](const translate::Region& r) {
      translate::TableWrites writes;
      REQUIRE(walker.architecture().build(r, writes));
      walker.commit(writes);
    };
    const auto look_up = [&](ports::Query& query) {
      query.wish = {Key(5, 0), 1, Access::remote_write, Iova(GiB(5).raw), page_bytes * 64, true};
      query.address = Iova(GiB(5).raw + 40 * 4096 + 7);
      bool over = false;
      rig.scheduler.spawn(find(walker, rig.scheduler, query, over));
      rig.run();
      return over;
    };
    const translate::Region first = region(1000), second = region(70'000);
    write(first);
    ports::Query query;
    look_up(query);
    REQUIRE(query.ok());
    REQUIRE(query.physical == first.map->page(40) + Bytes(7));
    REQUIRE((look_up(query) || name == "mapped_icm"));
    for (int round = 0; round < 3; ++round) {
      const translate::Region& now = round % 2 ? first : second;
      write(now);
      const bool hit = look_up(query);
      REQUIRE(query.ok());
      REQUIRE(query.physical == now.map->page(40) + Bytes(7));
      // A table is written beside the one that it takes the place of, and the next one there again.
      if (name == "flat_mtt") CHECK(hit == (updates && round > 0));
    }
    walker.commit(walker.architecture().drop(Key(5, 0)));
    look_up(query);
    CHECK_FALSE(query.ok());
  }
}

TEST_CASE("an on-demand page that is taken away during a look-up: found until its line has come, and a page fault after", "[walker]") {
  for (const int taken : {0, 1, 2}) {
    FreshNicRig rig(rig_of("flat_mtt"));
    const verbs::Grant local = rig.register_memory(0, KiB(64));
    nic::Walker& walker = rig.hosts[1].nic->walker;
    translate::Region region;
    region.grant = {Key(9, 0), 1, all_rights, Iova(GiB(5).raw), KiB(64), true};
    auto present = std::make_shared<PresentMap>();
    FrameExtent extent;
    extent.first = 5000;
    extent.count = 16;
    present->set({0, extent, true});
    region.present = present;
    translate::TableWrites writes;
    REQUIRE(walker.architecture().build(region, writes));
    walker.commit(writes);
    NicRig::Pair pair = rig.connect();
    rig.fill(pair, Opcode::write, {local.start.raw, 4096, local.key}, region.grant.start.raw + 4096, Key(9, 0));
    rig.ring(pair, false);
    // The line of the translation is under way from 2,719,000 ps to 3,012,500 (walker_test.cpp).
    const Time at = taken == 0 ? ps(2'600'000) : taken == 1 ? ps(2'900'000) : ps(3'100'000);
    rig.at(at, [&] { walker.commit(walker.architecture().change({Key(9, 0), 1, 1, nullptr})); });
    rig.run();
    CHECK(walker.unserved_fault().has_value() == (taken < 2));
    if (taken < 2) {
      CHECK(walker.unserved_fault()->reason == translate::Fault::page_absent);
      CHECK(pair.cq->completions.empty());
    } else {
      REQUIRE(pair.cq->completions.size() == 1);
      CHECK(pair.cq->completions[0].status == Status::SUCCESS);
    }
  }
}

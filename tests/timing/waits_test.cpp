// What does the second of two operations wait for when there is one of something, and how long? Worked out by hand from the figures in
// round_figures.h.
#include <catch2/catch.hpp>
#include <ostream>

#include "timing/round_figures.h"

using namespace mtsim;
using ports::Cause;
using ports::Step;
using test::FreshNicRig;
using test::NicRig;
using verbs::Opcode;

namespace {

constexpr Time start = us(10);

struct Wait {
  Step step;
  Cause cause;
  std::int64_t span;
  friend bool operator==(const Wait&, const Wait&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Wait& w) {
    return out << "step " << unsigned(w.step) << ' ' << ports::cause_names[unsigned(w.cause)] << ' ' << w.span;
  }
};
using List = std::vector<Wait>;

/// Two QPs, their memory and its first eight pages' translations in every cache.
struct TwoQps {
  FreshNicRig rig;
  std::array<NicRig::Pair, 2> pairs{rig.connect(), rig.connect()};
  verbs::Grant local = rig.register_memory(0, KiB(128)), remote = rig.register_memory(1, KiB(128));

  explicit TwoQps(const test::RigSettings& settings) : rig(settings) {
    post(0, Opcode::write, 64);
    rig.run();
  }
  void post(int qp, Opcode opcode, std::uint32_t length, std::uint64_t remote_offset = 0) {
    rig.fill(pairs[qp], opcode, {local.start.raw, length, local.key}, remote.start.raw + remote_offset, remote.key);
    rig.hosts[0].nic->doorbells().ring(pairs[qp].local, pairs[qp].producer, Bytes(64));
  }
  /// Of the operation that the QP posted from `start` on.
  List waits(int qp) const {
    List out;
    for (const auto& [wqe, status] : rig.hosts[0].log->operations) {
      if (wqe.begin < start || wqe.sges != pairs[qp].ring->storage(pairs[qp].producer - 1).data()) continue;
      for (const ports::Waits::Entry wait : wqe.waits) out.push_back({wait.step(), wait.cause(), wait.span});
    }
    return out;
  }
};

// The second store of 64 + 24 B follows the first on the link: 11,000.
const Wait second_store{Step::doorbell, Cause::down_stores, 11'000};
// The CQE of a READ follows its 64 B of data: 11,000.
const Wait behind_data{Step::completion, Cause::up_writes, 11'000};

}  // namespace

TEST_CASE("two READs that miss compete for the responder's one walk slot", "[timing][waits]") {
  test::RigSettings settings = test::round_figures();
  settings.nic.nic.walks = 1;
  TwoQps t(settings);
  t.rig.at(start, [&] {
    t.post(0, Opcode::read, 64, 8 * 4096);
    t.post(1, Opcode::read, 64, 16 * 4096);
  });
  t.rig.run();

  // The first request, 82 + 16 B, is picked at 111,000, sent at 151,000, there at 328,840 and taken up at 359,000; the second 11,000
  // later. The first finds no line of the MTT at 373,000, the second at 384,000. The first line is there after 293,500.
  const std::int64_t line = 3'000 + 100'000 + 80'000 + 10'500 + 100'000;
  const std::int64_t missed = 373'000, missed_2 = 384'000, there = missed + line;
  // The first READ's payload is asked for at the next edge, 500 later; the second look-up's request, 3,000 long, has just begun. Its line,
  // 10,500 on the way down, comes 3,000 before that payload.
  CHECK(t.waits(0) == List{{Step::responder_translation, Cause::fetch, line},
                           {Step::responder_dma, Cause::up_tables, 2'500},
                           {Step::responder_dma, Cause::down_completions, 7'500},
                           behind_data});
  CHECK(t.waits(1) == List{second_store,
                           {Step::responder_translation, Cause::walk_slot, there - missed_2},
                           {Step::responder_translation, Cause::fetch, line},
                           behind_data});
}

TEST_CASE("two WRITEs compete for the one PCIe tag", "[timing][waits]") {
  test::RigSettings settings = test::round_figures();
  settings.pcie.tags = 1;
  TwoQps t(settings);
  t.rig.at(start, [&] {
    t.post(0, Opcode::write, 64);
    t.post(1, Opcode::write, 64);
  });
  t.rig.run();

  // 64 B of payload are read from 165,000 on, for 293,500; the second would begin 11,000 after the first.
  CHECK(t.waits(0) == List{});
  CHECK(t.waits(1) == List{second_store, {Step::dma, Cause::tags, 293'500 - 11'000}});
}

TEST_CASE("two READs compete for the requester's one context", "[timing][waits]") {
  test::RigSettings settings = test::round_figures();
  settings.nic.requester.contexts = 1;
  TwoQps t(settings);
  t.rig.at(start, [&] {
    t.post(0, Opcode::read, 64);
    t.post(1, Opcode::read, 64);
  });
  t.rig.run();

  // The first is picked at 111,000 and keeps the context for 40,000; the second's WQE is there at 122,000.
  CHECK(t.waits(0) == List{behind_data});
  CHECK(t.waits(1) == List{second_store, {Step::schedule, Cause::contexts, 111'000 + 40'000 - 122'000}, behind_data});
}

TEST_CASE("two WRITEs compete for the wire, and for PCIe before that", "[timing][waits]") {
  test::RigSettings settings = test::round_figures();
  settings.network.rate = BitRate(40'000'000'000);
  TwoQps t(settings);
  t.rig.at(start, [&] {
    t.post(0, Opcode::write, 4096);
    t.post(1, Opcode::write, 4096);
  });
  t.rig.run();

  // The first asks for its payload at 165,000, by eight requests of 3,000; the second at 176,000.
  const std::int64_t asked = 189'000;
  // Completions of the first occupy the link for 16 x 34,500 from 348,000 on; those of the second are ready 183,000 after it asked.
  const std::int64_t first_sent = 348'000 + 552'000, ready = asked + 183'000, in_nic = first_sent + 552'000 + 100'000;
  // The first packet, 82 + 16 + 4,096 B at 200 ps, leaves from 1,000,000 on.
  const std::int64_t wire_free = 1'000'000 + 838'800;
  CHECK(t.waits(0) == List{});
  CHECK(t.waits(1) == List{second_store,
                           {Step::dma, Cause::up_payload, asked - 176'000},
                           {Step::dma, Cause::down_completions, first_sent - ready},
                           {Step::wire, Cause::wire_out, wire_free - in_nic}});
}

TEST_CASE("the second of two WRITEs of one QP waits for the look-up of the first, and for its payload", "[timing][waits]") {
  TwoQps t(test::round_figures());
  t.rig.at(start, [&] {
    t.post(0, Opcode::write, 64);
    t.post(0, Opcode::write, 64, 8 * 4096);
  });
  t.rig.run();

  // Picked at 111,000, translated at 165,000; the second store brings its WQE at 122,000. Then it keeps its distance of 54,000 from the
  // first up to the responder, where it misses, and so does not hold anybody up.
  CHECK(t.waits(0) ==
        List{second_store, {Step::schedule, Cause::qp_lookup, 165'000 - 122'000}, {Step::responder_translation, Cause::fetch, 293'500}});
}

TEST_CASE("the second of two WRITEs waits for the one credit of reads", "[timing][waits]") {
  test::RigSettings settings = test::round_figures();
  settings.pcie.read_credits = 1;
  TwoQps t(settings);
  t.rig.at(start, [&] {
    t.post(0, Opcode::write, 64);
    t.post(1, Opcode::write, 64);
  });
  t.rig.run();

  // 64 B of payload are read from 165,000 on; the credit goes back, for 100,000, when the request, 3,000 long, has come to the root complex
  // and memory has answered it. The second asks 11,000 after the first.
  CHECK(t.waits(0) == List{});
  CHECK(t.waits(1) == List{second_store, {Step::dma, Cause::pcie_credits, 3'000 + 100'000 + 80'000 + 100'000 - 11'000}});
}

TEST_CASE("a cache that stalls on a miss keeps the second of two READs out", "[timing][waits]") {
  test::RigSettings settings = test::round_figures();
  settings.nic.mtt_cache.on_miss = nic::OnMiss::stall;
  TwoQps t(settings);
  t.rig.at(start, [&] {
    t.post(0, Opcode::read, 64, 8 * 4096);
    t.post(1, Opcode::read, 64, 16 * 4096);
  });
  t.rig.run();

  // As above the first misses at 373,000. The second comes to the MTT cache at 378,000, 6,000 before it would miss, and gets in at the edge
  // after the first line has come, at 667,000. It asks for its own at 673,000, which on the way down finds 4,500 left of the first READ's
  // payload, asked for at 667,000.
  const std::int64_t line = 3'000 + 100'000 + 80'000 + 10'500 + 100'000;
  CHECK(t.waits(0) == List{{Step::responder_translation, Cause::fetch, line}, behind_data});
  CHECK(t.waits(1) == List{second_store,
                           {Step::responder_translation, Cause::cache, 373'000 + line - 378'000},
                           {Step::responder_translation, Cause::down_completions, 4'500},
                           {Step::responder_translation, Cause::fetch, line},
                           behind_data});
}

TEST_CASE("a READ waits for its QP's context to be fetched at both ends", "[timing][waits]") {
  test::RigSettings settings = test::round_figures();
  settings.nic.qp_cache = defaults<nic::QpCacheParams>();
  settings.nic.qp_cache.enabled = true;
  settings.nic.qp_cache.lines = 1;
  TwoQps t(settings);
  t.post(1, Opcode::write, 64);  // whose context takes the place
  t.rig.run();
  t.rig.at(start, [&] { t.post(0, Opcode::read, 64); });
  t.rig.run();

  // 375 B come in two completions. At the responder the read of the payload is asked for 8,750 before the context that had to go has been
  // written (contexts_test.cpp).
  const std::int64_t context = 3'000 + 100'000 + 80'000 + 51'875 + 100'000;
  CHECK(t.waits(0) == List{{Step::schedule, Cause::context_fetch, context},
                           {Step::responder_wait, Cause::context_fetch, context},
                           {Step::responder_dma, Cause::up_writes, 8'750},
                           behind_data});
}

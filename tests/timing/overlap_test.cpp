// What of two pieces of work overlaps, and what does the second wait for? Worked out by hand from the figures in round_figures.h.
#include <catch2/catch.hpp>

#include "timing/round_figures.h"

using namespace mtsim;
using test::TimedPair;
using verbs::Opcode;
using Stamps = std::vector<std::int64_t>;

namespace {

constexpr Time start = us(10);

}  // namespace

TEST_CASE("two warm 4 KiB WRITEs behind one doorbell: the payload's way into the NIC is what the second waits for", "[timing]") {
  TimedPair t;
  t.warm_up();
  t.rig.at(start, [&] {
    t.fill(Opcode::write, 4096);
    t.fill(Opcode::write, 4096, 4096);
    t.rig.ring(t.pair, false);
  });
  t.rig.run();

  const std::int64_t doorbell = 4'000 + 100'000;
  // Both WQEs, 128 B, come in one read: request, link, memory, completion of 20 + 128 B, link, edge.
  const std::int64_t fetched = doorbell + 3'000 + 100'000 + 80'000 + 18'500 + 100'000 + 500;
  REQUIRE(fetched == 406'000);
  const std::int64_t judged = fetched + 40'000 + 8'000, translated = judged + 6'000;
  // The second is picked when the first is translated: a QP prepares one piece at a time.
  const std::int64_t picked_2 = translated, judged_2 = picked_2 + 40'000 + 8'000, translated_2 = judged_2 + 6'000;
  // Completions of the first occupy the link for 552,000 from 643,000 on; those of the second, ready at 697,000, follow them.
  const std::int64_t link_free = translated + 3'000 + 100'000 + 80'000 + 16 * 34'500;
  REQUIRE(link_free == 1'195'000);
  const std::int64_t in_nic = link_free + 100'000, in_nic_2 = link_free + 16 * 34'500 + 100'000;
  // The wire is faster than that: the first packet has gone (335,520) before the second is there.
  const std::int64_t arrived = in_nic + 335'520 + 170'000, arrived_2 = in_nic_2 + 335'520 + 170'000;
  const std::int64_t taken_up = arrived + 480 + 30'000, taken_up_2 = arrived_2 + 480 + 30'000;
  const std::int64_t done = taken_up + 14'000, done_2 = taken_up_2 + 14'000;
  const std::int64_t acknowledged = done + 6'880 + 170'000, acknowledged_2 = done_2 + 6'880 + 170'000;
  const std::int64_t completed = acknowledged + 161'000, completed_2 = acknowledged_2 + 161'000;
  REQUIRE(completed == 2'182'880);
  REQUIRE(completed_2 == completed + 552'000);

  CHECK(t.stamps(1, start) == Stamps{0, doorbell, fetched, fetched, judged, translated, in_nic, arrived, taken_up, taken_up + 8'000, done,
                                     done, acknowledged, acknowledged, completed});
  CHECK(t.stamps(2, start) == Stamps{0, doorbell, fetched, picked_2, judged_2, translated_2, in_nic_2, arrived_2, taken_up_2,
                                     taken_up_2 + 8'000, done_2, done_2, acknowledged_2, acknowledged_2, completed_2});
}

TEST_CASE("where a QP prepares two pieces at a time the second is picked one interval after the first", "[timing]") {
  test::RigSettings settings = test::round_figures();
  settings.nic.requester.qp_pieces = 2;
  TimedPair t{test::FreshNicRig{settings}};
  t.warm_up();
  t.rig.at(start, [&] {
    for (const std::uint64_t at : {0, 4096, 8192}) t.fill(Opcode::write, 64, at);
    t.rig.ring(t.pair, false);
  });
  t.rig.run();

  const std::int64_t doorbell = 4'000 + 100'000;
  // Three WQEs, 192 B, in one completion of 20 + 192 B.
  const std::int64_t fetched = doorbell + 3'000 + 100'000 + 80'000 + 26'500 + 100'000 + 500;
  REQUIRE(fetched == 414'000);
  CHECK(t.stamps(1, start)[3] == fetched);
  CHECK(t.stamps(2, start)[3] == fetched + 10'000);
  // The third when the first is translated: 40,000 and two look-ups.
  CHECK(t.stamps(3, start)[3] == fetched + 54'000);
  // They leave in order.
  CHECK(t.stamps(1, start)[7] < t.stamps(2, start)[7]);
  CHECK(t.stamps(2, start)[7] < t.stamps(3, start)[7]);
}

TEST_CASE("pieces of one QP leave in order, though the second is translated before the first", "[timing]") {
  test::RigSettings settings = test::round_figures();
  settings.nic.requester.qp_pieces = 2;
  TimedPair t{test::FreshNicRig{settings}};
  t.warm_up();
  const verbs::Grant cold = t.rig.register_memory(0, KiB(64));
  t.rig.at(start, [&] {
    t.rig.fill(t.pair, Opcode::write, {cold.start.raw, 64, cold.key}, t.remote.start.raw, t.remote.key);
    t.fill(Opcode::write, 64, 4096);
    t.rig.ring(t.pair, false);
  });
  t.rig.run();

  const auto first = t.stamps(1, start), second = t.stamps(2, start);
  CHECK(second[5] < first[5]);
  CHECK(first[7] < second[7]);
  CHECK(first[14] <= second[14]);
}

TEST_CASE("a line that is missing is fetched before the request's turn where the NIC translates ahead", "[timing]") {
  test::RigSettings settings = test::round_figures();
  const auto second_of_two = [&] {
    TimedPair t{test::FreshNicRig{settings}};
    t.warm_up();
    const verbs::Grant cold = t.rig.register_memory(0, KiB(64));
    t.rig.at(start, [&] {
      t.fill(Opcode::write, 64);
      t.rig.fill(t.pair, Opcode::write, {cold.start.raw, 64, cold.key}, t.remote.start.raw, t.remote.key);
      t.rig.ring(t.pair, false);
    });
    t.rig.run();
    const Stamps stamps = t.stamps(2, start);
    CHECK(stamps[2] == 406'000);  // both WQEs are there
    CHECK(stamps[3] == 460'000);  // its turn, when the first is translated
    return std::pair(stamps[4], stamps[5]);
  };
  // A fetch of a line: request, link, memory, completion of 20 + 64 B, link.
  const std::int64_t line = 3'000 + 100'000 + 80'000 + 10'500 + 100'000;
  // In its turn: 40,000 and the look-up of the context, its line, up to the edge; then the entry.
  std::int64_t context = 460'000 + 48'000 + line + 500, entry = context + 6'000 + line + 500;
  CHECK(second_of_two() == std::pair(context, entry));
  settings.nic.requester.translate_ahead = true;
  context = 406'000 + 8'000 + line + 500;
  entry = context + 6'000 + line + 500;
  CHECK(second_of_two() == std::pair(context, entry));
}

TEST_CASE("a READ takes more of the responder than a WRITE where the profile says so", "[timing]") {
  test::RigSettings settings = test::round_figures();
  const auto read_taken_up = [&] {
    TimedPair t{test::FreshNicRig{settings}};
    t.warm_up();
    t.rig.at(start, [&] {
      t.fill(Opcode::read, 64);
      t.rig.ring(t.pair, true);
    });
    t.rig.run();
    const auto stamps = t.stamps(1, start);
    return stamps[8] - stamps[7];
  };
  const std::int64_t before = read_taken_up();
  settings.nic.responder.read_service = ns(20);
  CHECK(read_taken_up() == before + 20'000);
}

TEST_CASE("a warm 8 KiB WRITE goes in two pieces, acknowledged once", "[timing]") {
  TimedPair t;
  t.warm_up();
  t.rig.at(start, [&] {
    t.fill(Opcode::write, 8192);
    t.rig.ring(t.pair, true);
  });
  t.rig.run();

  const std::int64_t there = 11'000 + 100'000;
  const std::int64_t translated_1 = there + 40'000 + 8'000 + 6'000;
  // The stamps of a request in pieces are those of its last piece.
  const std::int64_t picked = translated_1, judged = picked + 40'000 + 8'000, translated = judged + 6'000;
  // 32 completions in a row from the first piece's data on.
  const std::int64_t in_nic = translated_1 + 3'000 + 100'000 + 80'000 + 32 * 34'500 + 100'000;
  // No RETH on the second packet: 82 + 4,096 B.
  const std::int64_t arrived = in_nic + 334'240 + 170'000;
  REQUIRE(arrived % 1'000 == 240);
  const std::int64_t taken_up = arrived + 760 + 30'000;
  const std::int64_t done = taken_up + 14'000;
  const std::int64_t acknowledged = done + 6'880 + 170'000;
  const std::int64_t completed = acknowledged + 161'000;

  CHECK(t.stamps(1, start) == Stamps{0, there, there, picked, judged, translated, in_nic, arrived, taken_up, taken_up + 8'000, done, done,
                                     acknowledged, acknowledged, completed});
  CHECK(t.rig.fabric.counts(0).packets == 2);  // one acknowledgement for this WRITE, one for the first
}

TEST_CASE("two QPs share the requester: the second is picked one interval after the first", "[timing]") {
  TimedPair t;
  t.warm_up();
  test::NicRig::Pair other = t.rig.connect();
  t.rig.at(start, [&] {
    t.fill(Opcode::read, 64);
    t.rig.fill(other, Opcode::read, {t.local.start.raw, 64, t.local.key}, t.remote.start.raw, t.remote.key);
    t.rig.ring(t.pair, true);
    t.rig.ring(other, true);
  });
  t.rig.run();

  // The second store follows the first on the link, 11,000 later, which is more than the interval of 10,000.
  CHECK(t.stamps(1, start)[3] == 111'000);
  CHECK(t.stamps(2, start)[3] == 122'000);
  // The second response is ready 11,000 after the first too; its 12,000 on the wire follow the first's at once.
  CHECK(t.stamps(2, start)[12] == t.stamps(1, start)[12] + 12'000);
}

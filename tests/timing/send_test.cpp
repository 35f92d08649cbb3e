// When does each step of a SEND, of its receive and of an atomic end, to the picosecond? Every sum is worked out by hand from the figures
// in round_figures.h.
#include <catch2/catch.hpp>

#include "timing/round_figures.h"

using namespace mtsim;
using test::TimedPair;
using verbs::Access;
using verbs::Opcode;
using Stamps = std::vector<std::int64_t>;

namespace {

constexpr Time start = us(10);  // of the operations that find the caches warm

// The doorbell carries the WQE: a write TLP of 24 + 64 B, 11,000, and the link.
constexpr std::int64_t there = 111'000;
// 40,000 in the pipe, both look-ups hit.
constexpr std::int64_t translated = there + 40'000 + 8'000 + 6'000;
// 64 B of payload: request 3,000, link, memory 80,000, completion of 20 + 64 B, link.
constexpr std::int64_t in_nic = translated + 3'000 + 100'000 + 80'000 + 10'500 + 100'000;
// 82 + 64 B, a SEND has no extended header; up to the edge, 30,000 in the pipe.
constexpr std::int64_t arrived = in_nic + 11'680 + 170'000;
constexpr std::int64_t taken_up = arrived + 820 + 30'000;
static_assert(taken_up == 671'000);
// The doorbell record: 8 B in a completion of 28.
constexpr std::int64_t record = 3'000 + 100'000 + 80'000 + 3'500 + 100'000;
// One receive of 64 B.
constexpr std::int64_t one_receive = 3'000 + 100'000 + 80'000 + 10'500 + 100'000;

/// From the end of the responder's translation: an acknowledgement of 86 B; a CQE of 24 + 64 B, the link, seen after 50,000.
constexpr std::int64_t acknowledged(std::int64_t placed) { return placed + 6'880 + 170'000; }
constexpr std::int64_t completed(std::int64_t placed) { return acknowledged(placed) + 11'000 + 150'000; }
/// The receive's CQE follows the payload, 24 + 64 B as well.
constexpr std::int64_t received(std::int64_t placed) { return placed + 11'000 + 11'000 + 150'000; }

void post(TimedPair& t, Opcode opcode, std::uint32_t length) {
  t.fill(opcode, length);
  t.rig.ring(t.pair, true);
}

void receive(TimedPair& t, int count) {
  for (int i = 0; i < count; ++i) t.rig.receive(t.pair, {t.remote.start.raw, 64, t.remote.key});
}

}  // namespace

TEST_CASE("a warm 64 B SEND whose receive is to be fetched, and one whose receive came along", "[timing]") {
  TimedPair t;
  t.warm_up();
  receive(t, 4);
  t.rig.at(start, [&] { post(t, Opcode::send, 64); });
  t.rig.at(start * 2, [&] { post(t, Opcode::send, 64); });
  t.rig.run();

  // Four receives stand together: 256 B in one completion of 276.
  const std::int64_t fetched = taken_up + record + 3'000 + 100'000 + 80'000 + 34'500 + 100'000;
  REQUIRE(fetched == 1'275'000);
  const std::int64_t placed = fetched + 8'000 + 6'000;
  CHECK(t.stamps(1, start) == Stamps{0, there, there, there, translated - 6'000, translated, in_nic, arrived, taken_up, placed - 6'000,
                                     placed, placed, acknowledged(placed), acknowledged(placed), completed(placed)});
  CHECK(t.pair.peer_receive_cq->times.at(0) == start + Time(received(placed)));

  const std::int64_t placed_2 = taken_up + 8'000 + 6'000;
  CHECK(t.stamps(2, start * 2) == Stamps{0, there, there, there, translated - 6'000, translated, in_nic, arrived, taken_up,
                                         taken_up + 8'000, placed_2, placed_2, acknowledged(placed_2), acknowledged(placed_2),
                                         completed(placed_2)});
  CHECK(t.pair.peer_receive_cq->times.at(1) == start * 2 + Time(received(placed_2)));
}

TEST_CASE("a SEND that comes before its receive: refused, put off by 640 us, sent again", "[timing]") {
  TimedPair t;
  t.warm_up();
  t.rig.at(start, [&] { post(t, Opcode::send, 64); });
  t.rig.at(us(100), [&] { receive(t, 1); });
  t.rig.run();

  // The record says that nothing was posted; the NAK of 86 B leaves at the next edge. The default timer of the peer is code 12.
  const std::int64_t refused = taken_up + record + 500 + 6'880 + 170'000;
  // The WQE is fetched again; taken up at the next edge. What follows is as at first.
  const std::int64_t again = refused + 640'000'000 + one_receive + 620;
  REQUIRE(again % 1000 == 0);
  const std::int64_t taken_up_2 = again + (taken_up - there);
  const std::int64_t placed = taken_up_2 + record + one_receive + 8'000 + 6'000;
  const auto& wqe = t.rig.hosts[0].log->operations.at(1).first;
  CHECK(wqe.stamp[unsigned(ports::Step::retry)] == start + Time(again));
  CHECK(wqe.stamp[unsigned(ports::Step::schedule)] == start + Time(again));
  CHECK(wqe.stamp[unsigned(ports::Step::responder_wait)] == start + Time(taken_up_2));
  CHECK(wqe.stamp[unsigned(ports::Step::completion)] == start + Time(completed(placed)));
}

TEST_CASE("a warm fetch-and-add", "[timing]") {
  TimedPair t;
  ports::QpAttributes attributes;
  attributes.access = Access::remote_atomic | Access::remote_write;
  t.pair = t.rig.connect(128, attributes);
  t.remote = t.rig.register_memory(1, KiB(64), page_bytes, attributes.access | Access::local_write);
  t.warm_up();
  t.rig.at(start, [&] { post(t, Opcode::faa, 8); });
  t.rig.run();

  // No local look-up before the answer; 82 + 28 B (AtomicETH), up to the edge.
  const std::int64_t ready = there + 40'000;
  const std::int64_t came = ready + 8'800 + 170'000;
  const std::int64_t up = came + 200 + 30'000;
  const std::int64_t judged = up + 8'000, known = judged + 6'000;
  // The word is read and written back; 82 + 4 (AETH) + 8 B (AtomicAckETH).
  const std::int64_t changed = known + record;
  const std::int64_t back = changed + 7'520 + 170'000;
  const std::int64_t scattered = back + 980 + 8'000 + 6'000;
  // The old value goes down the link in 24 + 8 B, then the CQE.
  const std::int64_t end = scattered + 4'000 + 11'000 + 150'000;
  CHECK(t.stamps(1, start) == Stamps{0, there, there, there, ready, ready, ready, came, up, judged, known, changed, back, scattered, end});
}

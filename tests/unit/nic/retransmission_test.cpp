// What is sent again, when, how often, and does each request still happen exactly once?
#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <catch2/catch.hpp>
#include <vector>

#include "support/nic_rig.h"
#include "verbs/timers.h"

using namespace mtsim;
using ports::Step;
using test::FreshNicRig;
using verbs::Access;
using verbs::Opcode;
using verbs::QpState;
using verbs::Send;
using verbs::Status;

namespace {

ports::QpAttributes attributes() {
  ports::QpAttributes a;
  a.access = Access::remote_read | Access::remote_write | Access::remote_atomic;
  a.rnr_timer = 10;  // 320 us
  return a;
}

struct Bench {
  FreshNicRig rig;
  test::NicRig::Pair pair;
  verbs::Grant local, remote;

  explicit Bench(const ports::QpAttributes& qp, const test::RigSettings& settings = {})
      : rig(settings),
        pair(rig.connect(128, qp)),
        local(rig.register_memory(0, KiB(64))),
        remote(rig.register_memory(1, KiB(64), page_bytes, attributes().access | Access::local_write)) {}

  ports::Wqe& fill(Opcode opcode, std::uint32_t length, Send flags = Send::signaled) {
    return rig.fill(pair, opcode, {local.start.raw, length, local.key}, remote.start.raw, remote.key, flags);
  }
  void receive() { rig.receive(pair, {remote.start.raw, 8192, remote.key}); }
  const nic::Nic& sender() const { return *rig.hosts[0].nic; }
  const nic::Nic& receiver() const { return *rig.hosts[1].nic; }
};

}  // namespace

TEST_CASE("a receiver that is not ready puts the sender off by its timer, and what follows waits behind", "[retry]") {
  Bench b(attributes());
  b.fill(Opcode::send, 5000);
  b.fill(Opcode::write, 64);
  b.rig.ring(b.pair, false);
  b.rig.at(us(700), [&] { b.receive(); });
  b.rig.run();
  REQUIRE(b.pair.cq->completions.size() == 2);
  for (const auto& c : b.pair.cq->completions) CHECK(c.status == Status::SUCCESS);
  // Refused at about 3 us, 323 us and 643 us; it goes through at the third try after.
  CHECK(b.sender().requester.retries().rnr == 3);
  CHECK(b.receiver().responder.naks().rnr == 3);
  CHECK(b.receiver().responder.naks().sequence == 0);
  const auto& log = b.rig.hosts[0].log->operations;
  const ports::Wqe& wqe = log[0].first;
  CHECK(wqe.stamp[unsigned(Step::retry)] > us(960));
  CHECK(wqe.stamp[unsigned(Step::retry)] < us(970));
  CHECK(wqe.stamp[unsigned(Step::retry)] == wqe.stamp[unsigned(Step::schedule)]);
  CHECK(log[1].first.wr == 2);
}

TEST_CASE("rnr_retry is the number of tries after the first, and 7 is no end", "[retry]") {
  ports::QpAttributes a = attributes();
  a.rnr_retry = GENERATE(std::uint8_t(0), std::uint8_t(1), std::uint8_t(6), std::uint8_t(7));
  Bench b(a);
  b.fill(Opcode::send, 64);
  b.fill(Opcode::send, 64, Send::none);
  b.rig.ring(b.pair, false);
  if (a.rnr_retry == 7) {
    b.rig.at(us(20'000), [&] {
      b.receive();
      b.receive();
    });
    b.rig.run();
    REQUIRE(b.pair.cq->completions.size() == 1);
    CHECK(b.pair.cq->completions[0].status == Status::SUCCESS);
    CHECK(b.pair.peer_receive_cq->completions.size() == 2);
    return;
  }
  b.rig.run();
  REQUIRE(b.pair.cq->completions.size() == 2);
  CHECK(b.pair.cq->completions[0].status == Status::RNR_RETRY_EXC_ERR);
  CHECK(b.pair.cq->completions[1].status == Status::WR_FLUSH_ERR);
  CHECK(b.sender().requester.retries().rnr == a.rnr_retry);
  CHECK(b.receiver().responder.naks().rnr == a.rnr_retry + 1u);
  CHECK(b.sender().state(b.pair.local) == QpState::err);
  CHECK(b.receiver().state(b.pair.remote) == QpState::rts);
}

TEST_CASE("a request that fails at its own end does not hold up one before it that is to be sent again", "[retry]") {
  const bool comes = GENERATE(true, false);
  ports::QpAttributes a = attributes();
  a.rnr_retry = 2;
  Bench b(a);
  b.fill(Opcode::send, 64);
  b.rig.fill(b.pair, Opcode::write, {b.local.start.raw, 64, Key(0x1234'00)}, b.remote.start.raw, b.remote.key);
  b.rig.ring(b.pair, false);
  if (comes) b.rig.at(us(400), [&] { b.receive(); });
  b.rig.run();
  const auto& got = b.pair.cq->completions;
  REQUIRE(got.size() == 2);
  CHECK(got[0].status == (comes ? Status::SUCCESS : Status::RNR_RETRY_EXC_ERR));
  CHECK(got[1].status == (comes ? Status::LOC_PROT_ERR : Status::WR_FLUSH_ERR));
}

TEST_CASE("the number of tries counts anew with each answer", "[retry]") {
  ports::QpAttributes a = attributes();
  a.rnr_retry = 1;
  Bench b(a);
  for (int i = 0; i < 3; ++i) b.fill(Opcode::send, 64);
  b.rig.ring(b.pair, false);
  // Each message is refused once.
  for (int i = 0; i < 3; ++i) b.rig.at(us(200 + 330 * i), [&] { b.receive(); });
  b.rig.run();
  REQUIRE(b.pair.cq->completions.size() == 3);
  for (const auto& c : b.pair.cq->completions) CHECK(c.status == Status::SUCCESS);
  CHECK(b.sender().requester.retries().rnr == 3);
}

TEST_CASE("a peer that never answers: timeout times the first try and the retries, then the QP is over", "[retry]") {
  ports::QpAttributes a = attributes();
  a.timeout = 4;  // 65.536 us
  a.retry = GENERATE(std::uint8_t(0), std::uint8_t(3), std::uint8_t(7));
  Bench b(a);
  b.rig.hosts[1].nic->destroy_qp(b.pair.remote);
  const Opcode opcode = GENERATE(Opcode::write, Opcode::read, Opcode::send);
  b.fill(opcode, 64);
  b.rig.ring(b.pair, true);
  b.rig.run();
  REQUIRE(b.pair.cq->completions.size() == 1);
  CHECK(b.pair.cq->completions[0].status == Status::RETRY_EXC_ERR);
  const Time whole = Time(65'536'000) * (1 + a.retry);
  CHECK(b.pair.cq->times[0] >= whole);
  CHECK(b.pair.cq->times[0] < whole + us(2 * (1 + a.retry)));
  CHECK(b.sender().requester.retries().timeouts == a.retry);
  CHECK(b.receiver().dropped_packets() == 1u + a.retry);
}

TEST_CASE("a peer that comes up in time answers a later try", "[retry]") {
  ports::QpAttributes a = attributes();
  a.timeout = 4;
  Bench b(a);
  b.rig.hosts[1].nic->set_state(b.pair.remote, QpState::init);
  b.fill(Opcode::write, 9000);
  b.rig.ring(b.pair, false);
  b.rig.at(us(150), [&] { b.rig.hosts[1].nic->set_state(b.pair.remote, QpState::rts); });
  b.rig.run();
  REQUIRE(b.pair.cq->completions.size() == 1);
  CHECK(b.pair.cq->completions[0].status == Status::SUCCESS);
  CHECK(b.sender().requester.retries().timeouts == 3);
}

TEST_CASE("a timer that is not needed costs no simulated time", "[retry]") {
  ports::QpAttributes a = attributes();
  a.timeout = 18;  // 1.07 s
  Bench b(a);
  b.fill(Opcode::write, 64);
  b.rig.ring(b.pair, true);
  b.rig.run();
  REQUIRE(b.pair.cq->completions.size() == 1);
  CHECK(b.rig.scheduler.now() < us(20));
  CHECK(b.rig.scheduler.idle());
}

TEST_CASE("a timeout of 0 waits for ever", "[retry]") {
  ports::QpAttributes a = attributes();
  a.timeout = 0;
  Bench b(a);
  b.rig.hosts[1].nic->destroy_qp(b.pair.remote);
  b.fill(Opcode::write, 64);
  b.rig.ring(b.pair, true);
  b.rig.run();
  CHECK(b.pair.cq->completions.empty());
  CHECK(b.rig.scheduler.now() < us(20));
}

TEST_CASE("whatever is sent again, each request happens once, in order, and each receive takes one message", "[retry][rule:8.2b]") {
  const std::uint32_t seed = GENERATE(range(1u, 25u));
  boost::random::mt19937 random(seed);
  const auto up_to = [&](std::uint32_t n) { return boost::random::uniform_int_distribution<std::uint32_t>(0, n)(random); };
  // Answers that come later than the requester waits for them: everything is sent several times, answers overtake repeats.
  test::RigSettings slow;
  slow.memory_read = ns(100 + 10 * static_cast<std::int64_t>(up_to(3000)));
  slow.pcie = defaults<pcie::LinkParams>();
  ports::QpAttributes a = attributes();
  a.timeout = static_cast<std::uint8_t>(1 + up_to(2));  // 8 us, 16 us, 33 us
  a.retry = 7;
  a.rnr_timer = static_cast<std::uint8_t>(1 + up_to(8));
  a.rd_atomic = a.dest_rd_atomic = 1 + up_to(7);
  a.mtu = Bytes(std::uint64_t{256} << up_to(4));
  Bench b(a, slow);
  constexpr std::uint32_t count = 60;
  std::vector<std::uint32_t> lengths;  // of what receives get
  for (std::uint32_t i = 0; i < count; ++i) {
    constexpr Opcode opcodes[]{Opcode::send, Opcode::write, Opcode::read, Opcode::write_imm, Opcode::faa, Opcode::send};
    const Opcode opcode = opcodes[up_to(5)];
    const std::uint32_t length = verbs::is_atomic(opcode) ? 8 : up_to(3) == 0 ? up_to(8192) : up_to(100);
    if (verbs::takes_receive(opcode)) lengths.push_back(length);
    const bool last = i + 1 == count;
    b.fill(opcode, length, last || up_to(2) == 0 ? Send::signaled : Send::none);
  }
  b.rig.ring(b.pair, false);
  Time when;
  for (std::size_t i = 0; i < lengths.size(); ++i) b.rig.at(when += us(up_to(3) == 0 ? up_to(300) : 0), [&] { b.receive(); });
  b.rig.run();
  INFO("seed " << seed);
  // A request without a CQE is logged as it retires, one with a CQE when that is visible.
  auto log = b.rig.hosts[0].log->operations;
  std::sort(log.begin(), log.end(), [](const auto& x, const auto& y) { return x.first.wr < y.first.wr; });
  REQUIRE(log.size() == count);
  for (std::size_t i = 1; i < b.pair.cq->completions.size(); ++i) CHECK(b.pair.cq->completions[i].wr > b.pair.cq->completions[i - 1].wr);
  bool given_up = false;
  for (std::size_t i = 0; i < count; ++i) {
    CHECK(log[i].first.wr == i + 1);
    // Patience may really end when the memory is slower than all tries together.
    given_up = given_up || log[i].second == Status::RETRY_EXC_ERR;
    CHECK(log[i].second == (!given_up                                ? Status::SUCCESS
                            : log[i].second == Status::RETRY_EXC_ERR ? Status::RETRY_EXC_ERR
                                                                     : Status::WR_FLUSH_ERR));
  }
  const auto& received = b.pair.peer_receive_cq->completions;
  for (std::size_t i = 0; i < received.size(); ++i) {
    CHECK(received[i].wr == 1001 + i);
    CHECK(received[i].status == Status::SUCCESS);
    CHECK(received[i].bytes == lengths.at(i));
  }
  if (!given_up) CHECK(received.size() == lengths.size());
  // Slower than the timer is patient: then there must have been repeats.
  if (slow.memory_read > verbs::ack_timeout(a.timeout)) {
    CHECK(b.sender().requester.retries().timeouts > 0);
    CHECK(b.receiver().responder.naks().duplicates > 0);
  }
  CHECK(b.rig.scheduler.idle());
}

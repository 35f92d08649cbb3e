// Do SENDs and WRITEs with immediate find their receives, and what do both ends say when they do not fit?
#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "support/nic_rig.h"

using namespace mtsim;
using ports::Step;
using test::FreshNicRig;
using verbs::Access;
using verbs::Opcode;
using verbs::QpState;
using verbs::QpType;
using verbs::Status;

namespace {

using Outcomes = std::vector<std::pair<std::uint64_t, Status>>;

Outcomes outcomes(const test::KeepCq& cq) {
  Outcomes out;
  for (const verbs::Completion& c : cq.completions) out.emplace_back(c.wr, c.status);
  return out;
}

ports::QpAttributes attributes(QpType type = QpType::rc) {
  ports::QpAttributes a;
  a.type = type;
  a.access = Access::remote_read | Access::remote_write | Access::remote_atomic;
  return a;
}

struct Bench {
  FreshNicRig rig;
  test::NicRig::Pair pair;
  verbs::Grant local, remote;

  explicit Bench(const ports::QpAttributes& qp = attributes(), const test::RigSettings& settings = {})
      : rig(settings), pair(rig.connect(128, qp)), local(rig.register_memory(0, KiB(64))), remote(rig.register_memory(1, KiB(64))) {}

  void fill(Opcode opcode, std::uint32_t length) {
    rig.fill(pair, opcode, {local.start.raw, length, local.key}, remote.start.raw, remote.key);
  }
  void receive(std::uint32_t length) { rig.receive(pair, {remote.start.raw, length, remote.key}); }
  void run() {
    rig.ring(pair, false);
    rig.run();
  }
  Outcomes sent() const { return outcomes(*pair.cq); }
  Outcomes received() const { return outcomes(*pair.peer_receive_cq); }
  std::uint32_t bytes(std::size_t i) const { return pair.peer_receive_cq->completions.at(i).bytes; }
  QpState state() const { return rig.hosts[0].nic->state(pair.local); }
  QpState peer_state() const { return rig.hosts[1].nic->state(pair.remote); }
};

}  // namespace

TEST_CASE("a SEND takes the oldest receive, whatever its length up to the receive's", "[receive]") {
  const std::uint32_t length = GENERATE(0u, 1u, 64u, 4096u, 4097u, 20'000u);
  Bench b;
  b.receive(20'000);
  b.receive(20'000);
  b.fill(Opcode::send, length);
  b.fill(Opcode::send, 3);
  b.run();
  CHECK(b.sent() == Outcomes{{1, Status::SUCCESS}, {2, Status::SUCCESS}});
  REQUIRE(b.received() == Outcomes{{1001, Status::SUCCESS}, {1002, Status::SUCCESS}});
  CHECK(b.bytes(0) == length);
  CHECK(b.bytes(1) == 3);
  CHECK(b.pair.peer_receive_cq->completions[0].opcode == Opcode::recv);
}

TEST_CASE("an operation's log has the receive from its first packet on", "[receive]") {
  Bench b;
  b.receive(20'000);
  b.fill(Opcode::send, 20'000);
  b.run();
  const auto& log = b.rig.hosts[1].log->operations;
  REQUIRE(log.size() == 1);
  const ports::Wqe& wqe = log[0].first;
  CHECK(wqe.opcode == Opcode::recv);
  CHECK(wqe.length == 20'000);
  Time last = wqe.begin;
  for (unsigned step = unsigned(Step::wire); step <= unsigned(Step::responder_dma); ++step) {
    CHECK(wqe.stamp[step] >= last);
    last = wqe.stamp[step];
  }
  CHECK(wqe.stamp[unsigned(Step::completion)] > last);
  // Its CQE goes down the link behind the data.
  CHECK(b.pair.peer_receive_cq->times[0] == wqe.stamp[unsigned(Step::completion)]);
}

TEST_CASE("a WRITE with immediate takes a receive for its completion only", "[receive]") {
  const std::uint32_t length = GENERATE(0u, 64u, 20'000u);
  Bench b;
  b.receive(0);
  b.fill(Opcode::write_imm, length);
  b.run();
  CHECK(b.sent() == Outcomes{{1, Status::SUCCESS}});
  REQUIRE(b.received() == Outcomes{{1001, Status::SUCCESS}});
  CHECK(b.bytes(0) == length);
}

TEST_CASE("a WRITE with immediate that its key refuses ends the receive that it took", "[receive]") {
  Bench b;
  b.receive(0);
  b.receive(0);
  b.rig.fill(b.pair, Opcode::write_imm, {b.local.start.raw, 64, b.local.key}, b.remote.start.raw, Key(0x1234'00));
  b.run();
  CHECK(b.sent() == Outcomes{{1, Status::REM_ACCESS_ERR}});
  CHECK(b.received() == Outcomes{{1001, Status::LOC_ACCESS_ERR}, {1002, Status::WR_FLUSH_ERR}});
}

TEST_CASE("a message that is longer than its receive", "[receive]") {
  const std::uint32_t room = GENERATE(0u, 63u, 4096u, 8191u);
  Bench b;
  b.receive(room);
  b.receive(room);
  b.fill(Opcode::send, room == 63 ? 64 : 8192);
  b.fill(Opcode::send, 1);
  b.run();
  CHECK(b.sent() == Outcomes{{1, Status::REM_INV_REQ_ERR}, {2, Status::WR_FLUSH_ERR}});
  CHECK(b.received() == Outcomes{{1001, Status::LOC_LEN_ERR}, {1002, Status::WR_FLUSH_ERR}});
  CHECK(b.state() == QpState::err);
  CHECK(b.peer_state() == QpState::err);
}

TEST_CASE("a receive whose element no key allows", "[receive]") {
  Bench b;
  const verbs::Grant read_only = b.rig.register_memory(1, KiB(4), page_bytes, Access::remote_read);
  const verbs::Grant other_pd = b.rig.register_memory(1, KiB(4), page_bytes, Access::local_write, 2);
  const unsigned which = GENERATE(0u, 1u, 2u, 3u);
  const verbs::Sge bad[]{{b.remote.start.raw, 64, Key(0x7777'00)},
                         {read_only.start.raw, 64, read_only.key},
                         {other_pd.start.raw, 64, other_pd.key},
                         {b.remote.start.raw + 64 * 1024 - 63, 64, b.remote.key}};
  b.rig.receive(b.pair, bad[which]);
  b.fill(Opcode::send, 64);
  b.run();
  CHECK(b.sent() == Outcomes{{1, Status::REM_OP_ERR}});
  CHECK(b.received() == Outcomes{{1001, Status::LOC_PROT_ERR}});
  CHECK(b.peer_state() == QpState::err);
}

TEST_CASE("a QP that goes to ERR flushes its receives in order, and those posted later", "[receive]") {
  Bench b;
  for (int i = 0; i < 40; ++i) b.receive(64);
  b.fill(Opcode::send, 64);
  b.run();
  b.rig.hosts[1].nic->set_state(b.pair.remote, QpState::err);
  b.rig.run();
  b.receive(64);
  b.rig.hosts[1].nic->doorbells().receives_posted(b.pair.remote);
  b.rig.run();
  const Outcomes got = b.received();
  REQUIRE(got.size() == 41);
  for (std::size_t i = 0; i < 41; ++i) CHECK(got[i] == std::pair{1001 + i, i == 0 ? Status::SUCCESS : Status::WR_FLUSH_ERR});
}

TEST_CASE("receives of a shared queue go to messages in the order in which these arrive; no QP flushes them", "[receive]") {
  FreshNicRig rig;
  ports::QpAttributes shared = attributes();
  const Pa base = rig.hosts[1].memory->allocate(Bytes(64 * 64 + 4096), page_bytes);
  shared.receives = std::make_shared<ports::ReceiveRing>(base, base + Bytes(4096), 64, 4, Bytes(64));
  shared.shared_receives = true;
  std::vector<test::NicRig::Pair> pairs;
  for (int i = 0; i < 3; ++i) pairs.push_back(rig.connect(128, shared));
  const verbs::Grant local = rig.register_memory(0, KiB(64)), remote = rig.register_memory(1, KiB(64));
  for (int i = 0; i < 9; ++i) rig.receive(pairs[0], {remote.start.raw, 64, remote.key});
  for (int i = 0; i < 6; ++i)
    rig.at(us(10 * (1 + i)), [&, i] {
      test::NicRig::Pair& pair = pairs[static_cast<std::size_t>(i) % 3];
      rig.fill(pair, Opcode::send, {local.start.raw, 32, local.key}, 0, Key());
      rig.ring(pair, true);
    });
  rig.run();
  CHECK(outcomes(*pairs[0].peer_receive_cq) == Outcomes{{1001, Status::SUCCESS}, {1004, Status::SUCCESS}});
  CHECK(outcomes(*pairs[1].peer_receive_cq) == Outcomes{{1002, Status::SUCCESS}, {1005, Status::SUCCESS}});
  CHECK(outcomes(*pairs[2].peer_receive_cq) == Outcomes{{1003, Status::SUCCESS}, {1006, Status::SUCCESS}});
  rig.hosts[1].nic->set_state(pairs[1].remote, QpState::err);
  rig.fill(pairs[0], Opcode::send, {local.start.raw, 32, local.key}, 0, Key());
  rig.ring(pairs[0], true);
  rig.run();
  CHECK(outcomes(*pairs[0].peer_receive_cq).back() == std::pair{std::uint64_t{1007}, Status::SUCCESS});
  CHECK(pairs[1].peer_receive_cq->completions.size() == 2);
}

TEST_CASE("keys of receives are judged by the PD of the queue, which a shared one has for itself", "[receive]") {
  ports::QpAttributes a = attributes();
  a.receive_pd = 2;
  Bench b(a);
  const verbs::Grant there = b.rig.register_memory(1, KiB(4), page_bytes, Access::local_write, 2);
  b.rig.receive(b.pair, {there.start.raw, 64, there.key});
  b.receive(64);
  b.fill(Opcode::send, 64);
  b.fill(Opcode::send, 64);
  b.run();
  CHECK(b.received() == Outcomes{{1001, Status::SUCCESS}, {1002, Status::LOC_PROT_ERR}});
}

TEST_CASE("an unreliable connection loses what cannot be placed, and nobody is told", "[receive][uc]") {
  Bench b(attributes(QpType::uc));
  SECTION("a SEND without a receive") {
    b.fill(Opcode::send, 20'000);
    b.run();
    b.receive(20'000);
    b.fill(Opcode::send, 20'000);
    b.run();
    CHECK(b.received() == Outcomes{{1001, Status::SUCCESS}});
    CHECK(b.bytes(0) == 20'000);
  }
  SECTION("a WRITE that its key refuses") {
    b.rig.fill(b.pair, Opcode::write, {b.local.start.raw, 20'000, b.local.key}, b.remote.start.raw, Key(0x1234'00));
    b.receive(20'000);
    b.fill(Opcode::send, 64);
    b.run();
    CHECK(b.received() == Outcomes{{1001, Status::SUCCESS}});
  }
  CHECK(b.sent() == Outcomes{{1, Status::SUCCESS}, {2, Status::SUCCESS}});
  CHECK(b.state() == QpState::rts);
  CHECK(b.peer_state() == QpState::rts);
}

TEST_CASE("the receive that a lost message of an unreliable connection left waits for one that takes a receive", "[receive][uc]") {
  Bench b(attributes(QpType::uc));
  b.receive(64);
  b.rig.fill(b.pair, Opcode::write_imm, {b.local.start.raw, 64, b.local.key}, b.remote.start.raw, Key(0x1234'00));
  b.fill(Opcode::write, 32);
  b.fill(Opcode::send, 48);
  b.run();
  CHECK(b.sent() == Outcomes{{1, Status::SUCCESS}, {2, Status::SUCCESS}, {3, Status::SUCCESS}});
  REQUIRE(b.received() == Outcomes{{1001, Status::SUCCESS}});
  CHECK(b.bytes(0) == 48);
}

TEST_CASE("a request of an unreliable connection that fails while one before it is still leaving has failed all the same", "[uc]") {
  Bench b(attributes(QpType::uc));
  b.fill(Opcode::write, 20'000);
  b.fill(Opcode::read, 64);
  b.fill(Opcode::write, 64);
  b.run();
  CHECK(b.sent() == Outcomes{{1, Status::SUCCESS}, {2, Status::LOC_QP_OP_ERR}, {3, Status::WR_FLUSH_ERR}});
}

TEST_CASE("nothing leaves behind a request that failed, however many pieces are prepared at a time", "[uc]") {
  test::RigSettings settings;
  settings.nic.requester.qp_pieces = GENERATE(1u, 4u);
  Bench b(attributes(QpType::uc), settings);
  b.receive(64);
  b.fill(Opcode::write, 20'000);
  b.rig.fill(b.pair, Opcode::write, {b.local.start.raw, 64, Key(0x1234'00)}, b.remote.start.raw, b.remote.key);
  b.fill(Opcode::send, 64);
  b.run();
  CHECK(b.sent() == Outcomes{{1, Status::SUCCESS}, {2, Status::LOC_PROT_ERR}, {3, Status::WR_FLUSH_ERR}});
  CHECK(b.received().empty());
}

TEST_CASE("an unreliable connection's receive that is bad ends its QP", "[receive][uc]") {
  Bench b(attributes(QpType::uc));
  b.rig.receive(b.pair, {b.remote.start.raw, 64, Key(0x7777'00)});
  b.fill(Opcode::send, 64);
  b.run();
  CHECK(b.sent() == Outcomes{{1, Status::SUCCESS}});
  CHECK(b.received() == Outcomes{{1001, Status::LOC_PROT_ERR}});
  CHECK(b.peer_state() == QpState::err);
}

TEST_CASE("an unreliable connection has no READs and no atomics", "[uc]") {
  const Opcode opcode = GENERATE(Opcode::read, Opcode::cas, Opcode::faa);
  Bench b(attributes(QpType::uc));
  b.fill(opcode, 8);
  b.run();
  CHECK(b.sent() == Outcomes{{1, Status::LOC_QP_OP_ERR}});
}

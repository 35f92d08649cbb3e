// What must an atomic have, and what do two of them on one word cost each other?
#include <catch2/catch.hpp>
#include <vector>

#include "support/nic_rig.h"

using namespace mtsim;
using ports::Step;
using test::FreshNicRig;
using verbs::Access;
using verbs::Opcode;
using verbs::QpState;
using verbs::Status;

namespace {

constexpr Access all = Access::local_write | Access::remote_atomic;

ports::QpAttributes attributes(Access access) {
  ports::QpAttributes a;
  a.access = access;
  return a;
}

/// The status of one atomic, and of what its peer becomes.
std::pair<Status, QpState> ask(Access qp, Access mr, std::uint64_t offset, Access sink = Access::local_write) {
  FreshNicRig rig;
  auto pair = rig.connect(16, attributes(qp));
  const verbs::Grant local = rig.register_memory(0, KiB(4), page_bytes, sink), remote = rig.register_memory(1, KiB(4), page_bytes, mr);
  rig.fill(pair, Opcode::faa, {local.start.raw, 8, local.key}, remote.start.raw + offset, remote.key);
  rig.ring(pair, true);
  rig.run();
  REQUIRE(pair.cq->completions.size() == 1);
  return {pair.cq->completions[0].status, rig.hosts[1].nic->state(pair.remote)};
}

using Answer = std::pair<Status, QpState>;

}  // namespace

TEST_CASE("an atomic needs the right on the QP, on the MR, and an aligned word", "[atomic]") {
  CHECK(ask(Access::remote_atomic, all, 8) == Answer{Status::SUCCESS, QpState::rts});
  CHECK(ask(Access::remote_write, all, 8) == Answer{Status::REM_INV_REQ_ERR, QpState::err});
  CHECK(ask(Access::remote_atomic, Access::local_write | Access::remote_write, 8) == Answer{Status::REM_ACCESS_ERR, QpState::err});
  CHECK(ask(Access::remote_atomic, all, 4) == Answer{Status::REM_INV_REQ_ERR, QpState::err});
  CHECK(ask(Access::remote_atomic, all, 4096 - 8) == Answer{Status::SUCCESS, QpState::rts});
  // The key is asked before the alignment.
  CHECK(ask(Access::remote_atomic, all, 4096 - 4) == Answer{Status::REM_ACCESS_ERR, QpState::err});
  // The word has been changed when the sink turns out to be bad.
  CHECK(ask(Access::remote_atomic, all, 8, Access::none) == Answer{Status::LOC_PROT_ERR, QpState::rts});
}

TEST_CASE("atomics of two QPs on one word exclude each other for a PCIe round trip, those on two words do not", "[atomic]") {
  const auto distance = [](std::uint64_t second) {
    FreshNicRig rig;
    auto one = rig.connect(16, attributes(Access::remote_atomic)), two = rig.connect(16, attributes(Access::remote_atomic));
    const verbs::Grant local = rig.register_memory(0, KiB(4)), remote = rig.register_memory(1, KiB(4), page_bytes, all);
    const auto post = [&](test::NicRig::Pair& pair, std::uint64_t offset) {
      rig.fill(pair, Opcode::cas, {local.start.raw, 8, local.key}, remote.start.raw + offset, remote.key);
      rig.ring(pair, true);
    };
    post(one, 0);  // warms the caches
    rig.run();
    post(one, 0);
    post(two, second);
    rig.run();
    const auto& log = rig.hosts[0].log->operations;
    REQUIRE(log.size() == 3);
    const auto done = [&](std::size_t i) { return log[i].first.stamp[unsigned(Step::responder_dma)]; };
    return done(2) - done(1);
  };
  CHECK(distance(8) < ns(50));
  // Request and data on a link of 125 ns each way, and 90 ns in memory.
  CHECK(distance(0) > ns(340));
  CHECK(distance(0) < ns(500));
}

TEST_CASE("one QP's atomics are limited as its READs are", "[atomic]") {
  FreshNicRig rig;
  ports::QpAttributes a = attributes(Access::remote_atomic);
  a.rd_atomic = 2;
  auto pair = rig.connect(64, a);
  const verbs::Grant local = rig.register_memory(0, KiB(4)), remote = rig.register_memory(1, KiB(4), page_bytes, all);
  for (std::uint32_t i = 0; i < 20; ++i) rig.fill(pair, Opcode::faa, {local.start.raw, 8, local.key}, remote.start.raw + 8 * i, remote.key);
  rig.ring(pair, false);
  rig.run();
  const auto& log = rig.hosts[0].log->operations;
  REQUIRE(log.size() == 20);
  for (std::size_t i = 2; i < 20; ++i)
    CHECK(log[i].first.stamp[unsigned(Step::schedule)] >= log[i - 2].first.stamp[unsigned(Step::scatter)]);
}

// Is the state right of memory windows at the NIC: what a bind opens, for whom, and until when; and does the peer's count of requests go
// on over those that send nothing?
#include <catch2/catch.hpp>

#include "support/nic_rig.h"

namespace mtsim::test {
namespace {

using verbs::Access;
using verbs::Opcode;
using verbs::Status;

constexpr Access all = Access::local_write | Access::mw_bind;
constexpr Access any_request = Access::remote_read | Access::remote_write | Access::remote_atomic;

/// Host 0 writes to windows of host 1, which host 1 binds by requests of its own on the same pair of QPs.
struct Rig {
  explicit Rig(std::shared_ptr<const verbs::Rules> rules = verbs::the_ib_rules()) : nics(settings(rules)) {
    pair = nics.connect(128, any_request);
    source = nics.register_memory(0, KiB(64));
    target = nics.register_memory(1, KiB(64), page_bytes, all);
  }
  static RigSettings settings(const std::shared_ptr<const verbs::Rules>& rules) {
    RigSettings out;
    out.nic.requester.rules = out.nic.responder.rules = rules;
    return out;
  }
  Key window(std::uint8_t type, std::uint32_t pd = 1) {
    translate::Region region;
    region.grant = verbs::unbound(Key(nics.hosts[1].keys++, 0xfe), pd, type);
    translate::TableWrites writes;
    REQUIRE(nics.hosts[1].nic->tables().architecture().build(region, writes));
    nics.hosts[1].nic->tables().commit(writes);
    return region.grant.key;
  }
  /// A request of host 1.
  ports::Wqe& own(Opcode opcode) {
    ports::Wqe& wqe = pair.peer_ring->open(peer_producer++);
    wqe.wr = peer_producer;
    wqe.opcode = opcode;
    wqe.flags = verbs::Send::signaled;
    wqe.begin = wqe.stamp[unsigned(ports::Step::posted)] = nics.scheduler.now();
    return wqe;
  }
  Status ring_own() {
    nics.hosts[1].nic->doorbells().ring(pair.remote, peer_producer, Bytes{});
    nics.run();
    return pair.peer_cq->completions.back().status;
  }
  Status bind(const verbs::Bind& bind) {
    ports::put_bind(own(Opcode::bind_mw), bind);
    return ring_own();
  }
  Status invalidate(Key key) {
    own(Opcode::local_inv).rkey = key;
    return ring_own();
  }
  Status write(Key key, std::uint64_t address, std::uint32_t length) { return request(pair, Opcode::write, key, address, length); }
  Status request(NicRig::Pair& of, Opcode opcode, Key key, std::uint64_t address, std::uint32_t length) {
    nics.fill(of, opcode, {source.start.raw, length, source.key}, address, key);
    nics.ring(of, false);
    nics.run();
    return of.cq->completions.back().status;
  }
  /// Of [start + 4096, + 8192) of the target.
  verbs::Bind of_target(Key window, Access access = Access::remote_write) const {
    return {window, Key(window.raw + 1), target.key, target.start + Bytes(4096), Bytes(8192), access, false};
  }

  FreshNicRig nics;
  NicRig::Pair pair;
  verbs::Grant source, target;
  std::uint32_t peer_producer = 0;
};

Key next(Key key) { return Key((key.raw & ~0xffu) | ((key.raw + 1) & 0xff)); }

}  // namespace

TEST_CASE("A window of type 2 opens its range, with its rights, to the QP that bound it [rule:10.14]") {
  Rig rig;
  const Key free = rig.window(2);
  const std::uint64_t inside = rig.target.start.raw + 4096;
  const verbs::Bind bind = rig.of_target(free);
  REQUIRE(rig.bind(bind) == Status::SUCCESS);
  const Key bound = next(free);
  CHECK(rig.nics.hosts[1].nic->tables().windows_of(rig.target.key) == 1);
  CHECK(rig.write(bound, inside, 8192) == Status::SUCCESS);
  CHECK(rig.write(bound, inside + 8191, 1) == Status::SUCCESS);

  SECTION("not with the key that it had before") { CHECK(rig.write(free, inside, 8) == Status::REM_ACCESS_ERR); }
  SECTION("not beyond its end") { CHECK(rig.write(bound, inside + 8185, 8) == Status::REM_ACCESS_ERR); }
  SECTION("not before its beginning") { CHECK(rig.write(bound, inside - 1, 8) == Status::REM_ACCESS_ERR); }
  SECTION("not with another right") { CHECK(rig.request(rig.pair, Opcode::read, bound, inside, 8) == Status::REM_ACCESS_ERR); }
  SECTION("not through another QP of the PD") {
    NicRig::Pair other = rig.nics.connect(128, any_request);
    CHECK(rig.request(other, Opcode::write, bound, inside, 8) == Status::REM_ACCESS_ERR);
    REQUIRE(rig.nics.hosts[1].log->refusals.size() == 1);
    CHECK(rig.nics.hosts[1].log->refusals[0].verdict == verbs::Verdict::other_qp);
  }
  SECTION("not once it is invalidated, and again once it is bound anew") {
    REQUIRE(rig.invalidate(bound) == Status::SUCCESS);
    CHECK(rig.nics.hosts[1].nic->tables().windows_of(rig.target.key) == 0);
    REQUIRE(rig.bind(rig.of_target(bound)) == Status::SUCCESS);
    CHECK(rig.write(next(bound), inside, 8) == Status::SUCCESS);
    CHECK(rig.write(bound, inside, 8) == Status::REM_ACCESS_ERR);
  }
  SECTION("not once its MR is gone") {
    rig.nics.deregister(1, rig.target.key);
    CHECK(rig.write(bound, inside, 8) == Status::REM_ACCESS_ERR);
  }
}

TEST_CASE("Zero-based windows count from their own beginning [rule:10.11]") {
  Rig rig;
  const Key free = rig.window(2);
  REQUIRE(rig.bind(rig.of_target(free, Access::remote_write | Access::zero_based)) == Status::SUCCESS);
  CHECK(rig.write(next(free), 0, 8192) == Status::SUCCESS);
  CHECK(rig.write(next(free), 1, 8192) == Status::REM_ACCESS_ERR);
}

TEST_CASE("rxe checks the bounds of the MR in the place of the window's [rule:10.15]") {
  const std::shared_ptr<const verbs::Rules> rules = verbs::RuleSets::make("rxe-6.1");
  Rig rig(rules);
  const Key free = rig.window(2);
  REQUIRE(rig.bind(rig.of_target(free)) == Status::SUCCESS);
  CHECK(rig.write(next(free), rig.target.start.raw, 8) == Status::SUCCESS);
  CHECK(rig.write(next(free), rig.target.start.raw - 1, 8) == Status::REM_ACCESS_ERR);
}

TEST_CASE("A bind that a check refuses ends the QP, and the window stays as it was [rule:10.3]") {
  Rig rig;
  const Key free = rig.window(2), type_1 = rig.window(1);
  verbs::Bind bind = rig.of_target(free);
  verbs::BindCheck expected = verbs::BindCheck::none;
  SECTION("bound already") {
    REQUIRE(rig.bind(bind) == Status::SUCCESS);
    bind.window = next(free);
    expected = verbs::BindCheck::window_bound;
  }
  SECTION("of type 1 by work request") {
    bind.window = type_1;
    expected = verbs::BindCheck::window_type;
  }
  SECTION("to nothing") {
    bind.length = Bytes();
    expected = verbs::BindCheck::window_empty;
  }
  SECTION("beyond the MR") {
    bind.length = KiB(64);
    expected = verbs::BindCheck::range;
  }
  SECTION("with a key that the window does not have") {
    bind.window = next(free);
    expected = verbs::BindCheck::window_key;
  }
  SECTION("of another PD") {
    bind.window = rig.window(2, 7);
    expected = verbs::BindCheck::window_pd;
  }
  SECTION("of an MR without MW_BIND") {
    bind.region = rig.nics.register_memory(1, KiB(64)).key;
    expected = verbs::BindCheck::region_bind;
  }
  CHECK(rig.bind(bind) == Status::MW_BIND_ERR);
  REQUIRE(rig.nics.hosts[1].log->refusals.size() == 1);
  CHECK(rig.nics.hosts[1].log->refusals[0].bind == expected);
  CHECK(rig.nics.hosts[1].nic->state(rig.pair.remote) == verbs::QpState::err);
}

TEST_CASE("Only windows of type 2 can be invalidated [rule:10.16] [rule:10.18]") {
  Rig rig;
  Key key;
  SECTION("a window of type 1") { key = rig.window(1); }
  SECTION("an MR") { key = rig.target.key; }
  SECTION("nothing") { key = Key(0x123456, 7); }
  CHECK(rig.invalidate(key) == Status::LOC_QP_OP_ERR);
}

TEST_CASE("A window that is gone cannot be invalidated, as a free one can") {
  const bool gone = GENERATE(false, true);
  Rig rig;
  const Key key = rig.window(2);
  if (gone) rig.nics.deregister(1, key);
  CHECK(rig.invalidate(key) == (gone ? Status::LOC_QP_OP_ERR : Status::SUCCESS));
}

TEST_CASE("A SEND invalidates the key that it names once its data is in place [rule:10.17]") {
  Rig rig;
  const Key free = rig.window(2), bound = next(free);
  REQUIRE(rig.bind(rig.of_target(free)) == Status::SUCCESS);
  const verbs::Grant inbox = rig.nics.register_memory(1, KiB(4));
  rig.nics.receive(rig.pair, {inbox.start.raw, 4096, inbox.key});
  SECTION("a window that its QP has bound") {
    CHECK(rig.request(rig.pair, Opcode::send_inv, bound, 0, 64) == Status::SUCCESS);
    const verbs::Completion& received = rig.pair.peer_receive_cq->completions.back();
    CHECK(received.status == Status::SUCCESS);
    CHECK(received.bytes == 64);
    CHECK(received.invalidates);
    CHECK(received.invalidated == bound);
    CHECK(rig.write(bound, rig.target.start.raw + 4096, 8) == Status::REM_ACCESS_ERR);
  }
  // The message has been acknowledged: its sender learns nothing.
  SECTION("an MR: the receiver fails") {
    CHECK(rig.request(rig.pair, Opcode::send_inv, rig.target.key, 0, 64) == Status::SUCCESS);
    CHECK(rig.pair.peer_receive_cq->completions.back().status == Status::REM_INV_REQ_ERR);
    CHECK(rig.nics.hosts[1].nic->state(rig.pair.remote) == verbs::QpState::err);
  }
}

TEST_CASE("Requests that send nothing leave no gap in the count of those that do [rule:10.19]") {
  Rig rig;
  const Key free = rig.window(2);
  verbs::Bind bind = rig.of_target(free);
  const verbs::Grant far = rig.nics.register_memory(0, KiB(16));
  const auto write = [&] {
    ports::Wqe& wqe = rig.own(Opcode::write);
    wqe.rkey = far.key;
    wqe.remote_address = far.start.raw;
    wqe.length = 5000;
    wqe.sge = {rig.target.start.raw, 5000, rig.target.key};
    wqe.sges = &wqe.sge;
    wqe.sge_count = 1;
  };
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < round % 4; ++i) {
      ports::put_bind(rig.own(Opcode::bind_mw), bind);
      bind.window = next(bind.window);
      bind.new_key = next(bind.window);
      rig.own(Opcode::local_inv).rkey = bind.window;
    }
    write();
    if (round % 3 == 0) write();
  }
  CHECK(rig.ring_own() == Status::SUCCESS);
  CHECK(rig.pair.peer_cq->completions.size() == rig.peer_producer);
  CHECK(std::all_of(rig.pair.peer_cq->completions.begin(), rig.pair.peer_cq->completions.end(),
                    [](const verbs::Completion& c) { return c.status == Status::SUCCESS; }));
  CHECK(rig.nics.hosts[0].nic->responder.naks().sequence == 0);
}

TEST_CASE("An error of an unreliable QP's own request stops its sends alone [rule:7.15]") {
  FreshNicRig nics;
  ports::QpAttributes attributes;
  attributes.type = verbs::QpType::uc;
  attributes.access = any_request;
  NicRig::Pair pair = nics.connect(128, attributes);
  const verbs::Grant source = nics.register_memory(0, KiB(4)), target = nics.register_memory(1, KiB(4));
  nics.fill(pair, Opcode::write, {source.start.raw, 64, Key(source.key.raw ^ 1)}, target.start.raw, target.key);
  nics.fill(pair, Opcode::write, {source.start.raw, 64, source.key}, target.start.raw, target.key);
  nics.ring(pair, false);
  nics.run();
  REQUIRE(pair.cq->completions.size() == 2);
  CHECK(pair.cq->completions[0].status == Status::LOC_PROT_ERR);
  CHECK(pair.cq->completions[1].status == Status::WR_FLUSH_ERR);
  CHECK(nics.hosts[0].nic->state(pair.local) == verbs::QpState::sqe);
  nics.fill(pair, Opcode::write, {source.start.raw, 64, source.key}, target.start.raw, target.key);
  nics.ring(pair, false);
  nics.run();
  CHECK(pair.cq->completions.back().status == Status::WR_FLUSH_ERR);
}

}  // namespace mtsim::test

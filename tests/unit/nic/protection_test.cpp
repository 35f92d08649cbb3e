// What do both ends answer when a key, a right or a range is wrong, and what becomes of the queue pairs?
#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "support/nic_rig.h"

using namespace mtsim;
using test::FreshNicRig;
using verbs::Access;
using verbs::Opcode;
using verbs::QpState;
using verbs::Send;
using verbs::Status;

namespace {

constexpr Access all = Access::local_write | Access::remote_write | Access::remote_read;

using Outcomes = std::vector<std::pair<std::uint64_t, Status>>;

Outcomes outcomes(const test::NicRig::Pair& pair) {
  Outcomes out;
  for (const verbs::Completion& c : pair.cq->completions) out.emplace_back(c.wr, c.status);
  return out;
}

struct Bench {
  FreshNicRig rig;
  test::NicRig::Pair pair;
  verbs::Grant local, remote;

  explicit Bench(Access qp_access = Access::remote_read | Access::remote_write, Access mr_access = all, std::uint32_t mr_pd = 1)
      : pair(rig.connect(128, qp_access)),
        local(rig.register_memory(0, KiB(64))),
        remote(rig.register_memory(1, KiB(64), page_bytes, mr_access, mr_pd)) {}

  ports::Wqe& fill(Opcode opcode, std::uint32_t length, std::uint64_t remote_offset = 0, Send flags = Send::signaled) {
    return rig.fill(pair, opcode, {local.start.raw, length, local.key}, remote.start.raw + remote_offset, remote.key, flags);
  }
  Outcomes run() {
    rig.ring(pair, false);
    rig.run();
    return outcomes(pair);
  }
  QpState state() const { return rig.hosts[0].nic->state(pair.local); }
  QpState peer_state() const { return rig.hosts[1].nic->state(pair.remote); }
  /// One request, alone.
  Status ask(Opcode opcode, std::uint32_t length, std::uint64_t remote_offset = 0) {
    fill(opcode, length, remote_offset);
    const Outcomes got = run();
    REQUIRE(got.size() == 1);
    return got[0].second;
  }
};

}  // namespace

TEST_CASE("what is right succeeds to the last byte, and both ends stay up", "[protection]") {
  const Opcode opcode = GENERATE(Opcode::write, Opcode::read);
  Bench b;
  b.fill(opcode, 64 << 10);
  b.fill(opcode, 1, (64 << 10) - 1);
  CHECK(b.run() == Outcomes{{1, Status::SUCCESS}, {2, Status::SUCCESS}});
  CHECK(b.state() == QpState::rts);
  CHECK(b.peer_state() == QpState::rts);
}

TEST_CASE("a bad lkey: LOC_PROT_ERR after what went before, WR_FLUSH_ERR for what follows, in order", "[protection]") {
  Bench b;
  b.fill(Opcode::write, 4096, 0, Send::none);  // unsignalled and fine: no completion
  b.fill(Opcode::read, 4096);                  // still on its way when the next is refused
  b.rig.fill(b.pair, Opcode::write, {b.local.start.raw, 64, Key(b.local.key.raw + 1)}, b.remote.start.raw, b.remote.key, Send::none);
  b.fill(Opcode::write, 64, 0, Send::none);  // flushed requests complete, signalled or not
  b.fill(Opcode::read, 64);
  CHECK(b.run() == Outcomes{{2, Status::SUCCESS}, {3, Status::LOC_PROT_ERR}, {4, Status::WR_FLUSH_ERR}, {5, Status::WR_FLUSH_ERR}});
  CHECK(b.state() == QpState::err);
  CHECK(b.peer_state() == QpState::rts);  // the peer never heard of it
}

TEST_CASE("what is posted to a QP in ERR is flushed", "[protection]") {
  Bench b;
  b.rig.fill(b.pair, Opcode::write, {b.local.start.raw, 64, Key(0x4242, 1)}, b.remote.start.raw, b.remote.key);
  CHECK(b.run() == Outcomes{{1, Status::LOC_PROT_ERR}});
  b.fill(Opcode::write, 64);
  b.fill(Opcode::write, 64, 0, Send::none);
  CHECK(b.run() == Outcomes{{1, Status::LOC_PROT_ERR}, {2, Status::WR_FLUSH_ERR}, {3, Status::WR_FLUSH_ERR}});
}

TEST_CASE("a bad rkey: REM_ACCESS_ERR, and ERR at both ends", "[protection]") {
  const Opcode opcode = GENERATE(Opcode::write, Opcode::read);
  Bench b;
  b.fill(Opcode::write, 64);
  b.rig.fill(b.pair, opcode, {b.local.start.raw, 64, b.local.key}, b.remote.start.raw, Key(b.remote.key.raw ^ 0xff));
  b.fill(Opcode::write, 64);
  CHECK(b.run() == Outcomes{{1, Status::SUCCESS}, {2, Status::REM_ACCESS_ERR}, {3, Status::WR_FLUSH_ERR}});
  CHECK(b.state() == QpState::err);
  CHECK(b.peer_state() == QpState::err);
}

TEST_CASE("the responder refuses what the MR does not grant", "[protection]") {
  SECTION("no right to write") {
    CHECK(Bench(all, Access::local_write | Access::remote_read).ask(Opcode::write, 64) == Status::REM_ACCESS_ERR);
  }
  SECTION("no right to read") {
    CHECK(Bench(all, Access::local_write | Access::remote_write).ask(Opcode::read, 64) == Status::REM_ACCESS_ERR);
  }
  SECTION("another protection domain") { CHECK(Bench(all, all, 2).ask(Opcode::write, 64) == Status::REM_ACCESS_ERR); }
  SECTION("one byte beyond the end") { CHECK(Bench().ask(Opcode::write, 4097, (64 << 10) - 4096) == Status::REM_ACCESS_ERR); }
  SECTION("one byte before the start") { CHECK(Bench().ask(Opcode::read, 64, std::uint64_t{0} - 1) == Status::REM_ACCESS_ERR); }
  SECTION("a range that runs over the end of the address space") {
    Bench b;
    b.rig.fill(b.pair, Opcode::write, {b.local.start.raw, 4096, b.local.key}, ~std::uint64_t{0} - 10, b.remote.key);
    CHECK(b.run() == Outcomes{{1, Status::REM_ACCESS_ERR}});
  }
  SECTION("a registration that is over") {
    Bench b;
    b.rig.deregister(1, b.remote.key);
    CHECK(b.ask(Opcode::write, 64) == Status::REM_ACCESS_ERR);
  }
}

TEST_CASE("the requester refuses what its own MR does not grant", "[protection]") {
  Bench b;
  const verbs::Grant other_pd = b.rig.register_memory(0, KiB(4), page_bytes, all, 2);
  const verbs::Grant read_only = b.rig.register_memory(0, KiB(4), page_bytes, Access::none);
  const auto use = [&](Opcode opcode, verbs::Sge sge) { b.rig.fill(b.pair, opcode, sge, b.remote.start.raw, b.remote.key); };
  SECTION("another protection domain") {
    use(Opcode::write, {other_pd.start.raw, 64, other_pd.key});
    CHECK(b.run() == Outcomes{{1, Status::LOC_PROT_ERR}});
  }
  SECTION("a piece of the SGE beyond the end") {
    use(Opcode::write, {b.local.start.raw + (64 << 10) - 63, 64, b.local.key});
    CHECK(b.run() == Outcomes{{1, Status::LOC_PROT_ERR}});
  }
  SECTION("gathering from an MR without local write is allowed") {
    use(Opcode::write, {read_only.start.raw, 64, read_only.key});
    CHECK(b.run() == Outcomes{{1, Status::SUCCESS}});
  }
  SECTION("a READ may not scatter into one") {
    use(Opcode::read, {read_only.start.raw, 64, read_only.key});
    CHECK(b.run() == Outcomes{{1, Status::LOC_PROT_ERR}});
  }
}

TEST_CASE("a QP that lacks the right refuses before it looks at any key", "[protection]") {
  const auto [opcode, access] =
      GENERATE(std::make_pair(Opcode::write, Access::remote_read), std::make_pair(Opcode::read, Access::remote_write));
  Bench b(access);
  b.rig.fill(b.pair, opcode, {b.local.start.raw, 64, b.local.key}, b.remote.start.raw, Key(0));
  CHECK(b.run() == Outcomes{{1, Status::REM_INV_REQ_ERR}});
  CHECK(b.peer_state() == QpState::err);
  CHECK(b.rig.hosts[1].nic->mpt_cache->counts().lookups == 0);
}

TEST_CASE("a message of no bytes needs no key", "[protection]") {
  const Opcode opcode = GENERATE(Opcode::write, Opcode::read);
  Bench b;
  ports::Wqe& wqe = b.rig.fill(b.pair, opcode, {}, 0, Key(0));
  wqe.sge_count = 0;
  CHECK(b.run() == Outcomes{{1, Status::SUCCESS}});
  CHECK(b.rig.hosts[0].nic->mpt_cache->counts().lookups == 0);
  CHECK(b.rig.hosts[1].nic->mpt_cache->counts().lookups == 0);
}

TEST_CASE("a message that is refused on its first packet writes nothing, whatever it still sends", "[protection]") {
  Bench b;
  CHECK(b.ask(Opcode::write, 32 << 10, 48 << 10) == Status::REM_ACCESS_ERR);  // the first 16 KiB would fit
  CHECK(b.rig.hosts[1].link->counts().writes.all().payload_bytes == 0);
}

// Do queue pairs take turns, and do READ credits, fences and scatter-gather lists hold?
#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "support/nic_rig.h"

using namespace mtsim;
using ports::Step;
using test::FreshNicRig;
using test::NicRig;
using verbs::Access;
using verbs::Opcode;
using verbs::Send;
using verbs::Status;

namespace {

constexpr Access both = Access::remote_read | Access::remote_write;

Time stamp(const ports::Wqe& wqe, Step step) { return wqe.stamp[unsigned(step)]; }

/// How many READs were on their way when each was taken up, itself included.
std::vector<std::size_t> reads_under_way(const std::vector<std::pair<ports::Wqe, Status>>& operations) {
  std::vector<std::size_t> out;
  for (const auto& [one, status] : operations)
    out.push_back(static_cast<std::size_t>(std::count_if(operations.begin(), operations.end(), [&one = one](const auto& other) {
      return stamp(other.first, Step::schedule) <= stamp(one, Step::schedule) &&
             stamp(other.first, Step::scatter) > stamp(one, Step::schedule);
    })));
  return out;
}

}  // namespace

TEST_CASE("a QP has no more READs outstanding than its credits, and uses them all", "[requester][rule:7.2]") {
  const std::uint32_t credits = GENERATE(1u, 2u, 5u, 16u);
  FreshNicRig rig;
  NicRig::Pair pair = rig.connect(128, both, Bytes(4096), credits);
  const verbs::Grant local = rig.register_memory(0, KiB(64)), remote = rig.register_memory(1, KiB(64));
  for (int i = 0; i < 24; ++i) rig.fill(pair, Opcode::read, {local.start.raw, 64, local.key}, remote.start.raw, remote.key);
  rig.ring(pair, false);
  rig.run();
  const auto& operations = rig.hosts[0].log->operations;
  REQUIRE(operations.size() == 24);
  for (const auto& [wqe, status] : operations) CHECK(status == Status::SUCCESS);
  const auto under_way = reads_under_way(operations);
  CHECK(*std::max_element(under_way.begin(), under_way.end()) == credits);
}

TEST_CASE("a QP without credits may not READ", "[requester]") {
  FreshNicRig rig;
  NicRig::Pair pair = rig.connect(128, both, Bytes(4096), 0);
  const verbs::Grant local = rig.register_memory(0, KiB(64)), remote = rig.register_memory(1, KiB(64));
  rig.fill(pair, Opcode::read, {local.start.raw, 64, local.key}, remote.start.raw, remote.key);
  rig.ring(pair, false);
  rig.run();
  REQUIRE(pair.cq->completions.size() == 1);
  CHECK(pair.cq->completions[0].status == Status::LOC_QP_OP_ERR);
}

TEST_CASE("a fenced WRITE waits for the READs before it, another does not", "[requester][rule:7.2]") {
  const bool fenced = GENERATE(false, true);
  FreshNicRig rig;
  NicRig::Pair pair = rig.connect();
  const verbs::Grant local = rig.register_memory(0, KiB(64)), remote = rig.register_memory(1, KiB(64));
  for (int i = 0; i < 3; ++i) rig.fill(pair, Opcode::read, {local.start.raw, 4096, local.key}, remote.start.raw, remote.key);
  rig.fill(pair, Opcode::write, {local.start.raw, 64, local.key}, remote.start.raw, remote.key,
           fenced ? Send::signaled | Send::fence : Send::signaled);
  rig.ring(pair, false);
  rig.run();
  const auto& operations = rig.hosts[0].log->operations;
  REQUIRE(operations.size() == 4);
  const Time taken_up = stamp(operations[3].first, Step::schedule);
  if (fenced)
    for (int i = 0; i < 3; ++i) CHECK(stamp(operations[static_cast<std::size_t>(i)].first, Step::scatter) <= taken_up);
  else CHECK(stamp(operations[0].first, Step::scatter) > taken_up);
  // Either way completions come in order of posting.
  std::vector<std::uint64_t> order;
  for (const verbs::Completion& c : pair.cq->completions) order.push_back(c.wr);
  CHECK(order == std::vector<std::uint64_t>{1, 2, 3, 4});
}

TEST_CASE("queue pairs with work take turns", "[requester]") {
  test::RigSettings settings;
  settings.nic.requester.interval = ns(200);  // longer than a request's preparation: all are ready at every turn
  FreshNicRig rig(settings);
  const verbs::Grant local = rig.register_memory(0, KiB(64)), remote = rig.register_memory(1, KiB(64));
  std::vector<NicRig::Pair> pairs;
  for (int q = 0; q < 3; ++q) pairs.push_back(rig.connect());
  for (NicRig::Pair& pair : pairs) {
    for (int i = 0; i < 5; ++i)
      rig.fill(pair, Opcode::read, {local.start.raw, 64, local.key}, remote.start.raw, remote.key).wr = pair.local;
    rig.ring(pair, false);
  }
  rig.run();
  std::vector<std::pair<Time, std::uint64_t>> picks;
  for (const auto& [wqe, status] : rig.hosts[0].log->operations) picks.emplace_back(stamp(wqe, Step::schedule), wqe.wr);
  std::sort(picks.begin(), picks.end());
  REQUIRE(picks.size() == 15);
  // The third QP's WQEs come when the first two have been picked; at the thirteenth pick the first QP has no more.
  for (std::size_t i = 2; i + 3 < 14; ++i) {
    CHECK(picks[i + 3].second == picks[i].second);
    CHECK(picks[i + 1].second != picks[i].second);
    CHECK(picks[i + 2].second != picks[i].second);
    CHECK(picks[i + 1].first - picks[i].first == ns(200));
  }
}

TEST_CASE("a long message does not hold up another queue pair", "[requester]") {
  FreshNicRig rig;
  const verbs::Grant local = rig.register_memory(0, MiB(1)), remote = rig.register_memory(1, MiB(1));
  NicRig::Pair one = rig.connect(), other = rig.connect();
  rig.fill(one, Opcode::write, {local.start.raw, 1 << 20, local.key}, remote.start.raw, remote.key);
  rig.fill(other, Opcode::write, {local.start.raw, 64, local.key}, remote.start.raw, remote.key);
  rig.ring(one, false);
  rig.ring(other, false);
  rig.run();
  REQUIRE(one.cq->times.size() == 1);
  REQUIRE(other.cq->times.size() == 1);
  CHECK(one.cq->completions[0].status == Status::SUCCESS);
  CHECK(other.cq->times[0] * 10 < one.cq->times[0]);
  CHECK(rig.hosts[0].nic->requester.pieces() == 256 + 1);
}

TEST_CASE("a scatter-gather list is one message: each entry judged and moved by itself", "[requester]") {
  const Opcode opcode = GENERATE(Opcode::write, Opcode::read);
  const bool third_is_bad = GENERATE(false, true);
  FreshNicRig rig;
  NicRig::Pair pair = rig.connect();
  const verbs::Grant remote = rig.register_memory(1, KiB(64));
  std::vector<verbs::Grant> parts;
  for (int i = 0; i < 3; ++i) parts.push_back(rig.register_memory(0, KiB(8)));
  ports::Wqe& wqe = rig.fill(pair, opcode, {parts[0].start.raw, 100, parts[0].key}, remote.start.raw, remote.key);
  const auto sges = pair.ring->storage(0);
  sges[1] = {parts[1].start.raw + 4090, 3000, parts[1].key};  // over a page boundary
  sges[2] = {parts[2].start.raw, 1500, third_is_bad ? Key(0x777, 0) : parts[2].key};
  wqe.sge_count = 3;
  wqe.length = 100 + 3000 + 1500;
  rig.ring(pair, false);
  rig.run();
  REQUIRE(pair.cq->completions.size() == 1);
  CHECK(pair.cq->completions[0].status == (third_is_bad ? Status::LOC_PROT_ERR : Status::SUCCESS));
  if (third_is_bad) return;
  // The first 4,096 bytes take one, two and one look-ups; the other 504 lie in the third entry's page.
  CHECK(rig.hosts[0].nic->mpt_cache->counts().lookups == 5);
  const auto& near = rig.hosts[0].link->counts();
  const auto& far = rig.hosts[1].link->counts();
  if (opcode == Opcode::write) {
    CHECK(far.writes.all().payload_bytes == 4600);
    CHECK(rig.fabric.counts(1).payload_bytes == 4600);
  } else {
    CHECK(near.writes.all().payload_bytes == 4600 + 64);  // and the CQE
    CHECK(rig.fabric.counts(0).payload_bytes == 4600);
  }
}

TEST_CASE("a request knows which one of its QP it stood behind", "[requester]") {
  FreshNicRig rig;
  NicRig::Pair pair = rig.connect();
  const verbs::Grant local = rig.register_memory(0, KiB(64)), remote = rig.register_memory(1, KiB(64));
  for (int i = 0; i < 3; ++i) rig.fill(pair, Opcode::write, {local.start.raw, 4096, local.key}, remote.start.raw, remote.key);
  rig.ring(pair, false);
  rig.run();
  rig.fill(pair, Opcode::write, {local.start.raw, 4096, local.key}, remote.start.raw, remote.key);
  rig.ring(pair, true);
  rig.run();
  std::vector<std::uint64_t> behind;
  for (const auto& [wqe, status] : rig.hosts[0].log->operations) behind.push_back(wqe.waited_for);
  CHECK(behind == std::vector<std::uint64_t>{0, 1, 2, 0});
}

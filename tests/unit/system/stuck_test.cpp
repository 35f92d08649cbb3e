// When nothing moves any more, is everything told that stands in the NIC's queues?
#include <algorithm>
#include <catch2/catch.hpp>

#include "support/nic_rig.h"
#include "system/describe_queues.h"
#include "timing/round_figures.h"

using namespace mtsim;
using verbs::Opcode;

namespace {

/// A PCIe link that loses every read of tables, or every write: they never come to the root complex.
class LosingLink : public sc_core::sc_module, public ports::PcieUp {
 public:
  LosingLink(sc_core::sc_module_name name, pcie::Link& link) : sc_module(name), link_(link) {}
  ports::PcieLimits limits() const override { return link_.limits(); }
  void request(ports::Agent agent, ports::Purpose purpose, std::uint32_t requests, Time memory, engine::Notice& notice) override {
    if (agent != ports::Agent::tables || !loses) link_.request(agent, purpose, requests, memory, notice);
  }
  void complete(ports::Purpose purpose, const ports::Tlps& tlps, engine::Notice* notice) override { link_.complete(purpose, tlps, notice); }
  Time posted_backlog() override { return link_.posted_backlog(); }
  Time time_of(Bytes length) const override { return link_.time_of(length); }
  void post(ports::Purpose purpose, const ports::Tlps& tlps, Time memory, engine::Notice* notice) override {
    if (!loses_writes) link_.post(purpose, tlps, memory, notice);
  }
  bool loses = true, loses_writes = false;

 private:
  pcie::Link& link_;
};

std::vector<std::string> told(const test::NicRig& rig, std::uint32_t host) {
  std::vector<std::string> lines;
  system::describe_queues("host" + std::to_string(host) + ".nic", *rig.hosts[host].nic, lines);
  return lines;
}

bool holds(const std::vector<std::string>& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

/// A rig whose host `where` has such a link.
struct LosingRig {
  test::FreshSystemC context;
  std::unique_ptr<LosingLink> link;
  test::NicRig rig;
  static test::RigSettings with(test::RigSettings settings, std::uint32_t where, std::unique_ptr<LosingLink>& made) {
    settings.link_of = [where, &made](std::uint32_t host, pcie::Link& own) -> ports::PcieUp& {
      if (host != where) return own;
      made = std::make_unique<LosingLink>("losing_link", own);
      return *made;
    };
    return settings;
  }
  LosingRig(const test::RigSettings& settings, std::uint32_t where) : rig(with(settings, where, link)) {}
};

}  // namespace

TEST_CASE("a deadlock at the responder is told with every queue's content") {
  test::RigSettings settings = test::round_figures();
  settings.nic.nic.walks = 1;
  settings.nic.responder.contexts = 3;
  LosingRig t(settings, 1);
  const verbs::Grant local = t.rig.register_memory(0, KiB(64)), remote = t.rig.register_memory(1, KiB(64));
  const verbs::Grant other = t.rig.register_memory(1, KiB(64));
  std::vector<test::NicRig::Pair> pairs;
  ports::QpAttributes attributes;
  attributes.access = verbs::Access::remote_read | verbs::Access::remote_write;
  attributes.timeout = 0;  // nobody tries again
  for (int q = 0; q < 4; ++q) pairs.push_back(t.rig.connect(16, attributes));
  const auto post = [&](int q, const verbs::Grant& to) {
    t.rig.fill(pairs[q], Opcode::read, {local.start.raw, 64, local.key}, to.start.raw, to.key);
    t.rig.ring(pairs[q], true);
  };
  // The first two ask for the same line of the MPT, the third for another, and finds no walk slot; the fourth finds no context. A second
  // request of the first QP stands behind its first.
  post(0, remote);
  post(0, remote);
  post(1, remote);
  post(2, other);
  post(3, other);
  t.rig.run();

  const std::vector<std::string> at_responder{
      "host1.nic: QP 0x11: a read request of QP 0x11 is looked up",
      "host1.nic: QP 0x11: a read request of QP 0x11 stands in its queue",
      "host1.nic: QP 0x12: a read request of QP 0x12 is looked up",
      "host1.nic: QP 0x13: a read request of QP 0x13 is looked up",
      "host1.nic: QP 0x14: a read request of QP 0x14 waits for a responder context",
      "host1.nic: a look-up of key 0x15a at 0x7f0300147000 for QP 0x11's read request of QP 0x11 waits for its own fetch of mpt line 1",
      "host1.nic: a look-up of key 0x15a at 0x7f0300147000 for QP 0x12's read request of QP 0x12 waits for another look-up's fetch of mpt "
      "line 1",
      "host1.nic: a look-up of key 0x25a at 0x7f0300157000 for QP 0x13's read request of QP 0x13 waits for a walk slot, to fetch mpt line "
      "2",
      "host1.nic: mpt line 1 is being fetched; others that wait for it: 1",
      "host1.nic: 3 of 3 responder contexts in use",
      "host1.nic: 1 of 1 walk slots in use",
      "host1.nic: 1 of 64 PCIe tags in use",
      "host1.nic:   1 by reads of tables"};
  CHECK(told(t.rig, 1) == at_responder);
  const std::vector<std::string> at_requester{
      "host0.nic: QP 0x11 (rts) has 2 requests outstanding: 2 sent or being sent, 0 in the NIC, 2 READs",
      "  read wr=1 of 64 B: taken up, not answered",
      "  read wr=2 of 64 B: taken up, not answered",
      "host0.nic: QP 0x12 (rts) has 1 requests outstanding: 1 sent or being sent, 0 in the NIC, 1 READs",
      "  read wr=1 of 64 B: taken up, not answered",
      "host0.nic: QP 0x13 (rts) has 1 requests outstanding: 1 sent or being sent, 0 in the NIC, 1 READs",
      "  read wr=1 of 64 B: taken up, not answered",
      "host0.nic: QP 0x14 (rts) has 1 requests outstanding: 1 sent or being sent, 0 in the NIC, 1 READs",
      "  read wr=1 of 64 B: taken up, not answered"};
  CHECK(told(t.rig, 0) == at_requester);
}

TEST_CASE("a deadlock at the requester is told with every queue's content") {
  test::RigSettings settings = test::round_figures();
  settings.nic.requester.contexts = 2;
  settings.nic.requester.buffer = KiB(4);
  settings.pcie.tags = 1;
  LosingRig t(settings, 0);
  const verbs::Grant local = t.rig.register_memory(0, KiB(64)), remote = t.rig.register_memory(1, KiB(64));
  std::vector<test::NicRig::Pair> pairs;
  ports::QpAttributes attributes;
  attributes.access = verbs::Access::remote_read | verbs::Access::remote_write;
  attributes.timeout = 0;
  for (int q = 0; q < 3; ++q) pairs.push_back(t.rig.connect(16, attributes));
  for (test::NicRig::Pair& pair : pairs) {
    t.rig.fill(pair, Opcode::write, {local.start.raw, 4096, local.key}, remote.start.raw, remote.key);
    t.rig.fill(pair, Opcode::write, {local.start.raw, 4096, local.key}, remote.start.raw, remote.key);
    t.rig.ring(pair, false);
  }
  // The lost read has the one tag: the WQE of a request that comes later is waited for in vain.
  t.rig.at(us(50), [&] {
    t.rig.fill(pairs[2], Opcode::write, {local.start.raw, 64, local.key}, remote.start.raw, remote.key);
    t.rig.ring(pairs[2], false);
  });
  t.rig.run();

  const std::vector<std::string> at_requester{
      "host0.nic: QP 0x11 (rts) has 2 requests outstanding: 1 sent or being sent, 1 in the NIC, 0 READs",
      "  write wr=1 of 4.10 KB: is looked up",
      "  write wr=2 of 4.10 KB: in the NIC, waits for the look-up before it",
      "host0.nic: QP 0x11 has 1 pieces on their way to the wire",
      "host0.nic: QP 0x12 (rts) has 2 requests outstanding: 1 sent or being sent, 1 in the NIC, 0 READs",
      "  write wr=1 of 4.10 KB: waits for room in the requester's buffer",
      "  write wr=2 of 4.10 KB: in the NIC, waits for the look-up before it",
      "host0.nic: QP 0x12 has 1 pieces on their way to the wire",
      "host0.nic: QP 0x13 (rts) has 3 requests outstanding: 0 sent or being sent, 2 in the NIC, 0 READs",
      "  write wr=1 of 4.10 KB: in the NIC, its QP waits for its turn",
      "  write wr=2 of 4.10 KB: in the NIC, behind the one before it",
      "  write wr=3 of 64 B: its WQE is being fetched",
      "host0.nic: a look-up of key 0x15a at 0x7f0300147000 for QP 0x11's write wr=1 waits for its own fetch of mpt line 1",
      "host0.nic: mpt line 1 is being fetched; others that wait for it: 0",
      "host0.nic: a read of queues (64 B at 0x300167080) waits for 1 PCIe tags since 50.1 us",
      "host0.nic: 2 of 2 requester contexts in use",
      "host0.nic: 1 of 32 walk slots in use",
      "host0.nic: 1 of 1 PCIe tags in use",
      "host0.nic:   1 by reads of tables"};
  CHECK(told(t.rig, 0) == at_requester);
  CHECK(told(t.rig, 1) == std::vector<std::string>{});
}

TEST_CASE("a QP whose context does not come is told, and so is a read without credits") {
  test::RigSettings settings = test::round_figures();
  settings.pcie.read_credits = 1;
  settings.nic.qp_cache = defaults<nic::QpCacheParams>();
  settings.nic.qp_cache.enabled = true;
  settings.nic.qp_cache.agent = ports::Agent::tables;
  LosingRig t(settings, 0);
  const verbs::Grant local = t.rig.register_memory(0, KiB(64)), remote = t.rig.register_memory(1, KiB(64));
  ports::QpAttributes attributes;
  attributes.access = verbs::Access::remote_write;
  attributes.timeout = 0;
  std::vector<test::NicRig::Pair> pairs{t.rig.connect(16, attributes), t.rig.connect(16, attributes)};
  for (test::NicRig::Pair& pair : pairs) {
    t.rig.fill(pair, Opcode::write, {local.start.raw, 64, local.key}, remote.start.raw, remote.key);
    t.rig.ring(pair, true);
  }
  t.rig.run();

  // The first context's read is lost, and the one credit with it.
  const std::vector<std::string> lines = told(t.rig, 0);
  INFO(Catch::StringMaker<std::vector<std::string>>::convert(lines));
  CHECK(holds(lines, "  write wr=1 of 64 B: in the NIC, waits for its QP's context or its own to be fetched"));
  CHECK(holds(lines, "host0.nic: the context of QP 0x11 is being fetched; others that wait for it: 0"));
  CHECK(holds(lines, "host0.nic: the context of QP 0x12 is being fetched; others that wait for it: 0"));
  const auto waits_for_credit = [](const std::string& line) {
    return line.starts_with("host0.nic: a read of tables (375 B at ") &&
           line.find(" waits for 1 PCIe credits or room in the completion buffer since ") != std::string::npos;
  };
  CHECK(std::count_if(lines.begin(), lines.end(), waits_for_credit) == 1);
}

TEST_CASE("writes without credits are told") {
  test::RigSettings settings = test::round_figures();
  settings.pcie.write_credits = 1;
  LosingRig t(settings, 1);
  t.link->loses = false;
  t.link->loses_writes = true;
  const verbs::Grant local = t.rig.register_memory(0, KiB(64)), remote = t.rig.register_memory(1, KiB(64));
  ports::QpAttributes attributes;
  attributes.access = verbs::Access::remote_write;
  attributes.timeout = 0;
  test::NicRig::Pair pair = t.rig.connect(16, attributes);
  t.rig.fill(pair, Opcode::write, {local.start.raw, 512, local.key}, remote.start.raw, remote.key);
  t.rig.ring(pair, true);
  t.rig.run();

  // The first 256 bytes are lost, and the one credit with them.
  const std::vector<std::string> lines = told(t.rig, 1);
  INFO(Catch::StringMaker<std::vector<std::string>>::convert(lines));
  const auto waits_for_credit = [](const std::string& line) {
    return line.starts_with("host1.nic: a write of payload (256 B at ") && line.find(" waits for PCIe credits since ") != std::string::npos;
  };
  CHECK(std::count_if(lines.begin(), lines.end(), waits_for_credit) == 1);
}

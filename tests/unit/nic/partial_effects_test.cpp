// What has happened when an operation fails: which bytes have been written, who is told what, and in which order?
#include <catch2/catch.hpp>

#include "support/nic_rig.h"

namespace mtsim::test {
namespace {

using verbs::Access;
using verbs::Opcode;
using verbs::Status;

constexpr Access any_request = Access::remote_read | Access::remote_write | Access::remote_atomic;

/// Payload that a host's NIC has written to memory.
std::uint64_t written(NicRig& rig, std::uint32_t host) {
  return rig.hosts[host].link->counts().writes[ports::Purpose::payload].payload_bytes;
}

/// Of 4 KiB that host 0 writes in packets of 1 KiB, the last `outside` bytes lie outside its MR.
struct Outcome {
  Status status = Status::SUCCESS;
  std::uint64_t landed = 0;
};
Outcome write_beyond(Bytes outside) {
  FreshNicRig rig;
  NicRig::Pair pair = rig.connect(16, any_request, KiB(1));
  const verbs::Grant source = rig.register_memory(0, KiB(8)), target = rig.register_memory(1, KiB(8));
  const std::uint64_t from = (source.start + source.length - KiB(4) + outside).raw;
  rig.fill(pair, Opcode::write, {from, 4096, source.key}, target.start.raw, target.key);
  rig.ring(pair, false);
  rig.run();
  REQUIRE(pair.cq->completions.size() == 1);
  return {pair.cq->completions[0].status, written(rig, 1)};
}

}  // namespace

TEST_CASE("The packets before the one that reaches outside the MR have left and are written [rule:7.8]") {
  CHECK(write_beyond(Bytes(0)).landed == 4096);
  const std::map<std::uint64_t, std::uint64_t> landed{{1, 3072}, {1024, 3072}, {1025, 2048}, {3072, 1024}, {3073, 0}, {4096, 0}};
  for (const auto& [outside, bytes] : landed) {
    INFO(outside << " bytes outside");
    const Outcome outcome = write_beyond(Bytes(outside));
    CHECK(outcome.status == Status::LOC_PROT_ERR);
    CHECK(outcome.landed == bytes);
  }
}

TEST_CASE("The packets of a READ before the one that finds no room in its MR are written [rule:7.8]") {
  FreshNicRig rig;
  NicRig::Pair pair = rig.connect(16, any_request, KiB(1));
  const verbs::Grant sink = rig.register_memory(0, KiB(8)), target = rig.register_memory(1, KiB(8));
  rig.fill(pair, Opcode::read, {(sink.start + KiB(4) + Bytes(1)).raw, 4096, sink.key}, target.start.raw, target.key);
  rig.ring(pair, false);
  rig.run();
  CHECK(pair.cq->completions.at(0).status == Status::LOC_PROT_ERR);
  CHECK(written(rig, 0) == 3072);
}

TEST_CASE("Of a message that is too long for its receive the packets that fit are written [rule:8.15]") {
  FreshNicRig rig;
  NicRig::Pair pair = rig.connect(16, any_request, KiB(1));
  const verbs::Grant source = rig.register_memory(0, KiB(8)), inbox = rig.register_memory(1, KiB(8));
  rig.receive(pair, {inbox.start.raw, 2500, inbox.key});
  rig.fill(pair, Opcode::send, {source.start.raw, 4096, source.key}, 0, Key());
  rig.ring(pair, false);
  rig.run();
  CHECK(pair.cq->completions.at(0).status == Status::REM_INV_REQ_ERR);
  CHECK(pair.peer_receive_cq->completions.at(0).status == Status::LOC_LEN_ERR);
  CHECK(written(rig, 1) == 2048);
}

TEST_CASE("A completion that failed tells no number of bytes [rule:9.15]") {
  FreshNicRig rig;
  NicRig::Pair pair = rig.connect(16, any_request, KiB(1));
  const verbs::Grant source = rig.register_memory(0, KiB(8)), inbox = rig.register_memory(1, KiB(8));
  rig.receive(pair, {inbox.start.raw, 64, inbox.key});
  rig.fill(pair, Opcode::send, {source.start.raw, 128, source.key}, 0, Key());
  rig.ring(pair, false);
  rig.run();
  for (const verbs::Completion& failed : {pair.cq->completions.at(0), pair.peer_receive_cq->completions.at(0)}) {
    CHECK(failed.status != Status::SUCCESS);
    CHECK(failed.bytes == 0);
  }
  CHECK(pair.cq->completions[0].wr == 1);
  CHECK(pair.peer_receive_cq->completions[0].wr == 1001);
}

TEST_CASE("A packet from the future is answered by one sequence NAK, what follows it by nothing [rule:8.2]") {
  FreshNicRig rig;
  NicRig::Pair pair = rig.connect(16, any_request);
  const verbs::Grant target = rig.register_memory(1, KiB(8));
  ports::PacketPool packets;
  for (const std::uint32_t request : {3u, 4u, 9u}) {
    ports::Packet& packet = packets.take();
    packet.kind = ports::Packet::Kind::request;
    packet.opcode = Opcode::write;
    packet.source_port = 0;
    packet.source_qpn = pair.local;
    packet.port = 1;
    packet.qpn = pair.remote;
    packet.request = request;
    packet.payload = Bytes(64);
    packet.address = target.start.raw;
    packet.length = 64;
    packet.rkey = target.key;
    rig.hosts[1].nic->receive(packet);
  }
  rig.run();
  CHECK(rig.hosts[1].nic->responder.naks().sequence == 1);
  CHECK(written(rig, 1) == 0);
  CHECK(rig.hosts[1].nic->state(pair.remote) == verbs::QpState::rts);
}

TEST_CASE("A peer's invalidation has happened before the receive's completion is written [rule:11.7]") {
  FreshNicRig rig;
  NicRig::Pair pair = rig.connect(16, any_request);
  const verbs::Grant source = rig.register_memory(0, KiB(4)), inbox = rig.register_memory(1, KiB(4));
  translate::Region window;
  window.grant = verbs::unbound(Key(rig.hosts[1].keys++, 1), 1, 2);
  window.grant.valid = true;
  window.grant.qpn = pair.remote;
  window.grant.region = inbox.key;
  translate::TableWrites writes;
  REQUIRE(rig.hosts[1].nic->tables().architecture().build(window, writes));
  rig.hosts[1].nic->tables().commit(writes);
  REQUIRE(rig.hosts[1].nic->tables().windows_of(inbox.key) == 1);
  rig.receive(pair, {inbox.start.raw, 64, inbox.key});
  rig.fill(pair, Opcode::send_inv, {source.start.raw, 64, source.key}, 0, window.grant.key);
  std::vector<std::uint64_t> bound;
  rig.hosts[1].log->after = [&] { bound.push_back(rig.hosts[1].nic->tables().windows_of(inbox.key)); };
  rig.ring(pair, false);
  rig.run();
  CHECK(bound == std::vector<std::uint64_t>{0});
}

// What is known of hfi1 beyond the shipped sets: rules are data, and a set that has this is a file.
TEST_CASE("A set of rules can have a refused request fail the receive at hand [rule:9.12]") {
  verbs::Rules hfi1 = verbs::ib_rules();
  hfi1.responder.refusals[unsigned(verbs::Check::key)].receive = Status::LOC_PROT_ERR;
  RigSettings settings;
  settings.nic.requester.rules = settings.nic.responder.rules = std::make_shared<const verbs::Rules>(hfi1);
  FreshNicRig rig(settings);
  NicRig::Pair pair = rig.connect(16, any_request);
  const verbs::Grant source = rig.register_memory(0, KiB(4)), target = rig.register_memory(1, KiB(4));
  rig.receive(pair, {target.start.raw, 64, target.key});
  rig.fill(pair, Opcode::write_imm, {source.start.raw, 64, source.key}, target.start.raw, Key(target.key.raw ^ 1));
  rig.ring(pair, false);
  rig.run();
  CHECK(pair.cq->completions.at(0).status == Status::REM_ACCESS_ERR);
  CHECK(pair.peer_receive_cq->completions.at(0).status == Status::LOC_PROT_ERR);
}

}  // namespace mtsim::test

// How many packets and bytes does each opcode put on the wire each way, and how many CQEs does it write? Counted on paper.
#include <catch2/catch.hpp>
#include <random>

#include "support/nic_rig.h"

using namespace mtsim;
using test::FreshNicRig;
using verbs::Access;
using verbs::Opcode;
using verbs::QpType;
using verbs::Status;

namespace {

constexpr std::uint64_t packet = 82;  // Ethernet, IP, UDP, base transport header, checksums, gap
constexpr std::uint64_t reth = 16, immediate = 4, aeth = 4, atomic_eth = 28, atomic_ack = 8;

struct OnPaper {
  std::uint64_t packets_out, bytes_out, packets_back, bytes_back, receives;
};

OnPaper on_paper(Opcode opcode, bool reliable, std::uint64_t length, std::uint64_t mtu) {
  const std::uint64_t n = length == 0 ? 1 : (length + mtu - 1) / mtu;
  const std::uint64_t data = n * packet + length;
  const std::uint64_t acks = reliable ? 1 : 0, ack_bytes = acks * (packet + aeth);
  switch (opcode) {
    case Opcode::write:
      return {n, data + reth, acks, ack_bytes, 0};
    case Opcode::write_imm:
      return {n, data + reth + immediate, acks, ack_bytes, 1};
    case Opcode::send:
      return {n, data, acks, ack_bytes, 1};
    case Opcode::send_imm:
      return {n, data + immediate, acks, ack_bytes, 1};
    case Opcode::read:
      return {1, packet + reth, n, data + (n == 1 ? 1 : 2) * aeth, 0};
    default:
      return {1, packet + atomic_eth, 1, packet + aeth + atomic_ack, 0};
  }
}

}  // namespace

TEST_CASE("each opcode makes the packets, bytes and CQEs of its formula, reliable or not", "[messages]") {
  const unsigned seed = GENERATE(range(1u, 61u));
  std::mt19937_64 random(seed);
  constexpr Opcode opcodes[]{Opcode::write, Opcode::write_imm, Opcode::send, Opcode::send_imm, Opcode::read, Opcode::cas, Opcode::faa};
  const Opcode opcode = opcodes[seed % 7];
  const bool answered = verbs::is_read_or_atomic(opcode);
  ports::QpAttributes attributes;
  attributes.type = answered || random() % 2 == 0 ? QpType::rc : QpType::uc;
  attributes.access = Access::remote_write | Access::remote_read | Access::remote_atomic;
  attributes.mtu = Bytes(std::uint64_t{256} << random() % 5);
  const std::uint64_t length = verbs::is_atomic(opcode) ? 8 : random() % 4 == 0 ? random() % 3 : random() % 30'000;
  const std::uint32_t count = 1 + static_cast<std::uint32_t>(random() % 20);
  INFO("seed " << seed << " opcode " << verbs::name(opcode) << " length " << length << " mtu " << attributes.mtu.raw);

  FreshNicRig rig;
  auto pair = rig.connect(128, attributes);
  const verbs::Grant local = rig.register_memory(0, KiB(64));
  const verbs::Grant remote = rig.register_memory(1, KiB(64), page_bytes, attributes.access | Access::local_write);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (verbs::takes_receive(opcode)) rig.receive(pair, {remote.start.raw, 30'000, remote.key});
    rig.fill(pair, opcode, {local.start.raw, static_cast<std::uint32_t>(length), local.key}, remote.start.raw, remote.key);
  }
  rig.ring(pair, false);
  rig.run();
  for (const auto& [wqe, status] : rig.hosts[0].log->operations) CHECK(status == Status::SUCCESS);
  const OnPaper expected = on_paper(opcode, attributes.type == QpType::rc, length, attributes.mtu.raw);
  CHECK(rig.fabric.counts(1).packets == count * expected.packets_out);
  CHECK(rig.fabric.counts(1).bytes == count * expected.bytes_out);
  CHECK(rig.fabric.counts(0).packets == count * expected.packets_back);
  CHECK(rig.fabric.counts(0).bytes == count * expected.bytes_back);
  CHECK(rig.hosts[0].nic->completion.cqes() == count);
  CHECK(rig.hosts[1].nic->completion.cqes() == count * expected.receives);
}

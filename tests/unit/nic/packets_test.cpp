// Do messages go over the wire in the packets that the path MTU makes of them, whatever travels together in the model?
#include <catch2/catch.hpp>

#include "support/nic_rig.h"

using namespace mtsim;
using test::FreshNicRig;
using verbs::Access;
using verbs::Opcode;
using verbs::Status;

namespace {

struct Wire {
  std::uint64_t packets, bytes;
};

/// Packets and bytes that carry `length` bytes: 82 each besides, and `first` and `last` more on the first and the last packet.
Wire message(std::uint64_t length, std::uint64_t mtu, std::uint64_t first, std::uint64_t last) {
  const std::uint64_t packets = length == 0 ? 1 : (length + mtu - 1) / mtu;
  return {packets, packets * 82 + length + first + (packets > 1 ? last : 0)};
}

}  // namespace

TEST_CASE("packets and bytes of WRITEs and READs", "[packets]") {
  const Opcode opcode = GENERATE(Opcode::write, Opcode::read);
  const std::uint64_t mtu = GENERATE(256, 1024, 4096);
  const std::uint64_t length = GENERATE(0, 4, 256, 260, 1024, 4096, 4100, 8192, 20000, 65536);
  const std::uint64_t train = GENERATE(0, 4096, 16384);
  INFO("mtu " << mtu << " length " << length << " train " << train);
  test::RigSettings settings;
  settings.network.train = Bytes(train);
  FreshNicRig rig(settings);
  test::NicRig::Pair pair = rig.connect(128, Access::remote_read | Access::remote_write, Bytes(mtu));
  const verbs::Grant local = rig.register_memory(0, KiB(64)), remote = rig.register_memory(1, KiB(64));
  rig.fill(pair, opcode, {local.start.raw, static_cast<std::uint32_t>(length), local.key}, remote.start.raw, remote.key);
  rig.ring(pair, false);
  rig.run();
  REQUIRE(pair.cq->completions.size() == 1);
  REQUIRE(pair.cq->completions[0].status == Status::SUCCESS);
  // A WRITE has a RETH on its first packet and one acknowledgement with an AETH; a READ asks with a RETH and is answered with an AETH on
  // the first and the last packet.
  const Wire to_peer = opcode == Opcode::write ? message(length, mtu, 16, 0) : Wire{1, 82 + 16};
  const Wire from_peer = opcode == Opcode::write ? Wire{1, 82 + 4} : message(length, mtu, 4, 4);
  CHECK(rig.fabric.counts(1).packets == to_peer.packets);
  CHECK(rig.fabric.counts(1).bytes == to_peer.bytes);
  CHECK(rig.fabric.counts(0).packets == from_peer.packets);
  CHECK(rig.fabric.counts(0).bytes == from_peer.bytes);
  CHECK(rig.fabric.counts(opcode == Opcode::write ? 1 : 0).payload_bytes == length);
}

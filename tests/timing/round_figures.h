// A rig whose parameters make sums that a person can follow: 1 GHz NICs, PCIe at 125 ps a byte, a network at 80 ps a byte. The tests
// work out every time by hand from these figures; nothing here computes one.
//
//   PCIe 2.0 x16            5 GT/s x 16 x 8/10 = 64 Gb/s: 125 ps a byte; 100,000 ps one way
//   TLPs                    read 24 B; write 24 B + payload; completion 20 B + payload; MPS 256 B, MRRS 512 B
//   memory                  80,000 ps to read, 50,000 ps until a write is seen
//   network                 100 Gb/s: 80 ps a byte; cable 10,000 ps, switch 150,000 ps, so 170,000 ps from host to host; 82 B a packet
//   NIC                     clock 1,000 ps; look-up in the MPT cache 8,000 ps, in the MTT cache 6,000 ps
//   requester, responder    40,000 ps and 30,000 ps before the look-up; one piece each 10,000 ps
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "support/nic_rig.h"

namespace mtsim::test {

inline RigSettings round_figures() {
  RigSettings s;
  s.nic.nic.clock = Frequency(1'000'000'000);
  s.nic.nic.walks = 32;
  s.nic.mpt_cache.lines = s.nic.mtt_cache.lines = 1024;
  s.nic.mpt_cache.ways = s.nic.mtt_cache.ways = 8;
  s.nic.mpt_cache.line = s.nic.mtt_cache.line = Bytes(64);
  s.nic.mpt_cache.latency = ns(8);
  s.nic.mtt_cache.latency = ns(6);
  s.nic.requester.interval = s.nic.responder.interval = ns(10);
  s.nic.requester.service = ns(40);
  s.nic.responder.service = ns(30);
  s.nic.requester.contexts = s.nic.responder.contexts = 64;
  s.nic.requester.buffer = s.nic.responder.buffer = KiB(64);
  s.nic.requester.prefetch = 16;
  s.pcie.generation = 2;
  s.pcie.lanes = 16;
  s.pcie.efficiency = 1;
  s.pcie.latency = ns(100);
  s.pcie.max_payload = Bytes(256);
  s.pcie.max_read_request = Bytes(512);
  s.pcie.read_header = s.pcie.write_header = Bytes(24);
  s.pcie.completion_header = Bytes(20);
  s.pcie.tags = 64;
  s.network.rate = BitRate(100'000'000'000);
  s.network.propagation = ns(10);
  s.network.forwarding = ns(150);
  s.network.mtu = s.network.train = Bytes(4096);
  s.network.overhead = Bytes(82);
  s.memory_read = ns(80);
  s.memory_write = ns(50);
  return s;
}

/// The rig with a connected pair and 64 KiB registered at each end.
struct TimedPair {
  FreshNicRig rig{round_figures()};
  NicRig::Pair pair = rig.connect();
  verbs::Grant local = rig.register_memory(0, KiB(64)), remote = rig.register_memory(1, KiB(64));

  /// Puts a request over the first `length` bytes from `offset` on, at both ends, into the ring.
  ports::Wqe& fill(verbs::Opcode opcode, std::uint32_t length, std::uint64_t offset = 0, verbs::Send flags = verbs::Send::signaled) {
    return rig.fill(pair, opcode, {local.start.raw + offset, length, local.key}, remote.start.raw + offset, remote.key, flags);
  }
  /// Fetches into every cache what requests over the first eight pages will need.
  void warm_up() {
    fill(verbs::Opcode::write, 64);
    rig.ring(pair, true);
    rig.run();
  }
  /// Stamps of operation `i` in the order of its steps, counted from `since`, in picoseconds.
  /// Without that of a retransmission: nothing is sent twice here.
  std::vector<std::int64_t> stamps(std::size_t i, Time since = {}) {
    std::vector<std::int64_t> out;
    const auto& stamp = rig.hosts[0].log->operations.at(i).first.stamp;
    for (unsigned step = 0; step < ports::step_count; ++step)
      if (ports::Step(step) != ports::Step::retry) out.push_back((stamp[step] - since).raw);
    CHECK(stamp[unsigned(ports::Step::retry)] == Time());
    return out;
  }
};

}  // namespace mtsim::test

// Packets between NICs. A train of packets of one message travels as one: it splits only where a check or a loss asks for it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <systemc>
#include <vector>

#include "base/units.h"
#include "engine/timer.h"
#include "ports/mishap.h"
#include "ports/waits.h"
#include "verbs/judge.h"

namespace mtsim::ports {

class PacketPool;
struct Packet;

/// What carries a packet on its way: told when its head is at the switch's output, and when its tail is at the receiver.
class Carrier {
 public:
  virtual void arrive(Packet& packet) = 0;
  virtual void deliver(Packet& packet) = 0;

 protected:
  ~Carrier() = default;
};

struct Packet : engine::Timer {
  /// `response` carries the data of a READ or the old value of an atomic.
  enum class Kind : std::uint8_t { request, response, acknowledgement, negative };

  Kind kind = Kind::request;
  verbs::Opcode opcode = verbs::Opcode::write;  ///< of the request
  bool first = true, last = true;               ///< of its message
  verbs::Nak nak = verbs::Nak::none;
  std::uint32_t source_port = 0, port = 0;  ///< of the switch
  std::uint32_t source_qpn = 0, qpn = 0;
  /// Index of the request in the requester's send queue, running on: with `offset` it stands for the PSN. A NAK for a sequence error or a
  /// receiver that is not ready says with both where to go on.
  std::uint32_t request = 0;
  std::uint32_t packets = 1;   ///< in the train
  std::uint32_t skipped = 0;   ///< requests between the one before it on the wire and this one that sent nothing
  Bytes payload;               ///< of the train
  Bytes wire;                  ///< everything it occupies on a link
  std::uint64_t address = 0;   ///< RETH: first byte of the whole message
  std::uint64_t offset = 0;    ///< of this train within the message
  std::uint64_t length = 0;    ///< RETH: of the whole message
  Key rkey;                    ///< of a SEND with invalidation: the key to be invalidated
  std::uint8_t rnr_timer = 0;  ///< of an RNR NAK: the code of the time to wait
  Mishap mishap;               ///< of an answer: what befell the request's data at the responder
  std::uint32_t meant = 0;     ///< of a request: verbs::SendRequest::meant
  Time context_missed;         ///< at the responder: when it was clear that the QP's context has to be fetched; 0: it was there

  /// The responder's stamps, carried back to the requester: arrival, taken up, key judged, translated, data moved.
  std::array<Time, 5> stamp{};
  /// What the operation has waited for from its scheduling on: a request takes it along, its answer brings it back.
  Waits waits;
  Time waited_out, waited_in;  ///< for the link to the switch and for its output, on this way
  Time came;                   ///< of an answer: when it reached the NIC

  Packet* next = nullptr;  ///< in whatever queue it stands
  PacketPool* home = nullptr;
  Carrier* network = nullptr;  ///< that has it in flight
};

/// Packets of one NIC: taken when sent, given back by whoever consumes them.
class PacketPool {
 public:
  PacketPool() = default;
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;

  Packet& take() {
    if (spare_ == nullptr) grow();
    Packet& packet = *spare_;
    spare_ = packet.next;
    // Whoever takes a packet says what it is; these are what not every kind says.
    packet.first = packet.last = true;
    packet.nak = verbs::Nak::none;
    packet.packets = 1;
    packet.payload = Bytes{};
    packet.address = packet.offset = packet.length = 0;
    packet.waits.clear();
    packet.home = this;
    return packet;
  }
  static void give(Packet& packet) {
    packet.next = packet.home->spare_;
    packet.home->spare_ = &packet;
  }

 private:
  void grow() {
    constexpr std::size_t slab = 64;
    slabs_.push_back(std::make_unique<Packet[]>(slab));
    for (std::size_t i = 0; i < slab; ++i) {
      slabs_.back()[i].next = spare_;
      spare_ = &slabs_.back()[i];
    }
  }
  Packet* spare_ = nullptr;
  std::vector<std::unique_ptr<Packet[]>> slabs_;
};

struct WireFormat {
  Bytes mtu{4096};                                                       ///< largest path MTU of the link
  Bytes overhead{82};                                                    ///< of each packet on the link, payload and extended headers apart
  Bytes reth{16}, aeth{4}, immediate{4}, atomic_eth{28}, atomic_ack{8};  ///< extended headers
  Bytes train{4096};  ///< packets of a message that lie within this many bytes travel together
};

/// The network, seen from a NIC.
class Network : public virtual sc_core::sc_interface {
 public:
  /// Queues a packet for the link from `packet.source_port`; returns when its last byte has left the NIC.
  virtual Time transmit(Packet& packet) = 0;
  virtual WireFormat format() const = 0;
};

/// A NIC, seen from the network.
class NetworkEnd : public virtual sc_core::sc_interface {
 public:
  /// The last byte of the packet has come. The receiver owns it now.
  virtual void receive(Packet& packet) = 0;
};

}  // namespace mtsim::ports

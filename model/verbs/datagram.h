// Datagrams (UD) and unreliable connections (UC): what a sender is told, and what becomes of a message that does not fit where it comes
// (InfiniBand Architecture Specification, volume 1, 9.8, 9.9 and 10.9.3). Nobody is told over the wire. Pure functions.
#pragma once

#include "verbs/rules.h"

namespace mtsim::verbs {

/// Bytes of each UD receive that the global route header takes, whether or not the packet had one: the data come after it.
inline constexpr std::uint32_t grh_bytes = 40;

/// What the sender of a datagram of `payload` bytes is told, and whether anything leaves.
struct DatagramSent {
  Status status = Status::SUCCESS;
  bool leaves = true;
};
DatagramSent send_datagram(std::uint64_t payload, std::uint32_t mtu, const Rules& rules);

/// The Q_Key that a datagram carries: the request's own, unless its top bit asks for that of the QP (10.2.5).
constexpr std::uint32_t q_key_sent(std::uint32_t of_request, std::uint32_t of_qp) {
  return (of_request & 0x8000'0000u) != 0 ? of_qp : of_request;
}
/// Whether two P_Keys let each other talk: the same partition, not the invalid one, and at least one a full member (10.9.3).
constexpr bool p_keys_match(std::uint16_t a, std::uint16_t b) {
  return ((a ^ b) & 0x7fffu) == 0 && (a & 0x7fffu) != 0 && ((a | b) & 0x8000u) != 0;
}

/// A datagram as it comes, and the QP and the receive it comes to.
struct DatagramView {
  std::uint32_t payload = 0;
  std::uint32_t q_key = 0, qp_q_key = 0;
  std::uint16_t p_key = 0xffff, qp_p_key = 0xffff;
  bool has_receive = true;
  bool shared = false;     ///< the receive is of a shared queue
  std::uint64_t room = 0;  ///< bytes of the receive, header included
};

/// What becomes of a message that comes to an unreliable QP.
struct Arrival {
  enum class Fate : std::uint8_t {
    placed,
    dropped,         ///< nobody is told, no receive is used
    receive_failed,  ///< the receive completes with `receive`
  };
  Fate fate = Fate::placed;
  Status receive = Status::SUCCESS;
  bool breaks_qp = false;   ///< the QP goes to ERR
  std::uint64_t bytes = 0;  ///< placed: those of the completion (byte_len), header included
};

/// In order: Q_Key, P_Key, a receive, its room.
Arrival receive_datagram(const DatagramView& datagram);
/// The same for a message of UC, or a datagram, that failed a check of the responder. Where the receive is one of a shared queue, and so
/// already taken, a bad key or length ends it (class E of Linux sw/rxe); else the message is dropped. An error of the receive itself breaks
/// the QP.
Arrival refused_unreliable(Check check, bool shared, const Rules& rules);

}  // namespace mtsim::verbs

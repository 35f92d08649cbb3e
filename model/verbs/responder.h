// What a responder checks of a request, in the order of the InfiniBand Architecture Specification (volume 1, 9.7.4 and 10.7), and what
// comes of a check that fails. Pure functions; the time between the checks is the NIC's affair.
#pragma once

#include <cstdint>

#include "verbs/event.h"
#include "verbs/judge.h"

namespace mtsim::verbs {

/// The checks, in their order. `none`: no check failed.
enum class Check : std::uint8_t {
  none,
  opcode_sequence,    ///< first, middle and last packets come in turn
  opcode,             ///< one that the transport has
  qp_access,          ///< the QP lets peers do that at all
  no_read_atomic,     ///< READs and atomics: max_dest_rd_atomic is not 0
  no_receive,         ///< a SEND, or the immediate of a WRITE, finds a receive
  receive_malformed,  ///< that receive is one that a device can carry out
  length,             ///< of the packet and of the whole message
  key,                ///< judge()
  payload,            ///< a WRITE brings as many bytes as its header says
  alignment,          ///< of the word that an atomic changes
  receive_too_short,  ///< the message fits into the receive
  receive_key,        ///< judge() for the elements of the receive
  dma,                ///< host memory answers
  invalidation,       ///< of the key that a SEND names, once its data is in place
  cq_overflow,        ///< there is room for the completion
};
inline constexpr unsigned check_count = unsigned(Check::cq_overflow) + 1;
const char* explain(Check check);

/// What comes of a failed check.
struct Refusal {
  Nak nak = Nak::none;               ///< what the requester is told
  Status receive = Status::SUCCESS;  ///< of the receive that the message has taken, if it has; SUCCESS: it is flushed with the others
  Event event = Event::none;         ///< where there is no receive to tell of it
};

/// What the responder checks of a request before it looks at receives and keys. `reads_allowed` is the QP's max_dest_rd_atomic.
constexpr Check check_request(Opcode opcode, Access qp_access, std::uint32_t reads_allowed) {
  if (!has(qp_access, remote_right(opcode))) return Check::qp_access;
  return is_read_or_atomic(opcode) && reads_allowed == 0 ? Check::no_read_atomic : Check::none;
}

}  // namespace mtsim::verbs

// What a requester checks of a work request once its turn comes, and what it makes of answers (InfiniBand Architecture Specification,
// volume 1, 9.9.2 and 10.7). Posting looks at none of this. Pure functions; the time between the checks is the NIC's affair.
#pragma once

#include <optional>

#include "verbs/rules.h"

namespace mtsim::verbs {

/// The checks that need no key, in order.
enum class RequestCheck : std::uint8_t {
  none,
  flushed,   ///< the queue is in an error state already
  opcode,    ///< the transport has it
  element,   ///< each element is one that a work request can say
  length,    ///< of the message
  datagram,  ///< it fits into one packet
};
const char* explain(RequestCheck check);

/// A work request as its first packet is made.
struct WorkView {
  QpType type = QpType::rc;
  Opcode opcode = Opcode::write;
  std::uint64_t length = 0;  ///< of all elements together
  std::uint32_t mtu = 4096;
  bool flushes = false;  ///< the queue stands in ERR or SQE
  std::uint64_t longest_element = 0;
};
RequestCheck check_work(const WorkView& request, const Rules& rules);
/// The status of the request that failed the check. SUCCESS, of a datagram: it counts as sent and nothing leaves.
Status status_of(RequestCheck check, const Rules& rules);

/// Whether an element's key is looked at: not those of no bytes, nor of requests that brought their data with them. Keys are looked at in
/// the order of the list, each when a packet first needs it, so that the packets before it have left.
constexpr bool needs_key(std::uint64_t element_length, bool inline_data) { return element_length != 0 && !inline_data; }
/// The right that an element needs: none to be read; LOCAL_WRITE to take what a READ or an atomic brings, or to receive.
constexpr Access needed_right(Opcode opcode) {
  return is_read_or_atomic(opcode) || opcode == Opcode::recv ? Access::local_write : Access::none;
}

/// How often a request is sent again for want of an answer; none: for ever.
std::optional<std::uint32_t> retries(std::uint8_t retry_cnt, const Rules& rules);
/// And after RNR NAKs: 7 is for ever (9.7.5.2.8).
std::optional<std::uint32_t> rnr_retries(std::uint8_t rnr_retry);

}  // namespace mtsim::verbs

#include "verbs/datagram.h"

namespace mtsim::verbs {

DatagramSent send_datagram(std::uint64_t payload, std::uint32_t mtu, const Rules& rules) {
  if (payload <= mtu) return {};
  return {rules.requester.datagram_too_long, false};
}

Arrival receive_datagram(const DatagramView& datagram) {
  constexpr Arrival dropped{Arrival::Fate::dropped};
  if (datagram.q_key != datagram.qp_q_key) return dropped;
  if (!p_keys_match(datagram.p_key, datagram.qp_p_key)) return dropped;
  if (!datagram.has_receive) return dropped;
  const std::uint64_t bytes = std::uint64_t{grh_bytes} + datagram.payload;
  if (bytes <= datagram.room) return {Arrival::Fate::placed, Status::SUCCESS, false, bytes};
  if (!datagram.shared) return dropped;
  return {Arrival::Fate::receive_failed, Status::REM_INV_REQ_ERR};  // Linux sw/rxe, rxe_resp.c
}

Arrival refused_unreliable(Check check, bool shared, const Rules& rules) {
  switch (check) {
    case Check::none:
      return {};
    case Check::receive_key:
    case Check::receive_malformed:
    case Check::receive_too_short:
    case Check::invalidation:
      return {Arrival::Fate::receive_failed, rules.responder.refusal(check).receive, true};
    case Check::dma:
    case Check::cq_overflow:
      return {Arrival::Fate::dropped, Status::SUCCESS, true};
    case Check::key:
      if (shared) return {Arrival::Fate::receive_failed, Status::REM_ACCESS_ERR};
      break;
    case Check::length:
    case Check::payload:
      if (shared) return {Arrival::Fate::receive_failed, Status::REM_INV_REQ_ERR};
      break;
    default:
      break;
  }
  return {Arrival::Fate::dropped};
}

}  // namespace mtsim::verbs

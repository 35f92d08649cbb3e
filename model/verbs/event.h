// Asynchronous events of a device, as ibv_event_type without its prefix.
#pragma once

#include <cstdint>
#include <string_view>

namespace mtsim::verbs {

enum class Event : std::uint8_t {
  none,
  CQ_ERR,               ///< a completion queue overran
  QP_FATAL,             ///< an error of the QP that no completion tells
  QP_REQ_ERR,           ///< an invalid request came
  QP_ACCESS_ERR,        ///< a request that may not reach the memory it names came
  COMM_EST,             ///< the first message came to a QP in RTR
  SQ_DRAINED,           ///< the send queue of a QP in SQD has come to rest
  SRQ_ERR,              ///< a shared receive queue failed
  SRQ_LIMIT_REACHED,    ///< a shared receive queue holds less than its limit
  QP_LAST_WQE_REACHED,  ///< a QP of a shared receive queue is in ERR and takes no further receive
  DEVICE_FATAL,         ///< the device failed
};
inline constexpr unsigned event_count = unsigned(Event::DEVICE_FATAL) + 1;
std::string_view name(Event);

}  // namespace mtsim::verbs

#include "verbs/event.h"

#include <array>

namespace mtsim::verbs {

std::string_view name(Event event) {
  static constexpr std::array<std::string_view, event_count> names{
      "none",       "CQ_ERR",  "QP_FATAL",          "QP_REQ_ERR",          "QP_ACCESS_ERR", "COMM_EST",
      "SQ_DRAINED", "SRQ_ERR", "SRQ_LIMIT_REACHED", "QP_LAST_WQE_REACHED", "DEVICE_FATAL"};
  return names[static_cast<std::size_t>(event)];
}

}  // namespace mtsim::verbs

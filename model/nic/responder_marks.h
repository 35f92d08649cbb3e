// The responder's stamps of a packet.
#pragma once

namespace mtsim::nic {

/// In the order of ports::Step from `wire` on.
enum Mark : unsigned { arrived, taken_up, judged, translated, moved };

}  // namespace mtsim::nic

#include "system/meeting.h"

namespace mtsim::system {

verbs::Progress MeasuringMeeting::arrive(verbs::Device& device, verbs::Thread thread, std::uint32_t barrier, std::uint32_t n,
                                         verbs::Caller& caller) {
  for (Watch& watch : watches_) {
    if (watch.barrier != barrier || ++watch.arrived != n) continue;
    watch.arrived = 0;
    watch.opens();
  }
  return meeting_.arrive(device, thread, barrier, n, caller);
}

}  // namespace mtsim::system

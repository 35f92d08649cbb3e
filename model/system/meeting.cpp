#include "system/meeting.h"

namespace mtsim::system {

MeasuringMeeting::MeasuringMeeting(engine::Scheduler& scheduler, std::uint32_t start, std::uint32_t end, std::function<void()> began,
                                   std::function<void()> ended)
    : meeting_(scheduler), start_barrier_(start), end_barrier_(end), began_(std::move(began)), ended_(std::move(ended)) {}

verbs::Progress MeasuringMeeting::arrive(verbs::Device& device, verbs::Thread thread, std::uint32_t barrier, std::uint32_t n,
                                         verbs::Caller& caller) {
  if (barrier == start_barrier_ && ++at_start_ == n) began_();
  if (barrier == end_barrier_ && ++at_end_ == n) ended_();
  return meeting_.arrive(device, thread, barrier, n, caller);
}

}  // namespace mtsim::system

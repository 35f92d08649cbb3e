#include "user/sim_meeting.h"

#include <limits>

#include "ports/rank.h"

namespace mtsim::user {

SimMeeting::SimMeeting(engine::Scheduler& scheduler) : scheduler_(scheduler) {
  // A barrier belongs to no host: it comes after the programs of all.
  order = ports::order(std::numeric_limits<std::uint16_t>::max(), ports::Unit::program);
  fire = [](engine::Timer& timer) { static_cast<SimMeeting&>(timer).release(); };
}

verbs::Progress SimMeeting::arrive(verbs::Device& device, verbs::Thread thread, std::uint32_t barrier, std::uint32_t n,
                                   verbs::Caller& caller) {
  const program::Gathering::Outcome outcome = gathering_.arrive(device, thread, barrier, n, caller);
  if (!outcome.complete) return verbs::Progress::pending;
  for (const auto& waiting : outcome.released) released_.push_back(waiting.caller);
  if (!released_.empty() && !armed_) {
    armed_ = true;
    scheduler_.arm(*this, scheduler_.now());
  }
  return verbs::Progress::done;
}

void SimMeeting::release() {
  armed_ = false;
  // Only those released so far: who goes on may complete another barrier, and its waiters get a turn of their own.
  for (std::size_t left = released_.size(); left > 0; --left) {
    verbs::Caller& caller = *released_.front();
    released_.pop_front();
    caller.resume();
  }
}

}  // namespace mtsim::user

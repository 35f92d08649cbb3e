// Barriers in simulated time, with an eye on the two that begin and end what is measured.
#pragma once

#include <functional>

#include "program/op.h"
#include "user/sim_meeting.h"

namespace mtsim::system {

class MeasuringMeeting : public verbs::Meeting {
 public:
  /// `began` and `ended` are called when the last actor comes to barrier `start` and `end`.
  MeasuringMeeting(engine::Scheduler& scheduler, std::uint32_t start, std::uint32_t end, std::function<void()> began,
                   std::function<void()> ended);

  verbs::Progress arrive(verbs::Device& device, verbs::Thread thread, std::uint32_t barrier, std::uint32_t n,
                         verbs::Caller& caller) override;

  const program::Gathering& gathering() const { return meeting_.gathering(); }

 private:
  user::SimMeeting meeting_;
  std::uint32_t start_barrier_, end_barrier_;
  std::function<void()> began_, ended_;
  std::uint32_t at_start_ = 0, at_end_ = 0;
};

}  // namespace mtsim::system

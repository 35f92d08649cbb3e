// Barriers in simulated time, with an eye on those that begin and end what is measured.
#pragma once

#include <functional>
#include <vector>

#include "program/op.h"
#include "user/sim_meeting.h"

namespace mtsim::system {

class MeasuringMeeting : public verbs::Meeting {
 public:
  /// `opens` is called each time that the last actor comes to the barrier.
  struct Watch {
    std::uint32_t barrier = program::Program::no_barrier;
    std::function<void()> opens;
    std::uint32_t arrived = 0;
  };
  /// Those that watch the same barrier are called in their order.
  MeasuringMeeting(engine::Scheduler& scheduler, std::vector<Watch> watches) : meeting_(scheduler), watches_(std::move(watches)) {}

  verbs::Progress arrive(verbs::Device& device, verbs::Thread thread, std::uint32_t barrier, std::uint32_t n,
                         verbs::Caller& caller) override;

  const program::Gathering& gathering() const { return meeting_.gathering(); }

 private:
  user::SimMeeting meeting_;
  std::vector<Watch> watches_;
};

}  // namespace mtsim::system

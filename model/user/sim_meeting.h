// Barriers between the threads of all hosts, in simulated time: whoever waited goes on in the picosecond in which the last one came, in the
// order of arrival. A barrier costs nothing and its waiters' CPUs are free.
#pragma once

#include <deque>

#include "engine/scheduler.h"
#include "program/meeting.h"
#include "verbs/device.h"

namespace mtsim::user {

class SimMeeting : public verbs::Meeting, engine::Timer {
 public:
  explicit SimMeeting(engine::Scheduler& scheduler);
  SimMeeting(const SimMeeting&) = delete;
  SimMeeting& operator=(const SimMeeting&) = delete;

  verbs::Progress arrive(verbs::Device& device, verbs::Thread thread, std::uint32_t barrier, std::uint32_t n,
                         verbs::Caller& caller) override;
  const program::Gathering& gathering() const { return gathering_; }

 private:
  void release();

  engine::Scheduler& scheduler_;
  program::Gathering gathering_;
  std::deque<verbs::Caller*> released_;
  bool armed_ = false;
};

}  // namespace mtsim::user

// Barriers of a replay: threads of this process, which meet those elsewhere by somebody else's help.
#pragma once

#include <cstdint>
#include <map>

#include "process.h"

namespace mtsim::replay {

class Meeting : public verbs::Meeting {
 public:
  explicit Meeting(Surroundings& surroundings) : around_(surroundings) {}

  /// Waits, away, until `n` are there. Gives the run up when they are not within the limit.
  verbs::Progress arrive(verbs::Device& device, verbs::Thread thread, std::uint32_t barrier, std::uint32_t n,
                         verbs::Caller& caller) override;

 private:
  struct Barrier {
    std::uint32_t waiting = 0;
    std::uint64_t opened = 0;
  };
  Surroundings& around_;
  std::map<std::uint32_t, Barrier> barriers_;
};

}  // namespace mtsim::replay

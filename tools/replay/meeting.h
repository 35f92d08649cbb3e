// Barriers of a replay: threads of this process, which meet those elsewhere by somebody else's help.
#pragma once

#include <cstdint>
#include <map>

#include "process.h"

namespace mtsim::replay {

class Meeting : public verbs::Meeting {
 public:
  /// Barriers from number `shared` on are for threads of one host alone.
  Meeting(Surroundings& surroundings, std::uint32_t shared) : around_(surroundings), shared_(shared) {}

  /// Waits, away, until `n` are there. Gives the run up when they are not within the limit.
  verbs::Progress arrive(verbs::Device& device, verbs::Thread thread, std::uint32_t barrier, std::uint32_t n,
                         verbs::Caller& caller) override;

 private:
  struct Barrier {
    std::uint32_t waiting = 0;
    std::uint64_t opened = 0;
  };
  verbs::Progress arrive_with_others(const Process& process, verbs::Thread thread, std::uint32_t barrier, std::uint32_t n);
  [[noreturn]] void give_up(const Process& process, verbs::Thread thread, const std::string& who_came) const;

  Surroundings& around_;
  const std::uint32_t shared_;
  std::map<std::uint32_t, Barrier> barriers_;
};

}  // namespace mtsim::replay

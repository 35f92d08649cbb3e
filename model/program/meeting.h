// Who stands at which barrier: the part of verbs::Meeting that knows no time. An implementation asks it at each arrival and lets those
// go that it names.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "verbs/device.h"

namespace mtsim::program {

class Gathering {
 public:
  struct Waiting {
    verbs::Device* device = nullptr;
    verbs::Thread thread = 0;
    verbs::Caller* caller = nullptr;
  };

  /// One more stands at `barrier`. When it is the `n`-th, returns those who waited, in the order of their arrival and without the one
  /// that has just come (empty for n=1), and the barrier is free again; otherwise remembers it and returns nothing.
  struct Outcome {
    bool complete = false;
    std::vector<Waiting> released;
  };
  Outcome arrive(verbs::Device& device, verbs::Thread thread, std::uint32_t barrier, std::uint32_t n, verbs::Caller& caller);

  /// How many stand at each barrier that somebody waits at.
  std::map<std::uint32_t, std::size_t> waiting() const;

 private:
  std::map<std::uint32_t, std::vector<Waiting>> barriers_;
};

}  // namespace mtsim::program

// What a resource was asked for and how long it was in use: kept by the resource, printed by others.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/units.h"

namespace mtsim::engine {

struct Usage {
  std::uint64_t requests = 0;
  std::uint64_t waited = 0;  ///< requests that had to wait
  Time busy;                 ///< time in use, summed over the resource's places
  Time wait_total, wait_longest;
  std::uint64_t most = 0;  ///< most in use, or longest queue, at once

  void wait(Time span) {
    if (span.raw == 0) return;
    ++waited;
    wait_total += span;
    wait_longest = std::max(wait_longest, span);
  }
};

}  // namespace mtsim::engine

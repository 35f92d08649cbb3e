// Re-reference interval prediction (Jaleel, Theobald, Steely, Emer: High performance cache replacement using re-reference interval
// prediction, ISCA 2010), with hit priority and two bits a line.
#pragma once

#include <algorithm>
#include <vector>

#include "nic/replacement.h"

namespace mtsim::nic {

class Intervals {
 public:
  static constexpr std::uint8_t near = 0, far = 2, distant = 3;

  explicit Intervals(const CacheShape& shape) : interval_(shape.slots(), distant) {}
  void set(Slot slot, std::uint8_t interval) { interval_[slot] = interval; }

  /// The first line that is expected in the distant future, once all have aged until there is one.
  Slot victim(const Candidates& candidates) {
    Slot found = no_slot;
    for (std::uint32_t way = 0; way < candidates.ways; ++way) {
      if (!candidates.allows(way)) continue;
      const Slot slot = candidates.slot(way);
      if (found == no_slot || interval_[slot] > interval_[found]) found = slot;
      if (interval_[slot] == distant) return slot;
    }
    const auto older = static_cast<std::uint8_t>(distant - interval_[found]);
    for (std::uint32_t way = 0; way < candidates.ways; ++way)
      if (candidates.allows(way)) interval_[candidates.slot(way)] = static_cast<std::uint8_t>(interval_[candidates.slot(way)] + older);
    return found;
  }

 private:
  std::vector<std::uint8_t> interval_;
};

}  // namespace mtsim::nic

// In which order lines were touched, and which of some candidates was touched longest ago. Two ways to keep it: stamps, which cost a store
// each time and a comparison for each candidate, and for a set of many ways a list.
#pragma once

#include <vector>

#include "nic/replacement.h"

namespace mtsim::nic {

class StampOrder {
 public:
  explicit StampOrder(const CacheShape& shape) : touched_(shape.slots()) {}
  void touch(Slot slot) { touched_[slot] = ++serial_; }
  Slot oldest(const Candidates& candidates) const {
    Slot found = no_slot;
    for (std::uint32_t way = 0; way < candidates.ways; ++way) {
      if (!candidates.allows(way)) continue;
      const Slot slot = candidates.slot(way);
      if (found == no_slot || touched_[slot] < touched_[found]) found = slot;
    }
    return found;
  }

 private:
  std::vector<std::uint64_t> touched_;
  std::uint64_t serial_ = 0;
};

/// For a cache of one set, all of whose ways are candidates.
class ListOrder {
 public:
  explicit ListOrder(const CacheShape& shape) : links_(shape.slots() + 1), end_(static_cast<Slot>(shape.slots())) {
    for (Slot slot = 0; slot <= end_; ++slot) links_[slot] = {slot, slot};
  }
  void touch(Slot slot) {
    Link& own = links_[slot];
    links_[own.before].after = own.after;
    links_[own.after].before = own.before;
    own = {links_[end_].before, end_};
    links_[own.before].after = slot;
    links_[end_].before = slot;
  }
  Slot oldest(const Candidates&) const { return links_[end_].after; }

 private:
  struct Link {
    Slot before = 0, after = 0;
  };
  std::vector<Link> links_;  ///< a ring with the place `end_` between the youngest and the oldest
  Slot end_;
};

/// `Policy<Order>` with the order that suits the shape.
template <template <class> class Policy>
std::unique_ptr<ReplacementPolicy> with_order(const CacheShape& shape) {
  if (shape.ways > 64) return std::make_unique<Policy<ListOrder>>(shape);
  return std::make_unique<Policy<StampOrder>>(shape);
}

}  // namespace mtsim::nic

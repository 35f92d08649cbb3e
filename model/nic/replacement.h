// Which line of a cache makes room for another: pure state. A policy is one file that registers itself.
#pragma once

#include <cstdint>

#include "base/registry.h"

namespace mtsim::nic {

/// A set of ways, a bit each.
using WayMask = std::uint64_t;
inline constexpr WayMask all_ways = ~WayMask{0};

/// Place of a line in a cache: row * ways + way. In a cache with sets a row is a set.
using Slot = std::uint32_t;
inline constexpr Slot no_slot = ~Slot{0};

struct CacheShape {
  std::uint32_t rows = 1, ways = 1;
  bool skewed = false;  ///< a line's row differs from way to way: there are no sets
  std::uint64_t seed = 1;
  std::uint64_t slots() const { return std::uint64_t{rows} * ways; }
};

/// Where a line may go: one place in each way that is allowed.
struct Candidates {
  Slot first = 0;          ///< of the set; means nothing in a skewed cache
  std::uint32_t ways = 1;  ///< those of the cache
  WayMask allowed = all_ways;
  const Slot* slots = nullptr;  ///< skewed: the place in each way

  Slot slot(std::uint32_t way) const { return slots ? slots[way] : first + way; }
  /// In a set of more ways than the mask has bits all are allowed.
  bool allows(std::uint32_t way) const { return ways > 64 || (allowed >> way & 1) != 0; }
};

class ReplacementPolicy {
 public:
  virtual ~ReplacementPolicy() = default;
  /// A look-up found the line there.
  virtual void used(Slot slot) = 0;
  /// A line was put there.
  virtual void filled(Slot slot) = 0;
  /// The place whose line goes: one of the candidates that are allowed, at least one, all of which hold lines. A fill of it follows.
  virtual Slot victim(const Candidates& candidates) = 0;
};

/// A policy that cannot do with a shape (one that keeps something for each set, in a skewed cache) gives null for it.
using ReplacementPolicies = Registry<ReplacementPolicy, const CacheShape&>;

}  // namespace mtsim::nic

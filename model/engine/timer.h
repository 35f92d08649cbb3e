// A place in simulated time, owned by whoever waits for it: intrusive, so that waiting never allocates.
#pragma once

#include <cstdint>

#include "base/units.h"

namespace mtsim::engine {

/// Decides who goes first among timers of the same picosecond. Built from what the model is (host, unit, queue), never from the order
/// in which things were made, so that results do not depend on it: the rank of the unit above, a number within the unit below.
struct Order {
  std::uint64_t raw{};
  constexpr Order() = default;
  constexpr explicit Order(std::uint64_t value) : raw(value) {}
  constexpr Order(std::uint32_t unit, std::uint64_t within) : raw(std::uint64_t(unit) << 40 | (within & 0xff'ffff'ffff)) {}
  friend constexpr auto operator<=>(Order, Order) = default;
};

struct Timer {
  Time when;
  Order order;
  void (*fire)(Timer&) = nullptr;
  Timer* next = nullptr;
};

}  // namespace mtsim::engine

// What has befallen the data of an operation, as requests and packets carry it.
#pragma once

#include <cstdint>

#include "verbs/device.h"

namespace mtsim::ports {

struct Mishap {
  verbs::Hazard kind = verbs::Hazard::none;
  std::uint8_t note = 0;  ///< where more is said of it (HazardNotes); 0: nowhere
  explicit operator bool() const { return kind != verbs::Hazard::none; }
  /// The worse of the two stays; the first of equals.
  void add(Mishap other) {
    if (other.kind > kind) *this = other;
  }
};

}  // namespace mtsim::ports

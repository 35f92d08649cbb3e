// A piece of memory as a device sees it.
#pragma once

#include "base/units.h"

namespace mtsim {

/// `length` contiguous bytes from `start` on.
struct DmaRun {
  Pa start;
  Bytes length;
  friend bool operator==(const DmaRun&, const DmaRun&) = default;
};

}  // namespace mtsim

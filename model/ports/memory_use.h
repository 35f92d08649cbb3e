// How the memory of a host stands, and what was done when it ran short.
#pragma once

#include <cstdint>
#include <optional>

#include "base/units.h"

namespace mtsim::ports {

struct MemoryUse {
  std::uint64_t swapped_out = 0, swapped_in = 0, dropped = 0, migrated = 0;  ///< 4 KiB pages so far
  /// The kernel found no frame and ended the process: how things stood then.
  struct Kill {
    Time at;
    Pages size, resident, pinned, swapped;
    std::uint64_t regions = 0;  ///< MRs that held the pinned pages
  };
  std::optional<Kill> killed;
};

}  // namespace mtsim::ports

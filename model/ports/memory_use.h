// How the memory of a host stands, and what was done when it ran short.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/units.h"

namespace mtsim::ports {

struct MemoryUse {
  std::uint64_t swapped_out = 0, swapped_in = 0, dropped = 0, migrated = 0;  ///< 4 KiB pages so far
  /// 4 KiB pages that were pinned and that a write, after a fork, moved away from: the program no longer sees what the NIC has.
  std::uint64_t left_pins = 0;
  /// The kernel found no frame and ended a process: how things stood with it then.
  struct Kill {
    Time at;
    Pages size, resident, pinned, swapped;
    std::uint64_t regions = 0;    ///< MRs that held the pinned pages
    std::string process;          ///< its name; of the host's first one none
    std::uint64_t processes = 1;  ///< that the host had
  };
  std::optional<Kill> killed;
};

}  // namespace mtsim::ports

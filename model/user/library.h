// What libibverbs and the provider library keep in the memory of a process. A child starts with a copy.
#pragma once

#include <unordered_map>

#include "user/doorbell_pages.h"
#include "user/fork_ranges.h"
#include "verbs/device.h"

namespace mtsim::user {

struct Library {
  bool too_late = false;  ///< for ibv_fork_init: something should have been kept from children already
  bool fork_safe = false, fork_huge_pages = false;
  ForkRanges fork_ranges;
  std::unordered_map<verbs::Handle, ForkRanges::Range> fork_ranges_of;  ///< by MR
  DoorbellPages doorbells;
  std::unordered_map<std::uint32_t, ForkRanges::Range> doorbell_ranges;  ///< of pages that are kept from children
};

/// The memory of one queue: counted always, mapped only where it has to be kept from children.
struct QueueBuffer {
  Library* library = nullptr;  ///< of the process that made it
  Pages pages;
  ForkRanges::Range range;  ///< empty: not mapped
  std::uint32_t doorbell_page = 0;
};

}  // namespace mtsim::user

// What the kernel keeps of a process that uses the NIC.
#pragma once

#include <optional>

#include "host/address_space.h"
#include "kernel/memlock.h"
#include "kernel/memory_series.h"
#include "kernel/object_table.h"
#include "kernel/shared_state.h"
#include "ports/memory_use.h"

namespace mtsim::kernel {

struct Pd {
  std::uint32_t users = 0;   ///< MRs and QPs
  std::uint32_t device = 0;  ///< number of the NIC that it belongs to
};

struct Process {
  Process(engine::Scheduler& scheduler, FramePool& frames, const AddressSpaceLimits& limits) : memory(frames, limits), shared(scheduler) {}
  AddressSpace memory;
  SharedState shared;
  Memlock memlock;
  ObjectTable<Pd> pds;
  std::uint64_t pinned_regions = 0;  ///< MRs that hold pages
  Pages region_pages;                ///< which they hold; a page counts once for each
  ports::MemoryUse pressure;         ///< what memory that ran short has led to
  MemorySeries series;

  MemorySeries::Levels levels(const FramePool& frames) const { return {frames.free(), region_pages, memory.swapped()}; }
};

}  // namespace mtsim::kernel

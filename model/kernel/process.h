// What the kernel keeps of a process that uses the NIC.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "host/address_space.h"
#include "kernel/memlock.h"
#include "kernel/memory_series.h"
#include "kernel/object_table.h"
#include "kernel/shared_state.h"
#include "ports/memory_use.h"

namespace mtsim::kernel {

struct Pd {
  std::uint32_t users = 0;   ///< MRs, MWs, SRQs and QPs
  std::uint32_t device = 0;  ///< number of the NIC that it belongs to
};

struct Process {
  Process(engine::Scheduler& scheduler, FramePool& frames, const AddressSpaceLimits& limits)
      : Process(scheduler, {}, std::make_unique<AddressSpace>(frames, limits)) {}
  Process(engine::Scheduler& scheduler, std::string called, std::unique_ptr<AddressSpace> its)
      : name(std::move(called)), space(std::move(its)), memory(*space), shared(scheduler) {}

  std::uint32_t number = 0;  ///< counted from the host's first one
  const std::string name;    ///< of a child, as its fork said; the host's first process has none
  const std::unique_ptr<AddressSpace> space;
  AddressSpace& memory;
  SharedState shared;
  Memlock memlock;
  ObjectTable<Pd> pds;               ///< of the device file that it opened: children use the same one, and theirs stay empty
  std::uint64_t pinned_regions = 0;  ///< MRs that hold pages
  Pages region_pages;                ///< which they hold; a page counts once for each
  std::map<std::uint32_t, std::uint32_t> doorbell_pages;  ///< queues by the page that holds their doorbell records
};

}  // namespace mtsim::kernel

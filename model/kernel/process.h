// What the kernel keeps of a process that uses the NIC.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "host/address_space.h"
#include "kernel/memlock.h"
#include "kernel/object_table.h"
#include "ports/memory_use.h"

namespace mtsim::kernel {

struct Pd {
  std::uint32_t users = 0;  ///< MRs and QPs
};

struct Process {
  Process(FramePool& frames, const AddressSpaceLimits& limits) : Process({}, std::make_unique<AddressSpace>(frames, limits)) {}
  Process(std::string called, std::unique_ptr<AddressSpace> its) : name(std::move(called)), space(std::move(its)), memory(*space) {}

  const std::string name;  ///< of a child, as its fork said; the host's first process has none
  const std::unique_ptr<AddressSpace> space;
  AddressSpace& memory;
  Memlock memlock;
  ObjectTable<Pd> pds;               ///< of the device file that it opened: children use the same one, and theirs stay empty
  std::uint64_t pinned_regions = 0;  ///< MRs that hold pages
  Pages region_pages;                ///< which they hold; a page counts once for each
  std::map<std::uint32_t, std::uint32_t> doorbell_pages;  ///< queues by the page that holds their doorbell records
};

}  // namespace mtsim::kernel

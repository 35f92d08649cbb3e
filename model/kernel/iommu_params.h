// The IOMMU between a NIC and its host's memory: whether it translates, and what that costs the kernel.
#pragma once

#include <cstdint>
#include <string>

#include "base/parameter.h"
#include "base/units.h"

namespace mtsim::kernel {

/// When the IOTLB forgets what is unmapped: within the call, or later with much else.
enum class Invalidation : std::uint8_t { strict, lazy };

struct IommuParams {
  std::string mode;
  Invalidation invalidation{};
  std::uint32_t address_bits{};
  Time iova_cache, iova_rbtree;
  Time map_entry, unmap_entry;
  Time iotlb_sync, iotlb_flush;
  Time queue_entry, flush_interval;
  std::uint32_t flush_entries{};
  static void declare(Declaration<IommuParams>& d);
};

}  // namespace mtsim::kernel

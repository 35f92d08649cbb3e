// The IOMMU between a NIC and its host's memory: whether it translates, and what that costs the kernel.
#pragma once

#include <cstdint>
#include <string>

#include "base/io_page_table.h"
#include "base/parameter.h"
#include "base/units.h"

namespace mtsim::kernel {

/// When the IOTLB forgets what is unmapped: within the call, or later with much else.
enum class Invalidation : std::uint8_t { strict, lazy };

/// Greatest entries that the kernel writes.
enum class LargestEntry : std::uint8_t { of_4k, of_2m, of_1g };

struct IommuParams {
  std::string mode;
  LargestEntry largest_entry{};
  Invalidation invalidation{};
  std::uint32_t address_bits{};
  Time iova_cache, iova_rbtree;
  Time map_entry, unmap_entry;
  Time iotlb_sync, iotlb_flush;
  Time queue_entry, flush_interval;
  std::uint32_t flush_entries{};
  static void declare(Declaration<IommuParams>& d);

  /// Sizes of entries, as a set of bits.
  std::uint64_t entry_sizes() const { return IoPageTable::all_sizes & ((std::uint64_t{2} << (12 + 9 * unsigned(largest_entry))) - 1); }
  /// Levels of a table whose addresses have so many bits.
  unsigned levels() const { return (address_bits - 12 + 8) / 9; }
};

}  // namespace mtsim::kernel

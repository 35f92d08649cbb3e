// How much work one registration is, as counts and nothing else: what the kernel walks, writes and merges for a pinned range, and what it
// writes to the NIC's table once the range is mapped for DMA. Whoever owns the costs multiplies.
#pragma once

#include <cstdint>

#include "base/units.h"
#include "host/address_space.h"
#include "kernel/page_size.h"
#include "kernel/sg_table.h"

namespace mtsim {

/// What device and driver contribute.
struct PinRules {
  Bytes max_segment = mlx5_max_segment;
  PageSizes page_sizes = mlx5_page_sizes;
  PageSizeChoice choice = PageSizeChoice::best;
};

struct PinPlan {
  Pages pages;                   ///< N: 4 KiB pages
  std::uint64_t batches = 0;     ///< B: calls of pin_user_pages, 512 pages each
  std::uint64_t folios = 0;      ///< F: page table leaves touched
  std::uint64_t grabs = 0;       ///< references taken: leaves, each once a batch
  std::uint64_t sg_entries = 0;  ///< entries of the scatter-gather table, before an IOMMU joins them
  Bytes page_size;               ///< of the NIC's table, or the least of it; 0 when none fits, as for a length of 0 (EINVAL)
  std::uint64_t blocks = 0;      ///< M: entries of the NIC's table
};

/// All but the NIC's table, about which `plan_table` decides.
PinPlan plan_pinning(const DmaMap& frames, const PageCounts&, const PinRules&);

/// Page size and entries of the NIC's table. `device` is the range at the addresses that the device uses; `iova` is its first address as
/// operations will see it.
void plan_table(PinPlan&, const DmaMap& device, Iova, const PinRules&);

}  // namespace mtsim

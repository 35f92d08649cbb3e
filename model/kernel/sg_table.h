// The scatter-gather table of a pinned range: pages merged while they are adjacent in memory and the entry stays within the device's
// segment limit (Linux lib/scatterlist.c, sg_alloc_append_table_from_pages; the limit is ib_dma_max_seg_size).
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/dma_map.h"

namespace mtsim {

/// The segment limit of mlx5 (net/mlx5/core/main.c).
inline constexpr Bytes mlx5_max_segment = GiB(2);

/// Number of entries. `max_segment` is at least a page; what it has beyond whole pages is not used.
std::uint64_t count_sg_entries(const DmaMap&, Bytes max_segment);

/// Entries of the same table once an IOMMU has put it into one run: each takes as many of the entries before as fit the limit whole
/// (drivers/iommu/dma-iommu.c, __finalise_sg). O(entries of the result).
std::uint64_t count_joined_segments(const DmaMap&, Bytes max_segment);

/// Calls `visit(DmaRun)` for each entry, in order, while it returns true. Entries are whole pages.
template <class Visit>
void for_each_sg_entry(const DmaMap& map, Bytes max_segment, Visit visit) {
  const Bytes limit = page_bytes * (max_segment / page_bytes);
  map.for_each_run([&](DmaRun run) {
    while (run.length.raw > 0) {
      const DmaRun entry{run.start, std::min(run.length, limit)};
      if (!visit(entry)) return false;
      run.start += entry.length;
      run.length -= entry.length;
    }
    return true;
  });
}

}  // namespace mtsim

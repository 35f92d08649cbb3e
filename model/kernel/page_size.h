// The page size in which a NIC's table maps an MR: one size for the whole of it, or each block as great as it can be.
#pragma once

#include <cstdint>

#include "base/dma_map.h"
#include "base/units.h"

namespace mtsim {

/// Who chooses: nobody (always 4 KiB), the kernel's rule for the greatest that fits the whole MR, or each run for itself.
enum class PageSizeChoice : std::uint8_t { none, best, per_run };

/// Page sizes that a device supports: bit k stands for 2^k bytes.
using PageSizes = std::uint64_t;
/// Every power of two from 2^low to 2^high bytes, 12 <= low <= high <= 63.
constexpr PageSizes page_sizes(unsigned low, unsigned high) { return (~PageSizes{0} >> (63 - high)) & (~PageSizes{0} << low); }
/// mlx5 with a 5-bit page size field: 4 KiB to 2 GiB (hw/mlx5/mlx5_ib.h).
inline constexpr PageSizes mlx5_page_sizes = page_sizes(12, 31);

/// The greatest supported page size at which I/O virtual and DMA addresses agree at every discontinuity, or rather the smallest that
/// already needs as few blocks (Linux core/umem.c, ib_umem_find_best_pgsz, as it is since it joins entries that the segment limit cut).
/// 0 bytes when none fits: the registration fails with EINVAL. O(contiguous runs), less as soon as only the smallest size is left.
Bytes best_page_size(const DmaMap&, Iova, PageSizes supported);

/// Blocks of the size `page` that the range of `length` bytes from `iova` on touches: entries of its table.
std::uint64_t count_blocks(Iova, Bytes length, Bytes page);

/// Blocks of a table that may mix page sizes: whole 4 KiB pages of each contiguous run are cut into the greatest supported blocks that are
/// aligned on both sides. 0 when no block fits, as for a length of 0 or addresses that differ within a page.
std::uint64_t count_blocks_per_run(const DmaMap&, Iova, PageSizes supported);

}  // namespace mtsim

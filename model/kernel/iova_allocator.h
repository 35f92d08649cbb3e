// The I/O virtual addresses of one IOMMU domain: which page numbers are given away, and from where they come. Pure state (Linux 6.12
// drivers/iommu/iova.c).
//
// Up to 32 pages are rounded up to a power of two and come from per-CPU caches of magazines where these have any; everything else comes
// from the one tree of the domain, at an address that is a multiple of the length rounded up to a power of two. Left out: the first try
// below 4 GiB (pci_32bit_workaround), which decides nothing here, and the work item that thins the depot out.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace mtsim::kernel {

class IovaAllocator {
 public:
  /// IOVA_MAG_SIZE and IOVA_RANGE_CACHE_MAX_SIZE.
  static constexpr std::size_t magazine_size = 127;
  static constexpr unsigned cached_orders = 6;
  static constexpr std::uint64_t most_cached_pages = 1u << (cached_orders - 1);

  /// Gives away the page numbers [first, end).
  IovaAllocator(std::uint64_t first, std::uint64_t end) : first_(first), end_(end), search_(end), gaps_{{first, end}} {}

  struct Grant {
    std::optional<std::uint64_t> page;  ///< the first; nothing when the space is used up (ENOMEM)
    std::uint64_t tree_operations = 0;  ///< insertions and removals under the tree's lock; 0: a cache had it
  };
  /// alloc_iova_fast, on behalf of that CPU. `pages` is not 0. When the tree has no room, what the caches hold goes back to it first.
  Grant allocate(std::uint32_t cpu, std::uint64_t pages);
  /// free_iova_fast of what `allocate(.., pages)` gave: to the CPU's cache, or to the tree. Returns the operations on the tree.
  std::uint64_t release(std::uint32_t cpu, std::uint64_t page, std::uint64_t pages);

  /// Page numbers that the tree has to give; what lies in caches is not among them.
  std::uint64_t free_pages() const;

 private:
  using Magazine = std::vector<std::uint64_t>;
  struct CpuCache {
    Magazine loaded, previous;
  };
  struct Cache {
    std::vector<CpuCache> cpus;
    std::vector<Magazine> depot;  ///< full ones
  };

  std::optional<std::uint64_t> from_cache(Cache& cache, std::uint32_t cpu);
  static void to_cache(Cache& cache, std::uint32_t cpu, std::uint64_t page);
  std::optional<std::uint64_t> from_tree(std::uint64_t pages);
  void to_tree(std::uint64_t page, std::uint64_t pages);
  std::uint64_t empty_caches();

  std::uint64_t first_, end_;
  /// Where the range stands that was given away last: the search goes on below it (cached_node).
  std::uint64_t search_;
  std::map<std::uint64_t, std::uint64_t> gaps_;  ///< what the tree leaves free: first page -> end
  std::array<Cache, cached_orders> caches_;      ///< by the logarithm of the pages
};

}  // namespace mtsim::kernel

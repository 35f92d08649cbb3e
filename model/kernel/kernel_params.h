// What the generic part of the kernel costs: memory management and the verbs core.
#pragma once

#include "base/parameter.h"
#include "base/units.h"
#include "host/address_space.h"

namespace mtsim::kernel {

/// What a fault that a CPU takes locks.
enum class FaultLock : std::uint8_t {
  vma,   ///< its mapping alone: it meets nobody
  mmap,  ///< the mmap lock for reading
};

/// What the kernel says to on-demand paging where there is none.
enum class WithoutOnDemand : std::uint8_t { eopnotsupp, einval };

struct KernelParams {
  Time syscall, registration, reregistration, deregistration;
  Time pin_batch, pin_page, pin_grab;
  Time fault_4k, fault_2m, fault_1g;
  BitRate zero_rate;
  Time fault_shared, line_transfer;
  FaultLock fault_lock{};
  Time sg_compare, sg_entry;
  Time dma_map, dma_unmap;
  Time page_size_run;
  Time unpin_run, unpin_page;
  Time interrupt, wake_up;
  Time mmap, munmap, unmap_page, touch_page;
  Time mprotect, madvise, protect_page;
  Time swap_out, swap_in, migrate_page;
  Time fork, fork_mapping, fork_leaf, fork_copy, fault_found;
  BitRate copy_rate;
  std::uint64_t max_map_count{};
  bool copy_on_fork{}, pin_by_force{};
  WithoutOnDemand without_on_demand{};
  Time odp_region, odp_page, odp_walk, odp_scan;
  Time pd, mw, cq, srq, qp, modify_qp;
  static void declare(Declaration<KernelParams>& d);

  /// Of taking the faults and clearing what must be cleared.
  Time fault_time(const FaultCounts& faults) const;
  /// The part of it that faults of all CPUs take one after the other.
  Time shared_fault_time(const FaultCounts& faults) const;
  /// Of a fork beyond its fixed part.
  Time fork_time(const ForkReply& made) const;
  /// Of finding frames for them.
  Time reclaim_time(const ReclaimCounts& reclaimed) const;

 private:
  static void declare_memory(Declaration<KernelParams>& d);
  static void declare_changes(Declaration<KernelParams>& d);
  static void declare_fork(Declaration<KernelParams>& d);
};

}  // namespace mtsim::kernel

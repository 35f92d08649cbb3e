// What the kernel keeps of a memory region on demand (ib_umem_odp and its mlx5_ib_mr), and what a change of it amounts to: pure state.
#pragma once

#include <coroutine>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/present_map.h"
#include "engine/semaphore.h"
#include "kernel/key_policy.h"
#include "translate/architecture.h"
#include "verbs/device.h"

namespace mtsim::kernel {

/// Flows that sleep until something has changed.
class Sleepers {
 public:
  class Wait {
   public:
    explicit Wait(Sleepers& sleepers) : sleepers_(sleepers) {}
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> waiter) { sleepers_.waiting_.push_back(waiter); }
    void await_resume() const {}

   private:
    Sleepers& sleepers_;
  };
  Wait wait() { return Wait(*this); }
  /// In the order in which they went to sleep.
  void wake() {
    for (const std::coroutine_handle<> waiter : std::exchange(waiting_, {})) waiter.resume();
  }

 private:
  std::vector<std::coroutine_handle<>> waiting_;
};

/// Entries of a table.
struct EntryRange {
  std::uint64_t first = 0, count = 0;
  friend bool operator==(const EntryRange&, const EntryRange&) = default;
};

struct Process;

struct OdpRegion {
  explicit OdpRegion(engine::Scheduler& scheduler) : mutex(scheduler, 1) {}

  // The umem. An implicit region has no pages of its own.
  Process* process = nullptr;         ///< whose pages they are
  std::uint64_t first = 0, end = 0;   ///< virtual pages
  unsigned shift = 12;                ///< page_shift: bytes of an entry as a power of two
  bool writable = false;              ///< ib_access_writable of what it was registered with
  std::shared_ptr<PresentMap> pages;  ///< dma_list: by pages from `first` on, at the device's addresses
  std::uint64_t sequence = 0;         ///< rises with each invalidation
  engine::Semaphore mutex;            ///< umem_mutex

  // The MR.
  verbs::Handle pd = 0;
  verbs::Access access = verbs::Access::none;
  Va address;
  Bytes length;
  Iova iova;
  Key key;
  KeyGrant grant;
  std::uint32_t identity = 0;  ///< verbs::Grant::identity; 0: of a child
  std::uint32_t users = 0;     ///< page faults, prefetches and freed children that refer to it
  Sleepers unused;             ///< those who wait until there are none

  bool implicit = false;
  OdpRegion* parent = nullptr;
  std::map<std::uint64_t, std::unique_ptr<OdpRegion>> children;  ///< of an implicit region, by GiB

  /// Pages of an entry.
  std::uint64_t each() const { return std::uint64_t{1} << (shift - 12); }
  std::uint64_t entries() const { return (end - first) / each(); }
  bool overlaps(std::uint64_t from, std::uint64_t to) const { return from < end && first < to; }
  void release() {
    if (--users == 0) unused.wake();
  }
};

/// What is written of the entries: whole units of 64 bytes, but nothing beyond the table (hw/mlx5/umr.c, mlx5r_umr_update_xlt).
EntryRange written_entries(EntryRange entries, std::uint64_t table);

/// The runs of entries, of [first, end), in which an invalidation takes present ones from the device: a hole ends a run only where a unit
/// of 8 entries begins (hw/mlx5/odp.c, mlx5_ib_invalidate_range).
std::vector<EntryRange> zapped_runs(const OdpRegion& region, std::uint64_t first, std::uint64_t end);

/// The region for the device's table.
translate::Region table_of(const OdpRegion& region);

}  // namespace mtsim::kernel

// On-demand paging, as Linux 6.12 does it for mlx5 (hw/mlx5/odp.c, core/umem_odp.c, mm/hmm.c): regions whose pages are not pinned. The
// device gets what the process has present when it registers or asks for a prefetch, and loses it when the process's memory changes.
//
// Page faults of the device itself are not served yet.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "kernel/odp_region.h"
#include "kernel/reg_parts.h"

namespace mtsim::kernel {

/// What on-demand paging came to on a host so far, in 4 KiB pages.
struct OdpTotals {
  std::uint64_t regions = 0;         ///< registered, children of implicit ones apart
  std::uint64_t children = 0;        ///< of implicit regions
  std::uint64_t mapped = 0;          ///< pages that the device got, by registration or prefetch
  std::uint64_t prefetched = 0;      ///< pages that prefetches went through
  std::uint64_t invalidated = 0;     ///< pages taken from the device again
  std::uint64_t zaps = 0;            ///< UMR work requests that did so
  std::uint64_t failed_workers = 0;  ///< prefetches of a worker that failed, of which nobody is told
};

class OdpPath {
 public:
  OdpPath(const RegParts& parts, EndedCalls& ended);
  OdpPath(const OdpPath&) = delete;
  OdpPath& operator=(const OdpPath&) = delete;

  /// create_user_odp_mr. EOVERFLOW: the range wraps. EINVAL: no page; an implicit region with an iova, of huge pages or on a device without
  /// them; pages in memory that are smaller than the region's. ENOMEM: no key, no room in the tables, a list of more than 2 GiB.
  engine::Task<int> create(Call& call, verbs::RegMrRequest request, std::uint32_t identity, std::unique_ptr<OdpRegion>& out);
  /// __mlx5_ib_dereg_mr; waits for prefetches under way. The answer is 0.
  engine::Task<int> release(Call& call, OdpRegion& region);

  /// mlx5_ib_advise_mr
  engine::Task<verbs::Reply> advise_mr(verbs::Thread thread, verbs::AdviseMrRequest request);

  /// mmu_notifier_invalidate_range_start: virtual pages [first, end) of the thread's process are going to
  /// change, and the device's entries are taken away first.
  /// `end_invalidation` of the same range must follow. The answer is 0.
  engine::Task<int> begin_invalidation(verbs::Thread thread, std::uint64_t first, std::uint64_t end);
  void end_invalidation(verbs::Thread thread, std::uint64_t first, std::uint64_t end);
  /// The time of what reclaim, swapout and migration have taken from the device since this was last asked: the thread's, or the call's. The
  /// pages themselves went at once. The answer is 0.
  engine::Task<int> pay_for_taken(verbs::Thread thread);
  engine::Task<int> pay_for_taken(Call& call);
  bool idle() const { return regions_.empty() && owed_.empty(); }

  const OdpTotals& totals() const { return totals_; }
  /// Told of each step of calls from now on; null: nobody is.
  void set_laps(LapObserver* laps) { laps_ = laps; }

 private:
  using Kind = ports::RegistrationRecord::Call;
  struct Fragment {
    OdpRegion* region;
    std::uint64_t address;
    std::uint64_t length;
  };
  /// What pages are mapped for: as they are, or brought in.
  enum class Mapping : std::uint8_t { as_present, for_reading, for_writing };
  struct Owed {
    std::uint64_t zaps, entries;  ///< of each
    std::vector<FrameExtent> unmapped;
    std::uint64_t each;
  };
  struct Span {
    const Process* process;
    std::uint64_t first, end;
    bool operator==(const Span&) const = default;
  };
  /// Told of what one process loses.
  class Watch : public TakenPages {
   public:
    Watch(OdpPath& path, Process& process) : path_(path), process_(process) { process_.memory.tell(*this); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    virtual ~Watch() { process_.memory.forget(*this); }
    const Process& process() const { return process_; }
    void taken(std::uint64_t first, std::uint64_t end, Leaf leaf) override { path_.taken({&process_, first, end}, leaf); }

   private:
    OdpPath& path_;
    Process& process_;
  };

  engine::Task<int> create_queue(Call& call);
  engine::Task<int> create_implicit(Call& call, OdpRegion& region);
  engine::Task<int> create_explicit(Call& call, OdpRegion& region);
  engine::Task<int> create_child(Call& call, OdpRegion& parent, std::uint64_t index);
  engine::Task<int> take_key(Call& call, OdpRegion& region, std::uint64_t entries);
  engine::Task<int> end_key(Call& call, OdpRegion& region);
  engine::Task<int> lock(Call& call, OdpRegion& region);
  engine::Task<int> map(Call& call, OdpRegion& region, std::uint64_t first, std::uint64_t end, Mapping mapping);
  engine::Task<int> map_present(Call& call, OdpRegion& region, std::uint64_t first, std::uint64_t end, Mapping mapping);
  engine::Task<int> unmap(Call& call, OdpRegion& region, std::uint64_t first, std::uint64_t end);
  engine::Task<int> update(Call& call, OdpRegion& region, EntryRange entries);
  engine::Task<int> update_keys(Call& call, OdpRegion& region, EntryRange keys);
  engine::Task<int> sleep_until_quiet(Call& call, const OdpRegion& region);

  int find_prefetchable(verbs::Handle pd, verbs::Prefetch advice, Key lkey, OdpRegion*& out) const;
  engine::Task<int> prefetch(Call& call, Fragment what, verbs::Prefetch advice);
  engine::Task<int> prefetch_real(Call& call, OdpRegion& region, std::uint64_t address, std::uint64_t length, Mapping mapping);
  engine::Task<int> prefetch_implicit(Call& call, OdpRegion& region, std::uint64_t address, std::uint64_t length, Mapping mapping);
  engine::Flow prefetch_work(verbs::Thread thread, std::vector<Fragment> what, verbs::Prefetch advice);

  engine::Task<int> invalidate(Call& call, OdpRegion& region, std::uint64_t first, std::uint64_t end);
  engine::Flow free_child(verbs::Thread thread, std::unique_ptr<OdpRegion> child);
  void taken(const Span& pages, Leaf leaf);

  void watch(OdpRegion& region);
  void unwatch(const OdpRegion& region);
  bool changing(const Span& pages) const;
  /// Watched regions that have a page of the range, in the order of their addresses.
  std::vector<OdpRegion*> watched(const Span& pages) const;
  Call worker(verbs::Thread thread);

  RegParts parts_;
  EndedCalls& ended_;
  LapObserver* laps_ = nullptr;
  OdpTotals totals_;
  engine::Semaphore queue_mutex_;
  bool queue_made_ = false;
  std::map<std::uint32_t, OdpRegion*> keys_;          ///< odp_mkeys, by index
  std::multimap<std::uint64_t, OdpRegion*> regions_;  ///< those with pages, by the first
  std::uint64_t longest_ = 0;                         ///< pages of the longest of them there ever was
  std::vector<Span> changing_;                        ///< ranges whose invalidation has begun and not ended
  Sleepers changed_;                                  ///< those who wait for one to end
  std::vector<Owed> owed_;
  std::vector<std::unique_ptr<Watch>> watches_;  ///< of processes that have had a region
  std::uint64_t workers_ = 0;                    ///< begun so far
};

}  // namespace mtsim::kernel

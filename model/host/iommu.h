// The IOMMU of a host's root complex: it answers when the translation of a device's address is there. Calls come in order of time.
//
// A look-up that misses the IOTLB waits for a walk: for one of the same entry that is under way, or for a place and then its own, whose
// reads of the page table come one after the other. Walks begin in order of arrival. Since all that is known when a look-up arrives, the
// IOMMU needs no event of its own; what a walk brings is in the caches from its end on.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/usage.h"
#include "host/iommu_caches.h"
#include "host/llc.h"

namespace mtsim::host {

class Iommu {
 public:
  /// `levels` of page tables. Reads of walks go through `llc`, if there is one. Device addresses below `identity` (the driver's own queues
  /// and tables, coherent memory mapped in pages of 4 KiB) stand for themselves.
  Iommu(const IommuParams& params, unsigned levels, Pa identity, Llc* llc);

  /// A domain for the devices of one page table, which must outlive this; domains are numbered in order.
  void add_domain(const IoPageTable& table);

  struct Answer {
    Pa address;
    Bytes length;        ///< up to the end of the entry
    Time at;             ///< no earlier than asked
    bool fault = false;  ///< the table has no entry: `address` means nothing
  };
  Answer translate(std::uint32_t domain, Pa device, Time now);

  struct Counts {
    std::uint64_t lookups = 0, hits = 0;
    std::uint64_t merged = 0;  ///< misses that waited for another's walk
    std::uint64_t walks = 0, reads = 0;
    std::uint64_t faults = 0;
    std::uint64_t invalidated = 0;  ///< invalidations
    Time miss_total, miss_longest;  ///< from look-up to translation
  };
  const Counts& counts() const { return counts_; }
  /// Of walks: waits for a place; `busy` is walk-time, up to now.
  engine::Usage usage(Time now) const;
  std::uint64_t places() const { return free_at_.size(); }

 private:
  struct Walk {
    DevicePage of;
    IoPageTable::Leaf leaf;
    bool fault = false;
    Time end;
    bool forgotten = false;  ///< what it brings was invalidated under way
  };
  struct Domain final : IoPageTable::Copies {
    Iommu* iommu = nullptr;
    std::uint32_t number = 0;
    const IoPageTable* table = nullptr;
    void forget(std::uint64_t first, std::uint64_t count) override;
    void forget_all() override;
  };

  IoPageTable::Leaf entry(std::uint32_t domain, Pa device, bool& fault) const;
  Time walk(const DevicePage& of, unsigned log, Time start);
  void settle(Time now);
  static void insert(std::vector<Walk>& walks, const Walk& walk);

  IommuParams params_;
  unsigned levels_;
  Pa identity_;
  Llc* llc_;
  IommuCaches caches_;
  std::vector<std::unique_ptr<Domain>> domains_;
  std::vector<Time> free_at_;     ///< of each place for a walk
  std::vector<Walk> under_way_;   ///< by end; their entries are not in the IOTLB yet
  std::vector<Walk> structures_;  ///< by end; what they found on the way is not in the paging-structure caches yet
  Counts counts_;
  engine::Usage usage_;
};

}  // namespace mtsim::host

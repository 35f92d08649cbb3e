// Lazy invalidation: I/O virtual addresses that are unmapped, but that the IOTLB may still know. They come back for use after the next
// flush of the whole domain: when the queue of a CPU is full, or when the timer ends. Pure state (Linux 6.12 drivers/iommu/dma-iommu.c,
// queue_iova, fq_ring_free, fq_flush_timeout).
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/units.h"

namespace mtsim::kernel {

class IovaFlushQueue {
 public:
  struct Range {
    std::uint64_t page = 0, pages = 0;
  };
  /// What may be used again, and by which CPU's hand.
  struct Freed {
    std::uint32_t cpu = 0;
    Range range;
  };

  /// `slots` of the ring of each CPU, of which one stays free.
  IovaFlushQueue(std::uint32_t slots, Time interval) : most_(slots - 1), interval_(interval) {}

  /// Lets a timer that has ended by `now` do its work: one flush, after which all that was queued before is free. Ranges freed are added
  /// to `freed`. To be called before anything that looks at the addresses, so that the timer needs no event.
  void settle(Time now, std::vector<Freed>& freed);
  /// Queues a range on a CPU. True when its ring was full, so that the call itself had to flush the IOTLB.
  bool queue(std::uint32_t cpu, Range range, Time now, std::vector<Freed>& freed);

  std::uint64_t queued() const;

 private:
  struct Entry {
    Range range;
    std::uint64_t flushes;  ///< begun when it was queued
  };
  using Ring = std::deque<Entry>;

  void free_flushed(std::uint32_t by, Ring& ring, std::vector<Freed>& freed);

  std::size_t most_;
  Time interval_;
  std::vector<Ring> rings_;  ///< by CPU
  std::uint64_t flushes_ = 0;
  bool armed_ = false;
  Time ends_;
  std::uint32_t armed_by_ = 0;
};

}  // namespace mtsim::kernel

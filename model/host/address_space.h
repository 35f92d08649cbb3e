// The memory of one process: its mappings (VMAs), its page table, and the pins that outlive both. Pure state: calls say what they did, the
// kernel model gives it a duration.
//
// Every call returns 0 or a positive errno. Simplifications: a read touch brings in a frame as a write does (there is no shared zero
// page), and no page is ever copied on write, since nothing forks.
#pragma once

#include <boost/icl/interval_set.hpp>
#include <cstdint>
#include <map>
#include <optional>

#include "base/dma_map.h"
#include "base/units.h"
#include "host/frame_pool.h"
#include "host/leaf.h"
#include "host/page_table.h"
#include "verbs/device.h"

namespace mtsim {

struct MapReply {
  int error = 0;
  Va address;
  FaultCounts faults;  ///< of `populate`
};

struct UnmapReply {
  int error = 0;
  PageCounts unmapped;  ///< `absent` includes holes
};

struct FaultReply {
  int error = 0;
  FaultCounts faults;  ///< what was brought in, also when a later page failed
};

/// Memory that a device may use until it is unpinned, whatever happens to the mapping.
struct PinnedRange {
  Va address;
  Bytes length;
  DmaMap map;
  PageCounts counts;
};

struct PinReply {
  int error = 0;
  FaultCounts faults;
  PinnedRange range;  ///< of a pin without error
};

class AddressSpace {
 public:
  /// The pool must outlive it.
  explicit AddressSpace(FramePool& pool) : pool_(&pool), table_(pool.law()) {}

  /// Takes the lowest free addresses that fit, so that memory mapped after an unmap of the same size gets the same addresses, as it mostly
  /// does on Linux. The length is rounded up to the page size. EINVAL: length 0, `align` or `at` not a multiple of the page size (of 4 KiB
  /// for thp). ENOMEM: no addresses. Too few frames to populate is no error.
  MapReply mmap(const verbs::MmapRequest&);
  /// Cuts mappings and leaves; holes are fine. Frames that are pinned stay with the pin. EINVAL: length 0, an address that is not a
  /// multiple of 4 KiB, a range beyond user space, or a cut through a 2M or 1G page of a huge page mapping.
  UnmapReply munmap(Va, Bytes);
  /// Brings in absent pages, lowest first, as the CPU's first touch does. A page of a huge page mapping comes whole, and so does an
  /// aligned 2 MiB of a thp mapping in which nothing is present yet. EFAULT: a hole, no right (what the program would see as a signal).
  /// ENOMEM: no frames.
  FaultReply fault_in(Va, Bytes, bool write);
  /// As pin_user_pages with FOLL_LONGTERM (Linux 6.12 mm/gup.c, check_vma_flags): faults in what is absent, then holds every frame.
  /// EFAULT also for device memory and for writing to a shared mapping of a file. After an error nothing is pinned, but what was faulted
  /// in stays. Like the kernel's, a pin of no bytes within a page holds that page.
  PinReply pin(Va, Bytes, bool write);
  void unpin(const PinnedRange&);

  const PageTable& page_table() const { return table_; }

 private:
  struct Vma {
    std::uint64_t end;  ///< first page after it
    verbs::PageKind page;
    verbs::Backing backing;
    bool readable, writable, shared;
    bool huge() const { return page == verbs::PageKind::huge_2m || page == verbs::PageKind::huge_1g; }
    Leaf leaf() const;
  };
  using Vmas = std::map<std::uint64_t, Vma>;  ///< by first page
  /// Called for each mapping in turn; returns an errno.
  using Check = int (*)(const Vma&, bool write);

  static int check_touch(const Vma&, bool write);
  static int check_pin(const Vma&, bool write);
  std::optional<std::uint64_t> find_addresses(std::uint64_t pages, std::uint64_t align, std::uint64_t at) const;
  Vmas::const_iterator holding(std::uint64_t page) const;
  void cut(std::uint64_t page);
  FaultReply fault_pages(Va, Bytes, bool write, Check);
  int fill(const Vma&, PageTable::Gap absent, PageTable::Gap wanted, FaultCounts&);
  std::uint64_t bring(const Vma&, std::uint64_t first, std::uint64_t end, Leaf, FaultCounts&);

  FramePool* pool_;
  PageTable table_;
  Vmas vmas_;
  /// Free pages of the address space, from a place where Linux on x86-64 puts mappings to the end of user space.
  boost::icl::interval_set<std::uint64_t> free_{
      boost::icl::discrete_interval<std::uint64_t>(0x7000'0000'0000 / page_bytes.raw, 0x7fff'ffff'f000 / page_bytes.raw)};
};

}  // namespace mtsim

// The memory of one process: its mappings (VMAs), its page table, and the pins that outlive both. Pure state: calls say what they did, the
// kernel model gives it a duration.
//
// Every call returns 0 or a positive errno. A fork makes another one that has the same pages until either writes to them. Simplifications:
// a read touch brings in a frame as a write does (there is no shared zero page), a private mapping of a file is as anonymous memory once
// touched, and pages that several processes map are neither swapped out nor moved. Mappings join again only with parts of the same mmap.
#pragma once

#include <boost/icl/interval_set.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/dma_map.h"
#include "base/units.h"
#include "host/frame_pool.h"
#include "host/leaf.h"
#include "host/page_table.h"
#include "verbs/device.h"

namespace mtsim {

/// What limits a process besides the pool.
struct AddressSpaceLimits {
  std::uint64_t mappings = 65530;  ///< vm.max_map_count
  Pages swap;                      ///< room to swap out to
  Pages reserve;                   ///< frames that stay free for the kernel (min_free_kbytes)
};

/// What reclaim did to find frames for a call.
struct ReclaimCounts {
  std::uint64_t swapped_out = 0;  ///< 4 KiB pages written to swap
  std::uint64_t dropped = 0;      ///< pages of files
  std::uint64_t migrated = 0;     ///< 4 KiB pages moved out of ZONE_MOVABLE before they were pinned
  bool out_of_memory = false;     ///< there was nothing left to take
  ReclaimCounts& operator+=(const ReclaimCounts& o) {
    swapped_out += o.swapped_out;
    dropped += o.dropped;
    migrated += o.migrated;
    out_of_memory |= o.out_of_memory;
    return *this;
  }
};

struct MapReply {
  int error = 0;
  Va address;
  FaultCounts faults;  ///< of `populate`
  ReclaimCounts reclaimed;
  std::uint64_t batches = 0;
};

struct UnmapReply {
  int error = 0;
  PageCounts unmapped;  ///< `absent` includes holes
};

struct ProtectReply {
  int error = 0;
  std::uint64_t leaves = 0;  ///< present leaves whose rights changed
};

struct AdviseReply {
  int error = 0;
  std::uint64_t dropped = 0;      ///< leaves unmapped (dontneed)
  std::uint64_t swapped_out = 0;  ///< 4 KiB pages written to swap (pageout)
  std::uint64_t migrated = 0;     ///< 4 KiB pages copied to other frames (migrate)
};

struct FaultReply {
  int error = 0;
  FaultCounts faults;  ///< what was brought in, also when a later page failed
  ReclaimCounts reclaimed;
  std::uint64_t batches = 0;  ///< of `pin_batch_pages` from the first page on, that had absent pages
};

/// What of a range a device may use as it is (mm/hmm.c, hmm_range_fault).
struct PresentPart {
  std::uint64_t first = 0;  ///< virtual page
  FrameExtent frames;
  Leaf leaf = Leaf::page_4k;
  bool writable = false;
  std::uint64_t end() const { return first + frames.count; }
};

/// A piece of what a process sees at its addresses.
struct SeenPart {
  enum class Kind : std::uint8_t {
    nothing,  ///< no mapping, or a window of a device
    frames,   ///< bytes of frames, `first` counted on through the frames' numbers
    absent    ///< no frame; what a touch would bring back stands in stored() from `first` on
  } kind = Kind::nothing;
  std::uint64_t first = 0, length = 0;  ///< bytes
};

/// Told of pages whose frames the system takes while the process runs: by reclaim, swapout or migration. Before it happens.
class TakenPages {
 public:
  /// Virtual pages [first, end), mapped by leaves of that size.
  virtual void taken(std::uint64_t first, std::uint64_t end, Leaf leaf) = 0;

 protected:
  ~TakenPages() = default;
};

/// Memory that a device may use until it is unpinned, whatever happens to the mapping.
struct PinnedRange {
  Va address;
  Bytes length;
  std::shared_ptr<const DmaMap> map;  ///< never null in a range that was pinned
};

struct PinReply {
  int error = 0;
  FaultCounts faults;
  ReclaimCounts reclaimed;
  std::uint64_t batches = 0;  ///< as those of FaultReply
  PinnedRange range;          ///< of a pin without error
  PageCounts counts;          ///< of its pages
  PageCounts before_error;    ///< what lies before the page that could not be pinned: it was pinned and let go again
};

struct ForkReply;

class AddressSpace {
 public:
  /// The pool must outlive it and all that are forked from it.
  explicit AddressSpace(FramePool& pool, const AddressSpaceLimits& limits = {});
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;
  ~AddressSpace();

  /// Takes the lowest free addresses that fit, so that memory mapped after an unmap of the same size gets the same addresses, as it mostly
  /// does on Linux. The length is rounded up to the page size. EINVAL: length 0, `align` or `at` not a multiple of the page size (of 4 KiB
  /// for thp). ENOMEM: no addresses, or too many mappings. Too few frames to populate is no error.
  MapReply mmap(const verbs::MmapRequest&);
  /// Cuts mappings and leaves; holes are fine. Frames that are pinned stay with the pin. EINVAL: length 0, an address that is not a
  /// multiple of 4 KiB, a range beyond user space, or a cut through a 2M or 1G page of a huge page mapping. ENOMEM: a hole in the middle of
  /// a mapping would make one mapping too many.
  UnmapReply munmap(Va, Bytes);
  /// Changes rights from the lowest address on, cutting mappings at the edges (mm/mprotect.c, do_mprotect_pkey). Pins keep the rights that
  /// they were made with. EINVAL: a start that is not a multiple of 4 KiB, a cut through a huge page. ENOMEM: a hole, or too many mappings;
  /// what lies below it has changed.
  ProtectReply mprotect(Va, Bytes, bool readable, bool writable);
  /// mm/madvise.c, madvise_walk_vmas: holes are passed over and give ENOMEM in the end. EINVAL: as mprotect, and dofork or dontneed of
  /// device memory. Pinned pages stay where they are, but dontneed leaves them to the pin alone.
  AdviseReply madvise(Va, Bytes, verbs::Advice);
  /// Brings in absent pages, lowest first, as the CPU's first touch does. A page of a huge page mapping comes whole, and so does an
  /// aligned 2 MiB of a thp mapping in which nothing is present yet. EFAULT: a hole, no right (what the program would see as a signal).
  /// ENOMEM: no frames.
  FaultReply fault_in(Va, Bytes, bool write);
  /// As pin_user_pages with FOLL_LONGTERM (Linux 6.12 mm/gup.c, check_vma_flags): faults in what is absent, then holds every frame.
  /// EFAULT also for device memory and for writing to a shared mapping of a file. After an error nothing is pinned, but what was faulted
  /// in stays. Like the kernel's, a pin of no bytes within a page holds that page.
  /// `by_force`: as before Linux 6.2, where FOLL_FORCE made up for missing rights of private mappings and shared files could be written.
  /// Pages of private mappings that are shared since a fork are shared no longer: as a write does, and a pin for reading too
  /// (FAULT_FLAG_UNSHARE; before Linux 6.2 every such pin asked for writing).
  PinReply pin(Va, Bytes, bool write, bool by_force = false);
  void unpin(const PinnedRange&);

  /// A copy for a child (kernel/fork.c, dup_mmap; mm/memory.c, copy_page_range) of all mappings but those that madvise keeps from it.
  /// Pages of shared mappings are the same ones for ever; the child's page table gets them as it touches them. Those of private mappings
  /// are shared until a write copies them (wp_page_copy; of a THP, that 4 KiB page only), or finds that nobody else maps them. Pages that
  /// are pinned are copied at once with `copies_pinned` (Linux since 5.12) and stay as they are in the parent, where the leaf of a THP
  /// falls into 4 KiB ones; a THP is pinned as a whole. ENOMEM: no frames for copies; no child then.
  ForkReply fork(bool copies_pinned);
  /// Brings in what is absent so that a device can use the range, without holding it. EFAULT: a hole, device memory, not readable. EPERM:
  /// not writable.
  FaultReply fault_for_device(Va, Bytes, bool write);
  /// Present pages [first, end) of readable mappings, but device memory, in order.
  std::vector<PresentPart> present(std::uint64_t first, std::uint64_t end) const;
  /// The error that munmap of the range would end with before it changes anything, or 0.
  int check_munmap(Va, Bytes) const;
  /// Pages whose rights mprotect would change, as ranges [first, second).
  std::vector<std::pair<std::uint64_t, std::uint64_t>> protected_anew(Va, Bytes, bool readable, bool writable) const;
  /// Of private mappings, as ranges [first, second) of pages: those that a fork write-protects.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> private_ranges() const;
  /// Is told of pages that are taken away, until `forget`.
  void tell(TakenPages& watcher) { watchers_.push_back(&watcher); }
  void forget(TakenPages& watcher) { std::erase(watchers_, &watcher); }

  const PageTable& page_table() const { return table_; }
  /// What the process sees, piece by piece and without a gap.
  std::vector<SeenPart> see(Va, Bytes) const;
  /// Contents of pages that are not in frames, by virtual address; kept only where the pool follows contents.
  const Contents& stored() const { return stored_; }
  std::size_t mappings() const { return vmas_.size(); }
  /// KernelPageSize of the mapping at that address: that of a huge page mapping, or 4 KiB.
  Bytes page_size_at(Va) const;
  /// Pages in swap.
  Pages swapped() const { return Pages(swapped_pages_); }
  /// Pages in frames, those included that are pinned.
  Pages resident() const;

 private:
  /// The pages of a shared mapping that more than one process has.
  struct Common;
  /// Processes that came from one another: they find frames in each other's memory and share room for swapping.
  struct Family {
    std::vector<AddressSpace*> members;
    std::uint64_t swapped = 0;  ///< pages, once for each process
  };
  struct Vma {
    std::uint64_t end;      ///< first page after it
    std::uint64_t made_by;  ///< number of the mmap
    verbs::PageKind page;
    verbs::Backing backing;
    bool readable, writable, shared;
    bool dontfork = false;
    std::shared_ptr<Common> common{};  ///< of a shared mapping, once there has been a fork
    bool huge() const { return page == verbs::PageKind::huge_2m || page == verbs::PageKind::huge_1g; }
    Leaf leaf() const;
    bool same_kind(const Vma& o) const {
      return made_by == o.made_by && page == o.page && readable == o.readable && writable == o.writable && dontfork == o.dontfork;
    }
  };
  using Vmas = std::map<std::uint64_t, Vma>;  ///< by first page
  /// Virtual page numbers [first, end).
  struct Range {
    std::uint64_t first, end;
  };
  /// Called for each mapping in turn; returns an errno.
  using Check = int (*)(const Vma&, bool write);

  static int check_touch(const Vma&, bool write);
  static int check_pin(const Vma&, bool write);
  static int check_forced_pin(const Vma&, bool write);
  static int check_device(const Vma&, bool write);
  std::optional<std::uint64_t> find_addresses(std::uint64_t pages, std::uint64_t align, std::uint64_t at) const;
  Vmas::const_iterator holding(std::uint64_t page) const;
  void cut(std::uint64_t page);
  bool splits_huge_page(std::uint64_t edge) const;
  struct Access {
    bool write;     ///< asks for the right to write
    bool unshares;  ///< pages of private mappings must be this process's alone
    Check check;
  };
  /// `keep`: pages that reclaim leaves alone while these are brought in. `reached`: the first page that could not be.
  FaultReply fault_pages(Va, Bytes, const Access&, Range keep, std::uint64_t& reached);
  int fill(const Vma&, PageTable::Gap absent, PageTable::Gap wanted, Range keep, FaultReply&);
  std::uint64_t bring(const Vma&, std::uint64_t first, std::uint64_t end, Leaf, Range keep, FaultReply&);
  /// Up to so many pages of that size, none when there are none. Small ones may be taken from elsewhere first.
  std::vector<FrameExtent> take(Leaf, std::uint64_t leaves, Range keep, ReclaimCounts&);
  /// Maps what others have of a shared mapping, from absent page `page` on, and returns where it stopped.
  std::uint64_t map_common(const Vma&, std::uint64_t page, PageTable::Gap absent, std::uint64_t stop, FaultReply&);
  /// Pages of a shared mapping stay in its file when this process lets go of them.
  void keep_shared(std::uint64_t made_by, Range pages);
  /// What has been brought in among these pages is everybody's.
  void publish(const Vma&, PageTable::Gap);
  /// Makes shared pages from `page` on this process's alone and moves `page` to where it stopped: an errno.
  int unshare(const Vma&, std::uint64_t& page, std::uint64_t stop, Range keep, FaultReply&);
  int copy_pages(const Vma&, std::uint64_t first, bool copies_pinned, AddressSpace& child, ForkReply&);
  /// exit_mmap, of a child that could not be made.
  void drop();
  std::uint64_t swap_room() const;

  /// Makes [first, end) a mapping of its own out of the one that holds it, and gives it to `change`; then it joins its neighbours again
  /// where they are alike (vma_modify). EINVAL, ENOMEM as mprotect.
  template <class Change>
  int modify(std::uint64_t first, std::uint64_t end, Change change);
  void join(std::uint64_t page);
  /// Calls `part(first, end, vma)` for the mapped parts of the range, until one gives an errno. 0, that errno, or ENOMEM when a part was
  /// not mapped and `beyond_holes`, or at the first hole.
  template <class Part>
  int for_each_mapped(Range, bool beyond_holes, Part part);
  int advise(std::uint64_t first, std::uint64_t end, verbs::Advice, AdviseReply&);
  /// Pages from `first` on have been put into these frames: what was stored of them is there again.
  void restore(std::uint64_t first, const FrameExtent& frames);
  /// The other way round, before the frames go.
  void store(std::uint64_t first, const FrameExtent& frames);
  /// Their contents are needed in swap no more; returns how many were there.
  std::uint64_t forget_swapped(std::uint64_t first, std::uint64_t end);
  /// Takes the frames of unpinned pages of one mapping away from `page` on, about `most` of them, and returns how many. `page` comes to
  /// stand where it stopped.
  std::uint64_t evict(std::uint64_t& page, std::uint64_t end, std::uint64_t most, ReclaimCounts&);
  std::uint64_t reclaim(std::uint64_t pages, Range keep, ReclaimCounts&);
  std::uint64_t reclaim_here(std::uint64_t pages, Range keep, ReclaimCounts&);
  std::uint64_t migrate(std::uint64_t first, std::uint64_t end);
  int leave_movable(Range, PinReply&);
  /// Puts other frames under [at, at + frames.count), whole leaves that are mapped here alone.
  void move_to(std::uint64_t at, const FrameExtent& frames, Leaf);
  std::uint64_t allocatable() const;

  FramePool* pool_;
  AddressSpaceLimits limits_;
  std::shared_ptr<Family> family_;
  PageTable table_;
  Vmas vmas_;
  std::uint64_t maps_made_ = 0;
  boost::icl::interval_set<std::uint64_t> swapped_;  ///< pages whose contents lie in swap
  std::uint64_t swapped_pages_ = 0;
  Contents stored_;
  std::vector<TakenPages*> watchers_;
  Zone zone_ = Zone::movable_first;  ///< of frames that are brought in now (current->flags, PF_MEMALLOC_PIN)
  std::uint64_t hand_ = 0;           ///< page from which reclaim looks for the next one to take
  /// Free pages of the address space, from a place where Linux on x86-64 puts mappings to the end of user space.
  boost::icl::interval_set<std::uint64_t> free_{
      boost::icl::discrete_interval<std::uint64_t>(0x7000'0000'0000 / page_bytes.raw, 0x7fff'ffff'f000 / page_bytes.raw)};
};

struct ForkReply {
  int error = 0;
  std::unique_ptr<AddressSpace> child;  ///< none after an error
  std::uint64_t mappings = 0;           ///< that were copied
  std::uint64_t leaves = 0;             ///< of the page table that were copied
  std::uint64_t copies = 0;             ///< of these, those whose pages were, too
  Bytes copied;                         ///< their memory
  ReclaimCounts reclaimed;
};

}  // namespace mtsim

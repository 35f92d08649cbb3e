// The page table of a process, as a map of extents: which frames lie under which virtual pages, by what leaves.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/dma_map.h"
#include "base/frame_law.h"
#include "base/units.h"
#include "host/leaf.h"

namespace mtsim {

/// What pinning or unmapping a range meets. A range touches whole 4 KiB pages.
struct PageCounts {
  std::uint64_t pages = 0;   ///< 4 KiB pages of the range, absent ones too
  std::uint64_t absent = 0;  ///< pages without a frame
  std::uint64_t folios = 0;  ///< leaves touched
  /// Leaves, each once for every batch of 512 pages (counted from the range's first page) that it lies in: pin_user_pages walks batch by
  /// batch and takes one reference for a leaf (Linux mm/gup.c, gup_fast_pmd_leaf).
  std::uint64_t grabs = 0;
  std::uint64_t runs = 0;  ///< physically contiguous runs; an absent page ends one
};

/// Pages that pin_user_pages takes at a time: one page full of page pointers.
inline constexpr std::uint64_t pin_batch_pages = 512;

/// Whether a page may be written in place.
enum class Sharing : std::uint8_t {
  alone,          ///< as far as it is the page table's business
  copy_on_write,  ///< since a fork: another process may have it too
  with_pins,      ///< the same, of a page that this process had pinned before the fork
};

class PageTable {
 public:
  struct Hit {
    Pa pa;
    Leaf leaf;
  };
  /// Virtual page numbers [first, end).
  struct Gap {
    std::uint64_t first, end;
  };

  explicit PageTable(FrameLaw law) : law_(law) {}

  /// Puts the frames at `va`, a multiple of the leaf's size, as the extent's length is. The pages must be absent.
  void map(Va, const FrameExtent&, Leaf, Sharing = Sharing::alone);
  /// Takes away the pages that the range touches and returns their frames, lowest address first. A 2 MiB leaf that is cut becomes 4 KiB
  /// leaves.
  std::vector<FrameExtent> unmap(Va, Bytes);
  /// Makes two of a leaf that `page` lies within.
  void cut(std::uint64_t page);
  /// Makes 4 KiB leaves of all leaves of pages [first, end), whose edges are edges of leaves.
  void split(std::uint64_t first, std::uint64_t end);
  void share(std::uint64_t first, std::uint64_t end, Sharing);

  std::optional<Hit> lookup(Va) const;
  /// The absent pages around absent page `page`, within [low, high); nothing when the page is present.
  std::optional<Gap> gap_around(std::uint64_t page, std::uint64_t low, std::uint64_t high) const;
  /// The first absent page at or after `page`, which is present, as far as one extent tells.
  std::uint64_t present_until(std::uint64_t page) const;

  struct Part {
    std::uint64_t first = 0;  ///< virtual page
    FrameExtent frames;
    Leaf leaf = Leaf::page_4k;
    Sharing sharing = Sharing::alone;
    std::uint64_t end() const { return first + frames.count; }
  };
  /// The rest of the first extent that has a page at or after `page`, from there on; nothing when there is none below `high`.
  std::optional<Part> part_from(std::uint64_t page, std::uint64_t high) const;

  /// O(extents) and what FrameLaw::count_runs asks.
  PageCounts count(Va, Bytes) const;
  /// The frames of a range that has no absent page.
  DmaMap dma_map(Va, Bytes) const;
  /// Calls `visit` for the maximal physically contiguous pieces of the range, in order; absent pages are left out.
  void for_each_run(Va, Bytes, const std::function<void(Va, Pa, Bytes)>& visit) const;
  std::size_t extents() const { return entries_.size(); }

 private:
  struct Entry {
    FrameExtent frames;
    Leaf leaf;
    Sharing sharing;
    bool same_kind(const Entry& o) const { return leaf == o.leaf && sharing == o.sharing; }
  };
  using Entries = std::map<std::uint64_t, Entry>;  ///< by first virtual page; no two overlap

  Entries::const_iterator holding(std::uint64_t page) const;
  /// Calls `change(entry)` for all of pages [first, end), and joins what has become alike.
  template <class Change>
  void change(std::uint64_t first, std::uint64_t end, Change change);
  /// Calls `visit(first page, extent, leaf)` for the present parts of pages [first, end).
  template <class Visit>
  void for_each_part(std::uint64_t first, std::uint64_t end, Visit visit) const;

  FrameLaw law_;
  Entries entries_;
};

}  // namespace mtsim

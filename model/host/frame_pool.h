// The physical memory of one host. Frames are handed out as extents of numbers (base/frame_law.h says where each lies), counted by
// holder and taken back, all by extents: a terabyte costs no more than a page.
#pragma once

#include <algorithm>
#include <array>
#include <boost/icl/interval_map.hpp>
#include <boost/icl/interval_set.hpp>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/contents.h"
#include "base/frame_law.h"
#include "base/parameter.h"
#include "base/units.h"
#include "host/leaf.h"

namespace mtsim {

struct FramePoolParams {
  Bytes size{};
  double run_pages{};
  std::uint64_t seed{};
  Bytes swap{};
  Bytes movable{};
  static void declare(Declaration<FramePoolParams>&);
};

/// Memory of programs comes from ZONE_MOVABLE first, where there is such a zone, but not what is to be pinned.
enum class Zone : std::uint8_t { movable_first, unmovable };

class FramePool {
 public:
  /// Throws UserError when the size is not a whole number of regions (64 MiB), or the movable part is not or leaves nothing else.
  explicit FramePool(const FramePoolParams&);

  /// Up to `leaves` pages of that size, fewer when memory runs out, held once. 4 KiB pages come from the lowest numbers on, greater ones
  /// from the highest, so that small pages leave memory for huge ones as long as they can.
  std::vector<FrameExtent> allocate(Leaf, std::uint64_t leaves, Zone zone = Zone::movable_first);
  /// Physically contiguous memory for a driver (as dma_alloc_coherent gives), in whole pages, its address a multiple of `align` (a power
  /// of two), held once; nothing when there is none. The memory comes out of whole segments (up to 2 MiB) or regions.
  std::optional<FrameExtent> allocate_contiguous(Bytes size, Bytes align = page_bytes);

  /// One more mapping for each frame of the extent. Every frame must have a holder already.
  void hold(const FrameExtent& extent) { add(extent, {1, 0}); }
  /// One mapping less; frames without any holder are free again.
  void release(const FrameExtent& extent) { take_off(extent, {1, 0}); }
  /// The same for pins.
  void pin(const FrameExtent& extent) { add(extent, {0, 1}); }
  void unpin(const FrameExtent& extent) { take_off(extent, {0, 1}); }

  /// The parts of the extent that have a single holder, as pages of it: what is pinned or shared has more.
  std::vector<PageSpan> held_once(const FrameExtent&) const;
  /// What is so of the extent's first frame, and of how many from there on.
  struct Alike {
    bool yes = false;
    std::uint64_t pages = 0;
  };
  /// Whether there is one mapping, pins apart.
  Alike mapped_once(const FrameExtent&) const;
  Alike pinned(const FrameExtent&) const;
  /// Whether it lies in ZONE_MOVABLE.
  Alike movable(const FrameExtent& extent) const {
    if (extent.first >= movable_) return {false, extent.count};
    return {true, std::min(extent.count, movable_ - extent.first)};
  }
  bool has_movable() const { return movable_ != 0; }
  /// How many frames of the extent are pinned.
  std::uint64_t count_pinned(const FrameExtent&) const;

  /// Follows what lies in the frames from now on, by bytes counted on through their numbers: free ones hold zeros, since whoever gets them
  /// finds them cleared. `contents` must outlive the pool's use. Null: nobody asks.
  void follow(Contents* contents) { contents_ = contents; }
  Contents* contents() const { return contents_; }
  /// The frames of `to` hold what `from`, as many, held.
  void copied(const FrameExtent& from, const FrameExtent& to) {
    if (contents_ != nullptr) [[unlikely]]
      contents_->copy(*contents_, from.first * page_bytes.raw, from.count * page_bytes.raw, to.first * page_bytes.raw);
  }

  const FrameLaw& law() const { return law_; }
  Pages size() const { return Pages(size_); }
  Pages free() const { return Pages(free_); }
  /// Room for pages without a frame.
  Pages swap() const { return Pages(swap_); }

 private:
  using Set = boost::icl::interval_set<std::uint64_t>;
  using Interval = boost::icl::discrete_interval<std::uint64_t>;
  struct Count {
    std::uint32_t mappings = 0, pins = 0;
    Count& operator+=(const Count& o) {
      mappings += o.mappings;
      pins += o.pins;
      return *this;
    }
    Count& operator-=(const Count& o) {
      mappings -= o.mappings;
      pins -= o.pins;
      return *this;
    }
    friend bool operator==(const Count&, const Count&) = default;
  };
  using Holders = boost::icl::interval_map<std::uint64_t, Count>;

  Set& free_in(Layout layout) { return free_sets_[static_cast<std::size_t>(layout)]; }
  FrameExtent take(Layout, std::uint64_t first, std::uint64_t count);
  /// The part of `allocate` that looks among numbers [low, high). Returns how many pages are still wanted.
  std::uint64_t allocate_small(std::uint64_t low, std::uint64_t high, std::uint64_t leaves, std::vector<FrameExtent>& out);
  std::uint64_t allocate_great(Leaf, std::uint64_t low, std::uint64_t high, std::uint64_t leaves, std::vector<FrameExtent>& out);
  std::optional<FrameExtent> find_contiguous(Layout, std::uint64_t count, std::uint64_t align);
  bool open_units(Layout, std::uint64_t count, std::uint64_t align);
  void give_back(Layout, const Interval&);
  void add(const FrameExtent&, Count);
  void take_off(const FrameExtent&, Count);
  template <class Question>
  Alike alike(const FrameExtent&, Question) const;

  FrameLaw law_;
  std::uint64_t size_;
  std::uint64_t free_;
  std::uint64_t swap_;
  std::uint64_t movable_;  ///< frames with numbers below are ZONE_MOVABLE
  /// Free frames by the layout in which their unit is in use. A segment or region that is free as a whole is in no use: its numbers
  /// stand in the set of Layout::pages, from which the other layouts take whole units.
  std::array<Set, 3> free_sets_;
  Holders holders_;
  Contents* contents_ = nullptr;
};

}  // namespace mtsim

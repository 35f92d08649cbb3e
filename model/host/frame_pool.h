// The physical memory of one host. Frames are handed out as extents of numbers (base/frame_law.h says where each lies), counted by
// holder and taken back, all by extents: a terabyte costs no more than a page.
#pragma once

#include <array>
#include <boost/icl/interval_map.hpp>
#include <boost/icl/interval_set.hpp>
#include <cstdint>
#include <optional>
#include <vector>

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
  static void declare(Declaration<FramePoolParams>&);
};

class FramePool {
 public:
  /// Throws UserError when the size is not a whole number of regions (64 MiB).
  explicit FramePool(const FramePoolParams&);

  /// Up to `leaves` pages of that size, fewer when memory runs out, held once. 4 KiB pages come from the lowest numbers on, greater ones
  /// from the highest, so that small pages leave memory for huge ones as long as they can.
  std::vector<FrameExtent> allocate(Leaf, std::uint64_t leaves);
  /// Physically contiguous memory for a driver (as dma_alloc_coherent gives), in whole pages, its address a multiple of `align` (a power
  /// of two), held once; nothing when there is none. The memory comes out of whole segments (up to 2 MiB) or regions.
  std::optional<FrameExtent> allocate_contiguous(Bytes size, Bytes align = page_bytes);

  /// One more holder for each frame of the extent (a pin). Every frame must have one already.
  void hold(const FrameExtent&);
  /// One holder less; frames without any are free again.
  void release(const FrameExtent&);

  /// The parts of the extent that have a single holder, as pages of it: what is pinned has more.
  std::vector<PageSpan> held_once(const FrameExtent&) const;

  const FrameLaw& law() const { return law_; }
  Pages size() const { return Pages(size_); }
  Pages free() const { return Pages(free_); }
  /// Room for pages without a frame.
  Pages swap() const { return Pages(swap_); }

 private:
  using Set = boost::icl::interval_set<std::uint64_t>;
  using Interval = boost::icl::discrete_interval<std::uint64_t>;
  using Holders = boost::icl::interval_map<std::uint64_t, std::uint32_t>;

  Set& free_in(Layout layout) { return free_sets_[static_cast<std::size_t>(layout)]; }
  FrameExtent take(Layout, std::uint64_t first, std::uint64_t count);
  std::optional<FrameExtent> find_contiguous(Layout, std::uint64_t count, std::uint64_t align);
  bool open_units(Layout, std::uint64_t count, std::uint64_t align);
  void give_back(Layout, const Interval&);

  FrameLaw law_;
  std::uint64_t size_;
  std::uint64_t free_;
  std::uint64_t swap_;
  /// Free frames by the layout in which their unit is in use. A segment or region that is free as a whole is in no use: its numbers
  /// stand in the set of Layout::pages, from which the other layouts take whole units.
  std::array<Set, 3> free_sets_;
  Holders holders_;
};

}  // namespace mtsim

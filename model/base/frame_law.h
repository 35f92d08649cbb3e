// Where the frames of a host lie, as a law instead of a list: a scattered extent is a range of frame numbers, and the physical address
// of each number follows from the seed. So an extent of a terabyte is three words, can be split at any page, and two extents that do
// not share a number never share a frame.
//
// Physical memory is cut in segments of 512 frames (2 MiB) and regions of 32 segments (64 MiB). Within a region the segments stand in a
// keyed order that never puts two neighbours one after the other. Within a segment the frames stand in runs of 2^k pages, drawn for each
// segment, again in a keyed order without accidental neighbours and with a keyed phase, so that runs are not aligned to addresses.
#pragma once

#include <cstdint>

#include "base/units.h"

namespace mtsim {

/// How frame numbers become physical frames. A unit (page, segment or region) is used in one layout at a time.
enum class Layout : std::uint8_t {
  pages,     ///< each segment's frames scattered in runs: 4 KiB pages
  segments,  ///< each segment contiguous, the segments scattered: 2 MiB pages, driver memory of at most 2 MiB
  linear,    ///< number = physical frame: 1 GiB pages, greater driver memory
};

/// `count` pages with the frame numbers from `first` on.
struct FrameExtent {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  Layout layout = Layout::pages;

  std::uint64_t end() const { return first + count; }
  /// The `n` pages from page `from` of the extent on.
  FrameExtent part(std::uint64_t from, std::uint64_t n) const { return {first + from, n, layout}; }
  /// Whether `next` continues this extent, so that the two are one.
  bool continues_in(const FrameExtent& next) const { return layout == next.layout && end() == next.first; }
  friend bool operator==(const FrameExtent&, const FrameExtent&) = default;
};

/// Pages [first, end) of an extent.
struct PageSpan {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
};

class FrameLaw {
 public:
  static constexpr std::uint64_t segment_pages = 512;
  static constexpr std::uint64_t region_segments = 32;
  static constexpr std::uint64_t region_pages = segment_pages * region_segments;
  /// From this mean run length on, memory is contiguous.
  static constexpr double contiguous_run_pages = segment_pages;
  /// Frame 0. Below 4 GiB a PC keeps firmware and device windows.
  static constexpr Pa memory_start{std::uint64_t{1} << 32};

  /// Contiguous memory: number = physical frame in every layout.
  FrameLaw() = default;
  /// Runs of `run_pages` pages on average (pages divided by runs, over many segments); 1 sets every frame apart. At least 1.
  FrameLaw(std::uint64_t seed, double run_pages);

  /// Address of page `i` of the extent. O(1).
  Pa address(const FrameExtent&, std::uint64_t i) const;
  /// The physically contiguous pages of the extent around page `i`, as long as they can be. O(1).
  PageSpan run(const FrameExtent&, std::uint64_t i) const;
  /// How many such runs the extent has: O(1) for runs of one page and for huge pages, else one draw for each 512 pages.
  std::uint64_t count_runs(const FrameExtent&) const;
  /// How many whole segments of the extent lie contiguous. O(1) but where 4 KiB pages may lie in runs that long: then one draw a segment.
  std::uint64_t count_whole_segments(const FrameExtent&) const;
  /// Whether every run of the extent is one page, but where memory is contiguous.
  bool all_single(const FrameExtent& extent) const { return !contiguous_ && extent.layout == Layout::pages && all_apart(); }

 private:
  /// What was drawn for one segment.
  struct Draw {
    unsigned unit_log;         ///< runs have 2^unit_log pages
    std::uint64_t multiplier;  ///< run u lies in place multiplier*u + shift, modulo the number of runs
    std::uint64_t shift;
    std::uint64_t phase;  ///< pages of the first run that stand at the segment's end instead
  };

  /// Whether every run of 4 KiB pages is one page.
  bool all_apart() const { return small_log_ == 0 && small_share_ > 0xffffffff; }
  std::uint64_t draw_bits(std::uint64_t stream, std::uint64_t index) const;
  Draw draw(std::uint64_t segment) const;
  std::uint64_t place_of_segment(std::uint64_t segment) const;
  std::uint64_t frame(std::uint64_t number, Layout) const;

  bool contiguous_ = true;
  std::uint64_t seed_ = 0;
  unsigned small_log_ = 0, large_log_ = 0;  ///< the two run lengths that segments draw from
  std::uint64_t small_share_ = 0;           ///< chance of the smaller, in 2^-32
};

}  // namespace mtsim

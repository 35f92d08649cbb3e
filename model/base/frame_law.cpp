#include "base/frame_law.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace mtsim {
namespace {

constexpr std::uint64_t segment_stream = 1;
constexpr std::uint64_t region_stream = 2;

// Run lengths that a segment may draw. Half a segment is left out: two halves in either order meet again across the phase.
constexpr std::array<unsigned, 9> unit_logs{0, 1, 2, 3, 4, 5, 6, 7, 9};

/// Runs per page to expect of segments with runs of 2^log pages: a phase other than 0 cuts one run in two.
double runs_per_page(unsigned log) {
  const double unit = static_cast<double>(std::uint64_t{1} << log);
  const double segment = static_cast<double>(FrameLaw::segment_pages);
  return log == 9 ? 1 / segment : 1 / unit + (1 - 1 / unit) / segment;
}

/// One of `n` values, from `width` random bits: a multiplication where a division would do the same.
constexpr std::uint64_t scaled(std::uint64_t bits, unsigned width, std::uint64_t n) { return bits * n >> width; }

/// An odd multiplier other than 1 makes a permutation of 2^k places in which place p+1 never follows place p.
constexpr std::uint64_t odd_multiplier(std::uint64_t bits, unsigned width, std::uint64_t places) {
  return 3 + 2 * scaled(bits, width, places / 2 - 1);
}

}  // namespace

FrameLaw::FrameLaw(std::uint64_t seed, double run_pages) : contiguous_(run_pages >= contiguous_run_pages), seed_(seed) {
  assert(run_pages >= 1);
  if (contiguous_) return;
  std::size_t i = 0;
  while (i + 2 < unit_logs.size() && runs_per_page(unit_logs[i + 1]) >= 1 / run_pages) ++i;
  small_log_ = unit_logs[i];
  large_log_ = unit_logs[i + 1];
  const double few = runs_per_page(large_log_), many = runs_per_page(small_log_);
  const double share = std::clamp((1 / run_pages - few) / (many - few), 0.0, 1.0);
  small_share_ = static_cast<std::uint64_t>(share * 4294967296.0);
}

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): its finaliser turns a counter into well mixed bits.
std::uint64_t FrameLaw::draw_bits(std::uint64_t stream, std::uint64_t index) const {
  std::uint64_t z = seed_ * 0xd1342543de82ef95 + (index * 4 + stream) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

[[gnu::always_inline]] inline FrameLaw::Draw FrameLaw::draw(std::uint64_t segment) const {
  const std::uint64_t bits = draw_bits(segment_stream, segment);
  const unsigned log = (bits & 0xffffffff) < small_share_ ? small_log_ : large_log_;
  const std::uint64_t runs = segment_pages >> log;
  if (runs == 1) return {log, 1, 0, 0};
  const std::uint64_t phase = (bits >> 32 & 0xff) & ((std::uint64_t{1} << log) - 1);
  return {log, odd_multiplier(bits >> 40 & 0xff, 8, runs), (bits >> 48) & (runs - 1), phase};
}

[[gnu::always_inline]] inline std::uint64_t FrameLaw::place_of_segment(std::uint64_t segment) const {
  const std::uint64_t region = segment / region_segments;
  const std::uint64_t bits = draw_bits(region_stream, region);
  // A shift other than 0 keeps a region's first segment apart from the last one of the region before.
  const std::uint64_t shift = 1 + scaled(bits >> 32, 32, region_segments - 1);
  const std::uint64_t place = odd_multiplier(bits & 0xffff, 16, region_segments) * (segment % region_segments) + shift;
  return region * region_segments + place % region_segments;
}

[[gnu::always_inline]] inline std::uint64_t FrameLaw::frame(std::uint64_t number, Layout layout) const {
  if (contiguous_ || layout == Layout::linear) return number;
  const std::uint64_t segment = number / segment_pages;
  const std::uint64_t base = place_of_segment(segment) * segment_pages;
  const std::uint64_t within = number % segment_pages;
  if (layout == Layout::segments) return base + within;
  const Draw d = draw(segment);
  const std::uint64_t turned = (within + d.phase) % segment_pages;
  const std::uint64_t unit_mask = (std::uint64_t{1} << d.unit_log) - 1;
  const std::uint64_t place = d.multiplier * (turned >> d.unit_log) + d.shift;
  return base + ((place << d.unit_log) & (segment_pages - 1)) + (turned & unit_mask);
}

Pa FrameLaw::address(const FrameExtent& extent, std::uint64_t i) const {
  assert(i < extent.count);
  return memory_start + page_bytes * frame(extent.first + i, extent.layout);
}

PageSpan FrameLaw::run(const FrameExtent& extent, std::uint64_t i) const {
  assert(i < extent.count);
  if (contiguous_ || extent.layout == Layout::linear) return {0, extent.count};
  if (extent.layout == Layout::pages && all_apart()) return {i, i + 1};
  const std::uint64_t number = extent.first + i;
  std::uint64_t first = round_down(number, segment_pages);
  std::uint64_t end = first + segment_pages;
  if (extent.layout == Layout::pages) {
    const Draw d = draw(number / segment_pages);
    const std::uint64_t unit = std::uint64_t{1} << d.unit_log;
    const std::uint64_t turned = round_down(number - first + d.phase, unit);
    end = std::min(end, first + turned + unit - d.phase);
    if (turned > d.phase) first += turned - d.phase;
  }
  return {std::max(first, extent.first) - extent.first, std::min(end, extent.end()) - extent.first};
}

std::uint64_t FrameLaw::count_runs(const FrameExtent& extent) const {
  if (extent.count == 0) return 0;
  if (contiguous_ || extent.layout == Layout::linear) return 1;
  const std::uint64_t first_segment = extent.first / segment_pages;
  const std::uint64_t last_segment = (extent.end() - 1) / segment_pages;
  if (extent.layout == Layout::segments) return last_segment - first_segment + 1;
  if (all_apart()) return extent.count;
  std::uint64_t runs = 0;
  for (std::uint64_t segment = first_segment; segment <= last_segment; ++segment) {
    const std::uint64_t start = segment * segment_pages;
    const std::uint64_t low = std::max(start, extent.first) - start;
    const std::uint64_t last = std::min(start + segment_pages, extent.end()) - 1 - start;
    const Draw d = draw(segment);
    runs += ((last + d.phase) >> d.unit_log) - ((low + d.phase) >> d.unit_log) + 1;
  }
  return runs;
}

std::uint64_t FrameLaw::count_whole_segments(const FrameExtent& extent) const {
  const std::uint64_t first = ceil_div(extent.first, segment_pages), end = extent.end() / segment_pages;
  if (first >= end) return 0;
  if (contiguous_ || extent.layout != Layout::pages) return end - first;
  if (all_apart() || std::uint64_t{1} << large_log_ < segment_pages) return 0;
  std::uint64_t whole = 0;
  for (std::uint64_t segment = first; segment < end; ++segment) whole += std::uint64_t{1} << draw(segment).unit_log == segment_pages;
  return whole;
}

}  // namespace mtsim

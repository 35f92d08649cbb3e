#include "host/frame_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "base/error.h"
#include "base/quantity_text.h"
#include "base/sections.h"

namespace mtsim {
namespace {

const Sections::Entrant<FramePoolParams> declared;

constexpr Bytes region_bytes = page_bytes * FrameLaw::region_pages;

Layout layout_of(Leaf leaf) {
  switch (leaf) {
    case Leaf::page_4k:
      return Layout::pages;
    case Leaf::page_2m:
      return Layout::segments;
    case Leaf::page_1g:
      return Layout::linear;
  }
  return Layout::pages;
}

/// Frames that change between layouts together.
constexpr std::uint64_t unit_of(Layout layout) {
  return layout == Layout::linear ? FrameLaw::region_pages : layout == Layout::segments ? FrameLaw::segment_pages : 1;
}

}  // namespace

void FramePoolParams::declare(Declaration<FramePoolParams>& d) {
  d.section("host.memory", "The physical memory of a host.");
  d.field("size", &FramePoolParams::size)
      .standard("64GiB")
      .range("64MiB", "16TiB")
      .means("Memory of the host; a whole number of 64MiB regions.")
      .source("estimate: a small server");
  d.field("swap", &FramePoolParams::swap)
      .standard("8GiB")
      .range("0B", "16TiB")
      .means("Room for pages that are swapped out when memory runs short. Pinned pages never are.")
      .source("estimate: a small server");
  d.field("movable", &FramePoolParams::movable)
      .standard("0B")
      .range("0B", "16TiB")
      .means(
          "Memory that can only hold what can be moved (ZONE_MOVABLE), a whole number of 64MiB regions: memory of programs comes from "
          "there "
          "first, and moves elsewhere when it is pinned.")
      .source("Linux: none unless kernelcore=, movablecore= or hot-plugged memory say so");
  d.field("run_pages", &FramePoolParams::run_pages)
      .standard("1")
      .range("1", "1000000")
      .means(
          "Fragmentation: pages in a run of adjacent 4 KiB frames, on average; 1 sets every frame (and every 2 MiB page) apart, from 512 "
          "on memory is contiguous.")
      .source("the worst case; runs of 1 to 14 pages were seen when the traces in traces/recorded were taken");
  d.field("seed", &FramePoolParams::seed)
      .standard("1")
      .means("Seed of the law that says where the frames lie.")
      .source("any number; each gives another machine of the same kind");
}

FramePool::FramePool(const FramePoolParams& params)
    : law_(params.seed, params.run_pages),
      size_(params.size / page_bytes),
      free_(size_),
      swap_(params.swap / page_bytes),
      movable_(params.movable / page_bytes) {
  if (params.size.raw == 0 || params.size.raw % region_bytes.raw != 0)
    throw UserError(
        fmt::format("host.memory.size: {} is not a whole number of {} regions", text::show(params.size), text::show(region_bytes)));
  if (params.movable.raw % region_bytes.raw != 0 || params.movable >= params.size)
    throw UserError(
        fmt::format("host.memory.movable: {} is not a whole number of {} regions that leaves some of the {} of host.memory.size",
                    text::show(params.movable), text::show(region_bytes), text::show(params.size)));
  free_in(Layout::pages) += Interval(0, size_);
}

FrameExtent FramePool::take(Layout layout, std::uint64_t first, std::uint64_t count) {
  const Interval taken(first, first + count);
  free_in(layout) -= taken;
  holders_ += std::make_pair(taken, Count{1, 0});
  free_ -= count;
  return {first, count, layout};
}

std::vector<FrameExtent> FramePool::allocate(Leaf leaf, std::uint64_t leaves, Zone zone) {
  std::vector<FrameExtent> out;
  const auto among = [&](std::uint64_t low, std::uint64_t high) {
    leaves = leaf == Leaf::page_4k ? allocate_small(low, high, leaves, out) : allocate_great(leaf, low, high, leaves, out);
  };
  if (zone == Zone::movable_first && movable_ != 0) among(0, movable_);
  if (leaves != 0) among(movable_, size_);
  return out;
}

std::uint64_t FramePool::allocate_small(std::uint64_t low, std::uint64_t high, std::uint64_t leaves, std::vector<FrameExtent>& out) {
  // When no unit is free any more, small pages also go where driver memory and broken up huge pages have left gaps.
  for (const Layout layout : {Layout::pages, Layout::segments, Layout::linear})
    while (leaves > 0) {
      const auto lowest = free_in(layout).lower_bound(Interval(low, low + 1));
      if (lowest == free_in(layout).end() || lowest->lower() >= high) break;
      const std::uint64_t first = std::max(low, lowest->lower());
      const std::uint64_t count = std::min(leaves, std::min(high, lowest->upper()) - first);
      out.push_back(take(layout, first, count));
      leaves -= count;
    }
  return leaves;
}

std::uint64_t FramePool::allocate_great(Leaf leaf, std::uint64_t from, std::uint64_t to, std::uint64_t leaves,
                                        std::vector<FrameExtent>& out) {
  const std::uint64_t size = leaf_pages(leaf);
  Set& whole = free_in(Layout::pages);
  for (auto at = whole.upper_bound(Interval(to - 1, to)); leaves > 0 && at != whole.begin();) {
    --at;
    if (at->upper() <= from) break;
    const std::uint64_t low = round_up(std::max(from, at->lower()), size), high = round_down(std::min(to, at->upper()), size);
    if (low >= high) continue;
    const std::uint64_t count = std::min(leaves, (high - low) / size);
    const Interval taken(high - count * size, high);
    whole -= taken;
    free_in(layout_of(leaf)) += taken;
    out.push_back(take(layout_of(leaf), taken.lower(), count * size));
    leaves -= count;
    at = whole.lower_bound(taken);  // what is left of the interval lies below; gaps above were too small
  }
  return leaves;
}

std::optional<FrameExtent> FramePool::find_contiguous(Layout layout, std::uint64_t count, std::uint64_t align) {
  for (const Interval& gap : free_in(layout)) {
    std::uint64_t first = round_up(std::max(gap.lower(), movable_), align);
    // Neighbouring segments are not neighbours in memory.
    const std::uint64_t segment = FrameLaw::segment_pages;
    if (layout == Layout::segments && first / segment != (first + count - 1) / segment) first = round_up(first, segment);
    if (first + count <= gap.upper()) return take(layout, first, count);
  }
  return std::nullopt;
}

bool FramePool::open_units(Layout layout, std::uint64_t count, std::uint64_t align) {
  const std::uint64_t unit = unit_of(layout);
  const std::uint64_t need = round_up(count, unit), step = std::max(unit, align);
  Set& whole = free_in(Layout::pages);
  for (auto at = whole.end(); at != whole.begin();) {
    --at;
    if (at->upper() - at->lower() < need) continue;
    const std::uint64_t first = round_down(at->upper() - need, step);
    if (first < std::max(at->lower(), movable_)) continue;
    const Interval opened(first, first + need);
    whole -= opened;
    free_in(layout) += opened;
    return true;
  }
  return false;
}

std::optional<FrameExtent> FramePool::allocate_contiguous(Bytes size, Bytes align) {
  assert(size.raw > 0 && align.raw > 0 && (align.raw & (align.raw - 1)) == 0);
  const std::uint64_t count = ceil_div(size.raw, page_bytes.raw);
  const std::uint64_t align_pages = std::max<std::uint64_t>(1, align / page_bytes);
  const bool small = count <= FrameLaw::segment_pages && align_pages <= FrameLaw::segment_pages;
  const Layout layout = small ? Layout::segments : Layout::linear;
  if (auto found = find_contiguous(layout, count, align_pages)) return found;
  if (!open_units(layout, count, align_pages)) return std::nullopt;
  return find_contiguous(layout, count, align_pages);
}

void FramePool::add(const FrameExtent& extent, Count holders) {
  if (extent.count == 0) return;
  const Interval held(extent.first, extent.end());
  assert(boost::icl::contains(holders_, held));
  holders_ += std::make_pair(held, holders);
}

void FramePool::take_off(const FrameExtent& extent, Count holders) {
  if (extent.count == 0) return;
  const Interval released(extent.first, extent.end());
  assert(boost::icl::contains(holders_, released));
  holders_ -= std::make_pair(released, holders);
  Set gone(released);
  const auto [first, last] = holders_.equal_range(released);
  for (auto at = first; at != last; ++at) gone -= at->first;
  for (const Interval& freed : gone) give_back(extent.layout, freed);
}

std::vector<PageSpan> FramePool::held_once(const FrameExtent& extent) const {
  std::vector<PageSpan> out;
  const auto [low, high] = holders_.equal_range(Interval(extent.first, extent.end()));
  for (auto at = low; at != high; ++at) {
    if (at->second.mappings + at->second.pins != 1) continue;
    const std::uint64_t first = std::max(at->first.lower(), extent.first) - extent.first;
    const std::uint64_t end = std::min(at->first.upper(), extent.end()) - extent.first;
    if (!out.empty() && out.back().end == first) out.back().end = end;
    else out.push_back({first, end});
  }
  return out;
}

template <class Question>
FramePool::Alike FramePool::alike(const FrameExtent& extent, Question question) const {
  Alike out;
  // Frames up to `end` are so, or not: false when that ends the stretch.
  const auto goes_on = [&](std::uint64_t end, bool yes) {
    if (out.pages == 0) out.yes = yes;
    if (yes != out.yes) return false;
    out.pages = std::min(end, extent.end()) - extent.first;
    return true;
  };
  const auto [low, high] = holders_.equal_range(Interval(extent.first, extent.end()));
  for (auto at = low; at != high; ++at) {
    const bool gap = at->first.lower() > extent.first + out.pages;
    if (gap && !goes_on(at->first.lower(), question(Count{}))) return out;
    if (!goes_on(at->first.upper(), question(at->second))) return out;
  }
  goes_on(extent.end(), question(Count{}));
  return out;
}

FramePool::Alike FramePool::mapped_once(const FrameExtent& extent) const {
  return alike(extent, [](const Count& count) { return count.mappings == 1; });
}

FramePool::Alike FramePool::pinned(const FrameExtent& extent) const {
  return alike(extent, [](const Count& count) { return count.pins != 0; });
}

std::uint64_t FramePool::count_pinned(const FrameExtent& extent) const {
  std::uint64_t pages = 0;
  const auto [low, high] = holders_.equal_range(Interval(extent.first, extent.end()));
  for (auto at = low; at != high; ++at)
    if (at->second.pins != 0) pages += std::min(at->first.upper(), extent.end()) - std::max(at->first.lower(), extent.first);
  return pages;
}

void FramePool::give_back(Layout layout, const Interval& freed) {
  if (contents_ != nullptr) [[unlikely]]
    contents_->forget(freed.lower() * page_bytes.raw, (freed.upper() - freed.lower()) * page_bytes.raw);
  free_ += freed.upper() - freed.lower();
  Set& used = free_in(layout);
  used += freed;
  if (layout == Layout::pages) return;
  const auto joined = used.find(freed.lower());
  const std::uint64_t unit = unit_of(layout);
  const std::uint64_t low = round_up(joined->lower(), unit), high = round_down(joined->upper(), unit);
  if (low >= high) return;
  const Interval whole(low, high);
  used -= whole;
  free_in(Layout::pages) += whole;
}

}  // namespace mtsim

#include "host/page_table.h"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace mtsim {
namespace {

struct PageRange {
  PageRange(Va va, Bytes length) : first(va.raw / page_bytes.raw), end(first + pages_spanned(va.raw, length).raw) {}
  std::uint64_t first, end;
};

Va start_of(std::uint64_t page) { return Va(page * page_bytes.raw); }

/// Multiples of `step` in (first, end), counted from `origin`, which is not above `first`.
std::uint64_t boundaries(std::uint64_t origin, std::uint64_t first, std::uint64_t end, std::uint64_t step) {
  return (end - 1 - origin) / step - (first - origin) / step;
}

/// Parts into which leaves and batches, counted from page `origin`, cut the pages [first, end) of one extent of such leaves.
std::uint64_t grabs_of(std::uint64_t origin, std::uint64_t first, std::uint64_t end, Leaf leaf) {
  const std::uint64_t size = leaf_pages(leaf);
  if (size == 1) return end - first;
  const std::uint64_t leaf_cuts = boundaries(0, first, end, size);
  const std::uint64_t batch_cuts = boundaries(origin, first, end, pin_batch_pages);
  const std::uint64_t common = origin % pin_batch_pages == 0 ? leaf_cuts : 0;
  return 1 + leaf_cuts + batch_cuts - common;
}

}  // namespace

PageTable::Entries::const_iterator PageTable::holding(std::uint64_t page) const {
  const auto after = entries_.upper_bound(page);
  if (after == entries_.begin()) return entries_.end();
  const auto at = std::prev(after);
  return page < at->first + at->second.frames.count ? at : entries_.end();
}

void PageTable::map(Va va, const FrameExtent& frames, Leaf leaf, Sharing sharing) {
  if (frames.count == 0) return;
  const std::uint64_t page = va.raw / page_bytes.raw;
  assert(page % leaf_pages(leaf) == 0 && frames.count % leaf_pages(leaf) == 0);
  const auto after = entries_.lower_bound(page);
  assert(after == entries_.end() || page + frames.count <= after->first);
  if (after != entries_.begin()) {
    // First touch of page after page must not grow the map.
    auto& [first, before] = *std::prev(after);
    assert(first + before.frames.count <= page);
    if (first + before.frames.count == page && before.same_kind({frames, leaf, sharing}) && before.frames.continues_in(frames)) {
      before.frames.count += frames.count;
      return;
    }
  }
  entries_.emplace_hint(after, page, Entry{frames, leaf, sharing});
}

void PageTable::cut(std::uint64_t page) {
  const auto found = holding(page);
  if (found == entries_.end() || found->first == page) return;
  const std::uint64_t start = found->first;
  const Entry entry = found->second;
  const std::uint64_t end = start + entry.frames.count;
  entries_.erase(found);
  const auto put = [&](std::uint64_t from, std::uint64_t to, Leaf leaf) {
    if (from < to) entries_.emplace(from, Entry{entry.frames.part(from - start, to - from), leaf, entry.sharing});
  };
  const std::uint64_t size = leaf_pages(entry.leaf);
  const std::uint64_t below = round_down(page, size), above = round_up(page, size);
  put(start, below, entry.leaf);
  put(below, page, Leaf::page_4k);
  put(page, above, Leaf::page_4k);
  put(above, end, entry.leaf);
}

template <class Change>
void PageTable::change(std::uint64_t first, std::uint64_t end, Change change) {
  cut(first);
  cut(end);
  auto at = entries_.lower_bound(first);
  while (at != entries_.end() && at->first <= end) {
    if (at->first < end) change(at->second);
    if (at != entries_.begin()) {
      auto& [start, before] = *std::prev(at);
      if (start + before.frames.count == at->first && before.same_kind(at->second) && before.frames.continues_in(at->second.frames)) {
        before.frames.count += at->second.frames.count;
        at = entries_.erase(at);
        continue;
      }
    }
    ++at;
  }
}

void PageTable::split(std::uint64_t first, std::uint64_t end) {
  change(first, end, [](Entry& entry) { entry.leaf = Leaf::page_4k; });
}

void PageTable::share(std::uint64_t first, std::uint64_t end, Sharing sharing) {
  change(first, end, [&](Entry& entry) { entry.sharing = sharing; });
}

std::vector<FrameExtent> PageTable::unmap(Va va, Bytes length) {
  const PageRange range(va, length);
  cut(range.first);
  cut(range.end);
  std::vector<FrameExtent> out;
  auto at = entries_.lower_bound(range.first);
  while (at != entries_.end() && at->first < range.end) {
    out.push_back(at->second.frames);
    at = entries_.erase(at);
  }
  return out;
}

std::optional<PageTable::Hit> PageTable::lookup(Va va) const {
  const std::uint64_t page = va.raw / page_bytes.raw;
  const auto at = holding(page);
  if (at == entries_.end()) return std::nullopt;
  const Pa start = law_.address(at->second.frames, page - at->first);
  return Hit{start + Bytes(va.raw % page_bytes.raw), at->second.leaf};
}

std::optional<PageTable::Gap> PageTable::gap_around(std::uint64_t page, std::uint64_t low, std::uint64_t high) const {
  const auto after = entries_.upper_bound(page);
  Gap gap{low, after == entries_.end() ? high : std::min(high, after->first)};
  if (after != entries_.begin()) {
    const auto before = std::prev(after);
    const std::uint64_t end = before->first + before->second.frames.count;
    if (page < end) return std::nullopt;
    gap.first = std::max(low, end);
  }
  return gap;
}

std::uint64_t PageTable::present_until(std::uint64_t page) const {
  const auto at = holding(page);
  assert(at != entries_.end());
  return at->first + at->second.frames.count;
}

std::optional<PageTable::Part> PageTable::part_from(std::uint64_t page, std::uint64_t high) const {
  if (page >= high) return std::nullopt;
  auto at = holding(page);
  if (at == entries_.end()) at = entries_.lower_bound(page);
  if (at == entries_.end() || at->first >= high) return std::nullopt;
  const std::uint64_t low = std::max(page, at->first);
  const std::uint64_t end = std::min(high, at->first + at->second.frames.count);
  return Part{low, at->second.frames.part(low - at->first, end - low), at->second.leaf, at->second.sharing};
}

template <class Visit>
void PageTable::for_each_part(std::uint64_t first, std::uint64_t end, Visit visit) const {
  auto at = holding(first);
  if (at == entries_.end()) at = entries_.lower_bound(first);
  for (; at != entries_.end() && at->first < end; ++at) {
    const std::uint64_t low = std::max(first, at->first);
    const std::uint64_t high = std::min(end, at->first + at->second.frames.count);
    visit(low, at->second.frames.part(low - at->first, high - low), at->second.leaf);
  }
}

PageCounts PageTable::count(Va va, Bytes length) const {
  const PageRange range(va, length);
  PageCounts counts;
  counts.pages = counts.absent = range.end - range.first;
  std::vector<FrameExtent> stretch;
  std::uint64_t stretch_pages = 0, stretch_end = 0;
  const auto close_stretch = [&] {
    counts.runs += DmaMap(law_, stretch, Bytes(0), page_bytes * stretch_pages).count_runs();
    stretch.clear();
    stretch_pages = 0;
  };
  for_each_part(range.first, range.end, [&](std::uint64_t first, const FrameExtent& frames, Leaf leaf) {
    const std::uint64_t end = first + frames.count;
    counts.absent -= frames.count;
    counts.folios += ceil_div(end, leaf_pages(leaf)) - first / leaf_pages(leaf);
    counts.grabs += grabs_of(range.first, first, end, leaf);
    if (first != stretch_end) close_stretch();
    stretch.push_back(frames);
    stretch_pages += frames.count;
    stretch_end = end;
  });
  close_stretch();
  return counts;
}

DmaMap PageTable::dma_map(Va va, Bytes length) const {
  const PageRange range(va, length);
  std::vector<FrameExtent> extents;
  for_each_part(range.first, range.end, [&](std::uint64_t, const FrameExtent& frames, Leaf) { extents.push_back(frames); });
  return DmaMap(law_, extents, Bytes(va.raw % page_bytes.raw), length);
}

void PageTable::for_each_run(Va va, Bytes length, const std::function<void(Va, Pa, Bytes)>& visit) const {
  const PageRange range(va, length);
  const Va last = va + length;
  std::uint64_t page = range.first;
  while (page < range.end) {
    if (const auto gap = gap_around(page, page, range.end)) {
      page = gap->end;
      continue;
    }
    std::uint64_t end = page;
    while (end < range.end && holding(end) != entries_.end()) end = std::min(range.end, present_until(end));
    const Va from = std::max(va, start_of(page));
    const DmaMap map = dma_map(from, std::min(last, start_of(end)) - from);
    for (Bytes done{0}; done < map.length();) {
      const DmaRun run = map.at(done);
      visit(from + done, run.start, run.length);
      done += run.length;
    }
    page = end;
  }
}

}  // namespace mtsim

#include "base/present_map.h"

#include <algorithm>
#include <iterator>

namespace mtsim {

void PresentMap::cut(std::uint64_t page) {
  const auto after = entries_.upper_bound(page);
  if (after == entries_.begin()) return;
  auto& [first, entry] = *std::prev(after);
  const std::uint64_t end = first + entry.frames.count;
  if (page == first || page >= end) return;
  entries_.emplace(page, Entry{entry.frames.part(page - first, end - page), entry.writable});
  entry.frames.count = page - first;
}

std::vector<PresentMap::Part> PresentMap::clear(std::uint64_t first, std::uint64_t end) {
  std::vector<Part> out;
  if (first >= end) return out;
  cut(first);
  cut(end);
  for (auto at = entries_.lower_bound(first); at != entries_.end() && at->first < end; at = entries_.erase(at)) {
    out.push_back({at->first, at->second.frames, at->second.writable});
    pages_ -= at->second.frames.count;
  }
  return out;
}

void PresentMap::set(const Part& part) {
  if (part.frames.count == 0) return;
  clear(part.first, part.end());
  pages_ += part.frames.count;
  const auto after = entries_.lower_bound(part.first);
  if (after != entries_.begin()) {
    // Page after page must not grow the map.
    auto& [first, before] = *std::prev(after);
    if (first + before.frames.count == part.first && before.writable == part.writable && before.frames.continues_in(part.frames)) {
      before.frames.count += part.frames.count;
      return;
    }
  }
  entries_.emplace_hint(after, part.first, Entry{part.frames, part.writable});
}

void PresentMap::copy(const PresentMap& other, std::uint64_t first, std::uint64_t end) {
  clear(first, end);
  while (const auto part = other.part_from(first, end)) {
    set(*part);
    first = part->end();
  }
}

std::optional<PresentMap::Hit> PresentMap::at(std::uint64_t page) const {
  const auto after = entries_.upper_bound(page);
  if (after == entries_.begin()) return std::nullopt;
  const auto& [first, entry] = *std::prev(after);
  if (page - first >= entry.frames.count) return std::nullopt;
  return Hit{law_.address(entry.frames, page - first), entry.writable};
}

std::optional<PresentMap::Part> PresentMap::part_from(std::uint64_t page, std::uint64_t high) const {
  if (page >= high) return std::nullopt;
  auto at = entries_.upper_bound(page);
  if (at != entries_.begin() && page - std::prev(at)->first < std::prev(at)->second.frames.count) --at;
  if (at == entries_.end() || at->first >= high) return std::nullopt;
  const std::uint64_t low = std::max(page, at->first), end = std::min(high, at->first + at->second.frames.count);
  return Part{low, at->second.frames.part(low - at->first, end - low), at->second.writable};
}

}  // namespace mtsim

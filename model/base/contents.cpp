#include "base/contents.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace mtsim {

Contents::Part Contents::part_at(std::uint64_t at, std::uint64_t most) const {
  const auto after = extents_.upper_bound(at);
  if (after != extents_.begin()) {
    const auto& [first, extent] = *std::prev(after);
    if (at < extent.end) return {extent.number + (at - first), std::min(most, extent.end - at)};
  }
  return {0, after == extents_.end() ? most : std::min(most, after->first - at)};
}

/// No extent reaches over `at`.
void Contents::cut(std::uint64_t at) {
  const auto after = extents_.upper_bound(at);
  if (after == extents_.begin()) return;
  auto& [first, extent] = *std::prev(after);
  if (first == at || extent.end <= at) return;
  extents_.emplace_hint(after, at, Extent{extent.end, extent.number + (at - first)});
  extent.end = at;
}

void Contents::forget(std::uint64_t first, std::uint64_t length) {
  if (length == 0 || extents_.empty()) return;
  cut(first);
  cut(first + length);
  extents_.erase(extents_.lower_bound(first), extents_.lower_bound(first + length));
}

void Contents::put(std::uint64_t first, std::uint64_t length, std::uint64_t number) {
  forget(first, length);
  if (number == 0) return;
  auto at = extents_.emplace(first, Extent{first + length, number}).first;
  if (const auto next = std::next(at); next != extents_.end() && next->first == at->second.end && next->second.number == number + length) {
    at->second.end = next->second.end;
    extents_.erase(next);
  }
  if (at == extents_.begin()) return;
  const auto before = std::prev(at);
  if (before->second.end != first || before->second.number + (first - before->first) != number) return;
  before->second.end = at->second.end;
  extents_.erase(at);
}

void Contents::write(std::uint64_t first, std::uint64_t length) {
  if (length == 0) return;
  // A number is left out, so that this write never looks like the rest of the one before it.
  const std::uint64_t number = ++next_;
  next_ += length;
  put(first, length, number);
}

void Contents::copy(const Contents& from, std::uint64_t first, std::uint64_t length, std::uint64_t to) {
  forget(to, length);
  if (from.empty()) return;
  std::vector<Part> parts;
  for (std::uint64_t done = 0; done < length; done += parts.back().length) parts.push_back(from.part_at(first + done, length - done));
  for (const Part& part : parts) {
    put(to, part.length, part.number);
    to += part.length;
  }
}

bool Contents::same(std::uint64_t first, std::uint64_t length, const Contents& other, std::uint64_t there) const {
  while (length != 0) {
    const Part here = part_at(first, length), its = other.part_at(there, length);
    if (here.number != its.number) return false;
    const std::uint64_t alike = std::min(here.length, its.length);
    first += alike;
    there += alike;
    length -= alike;
  }
  return true;
}

}  // namespace mtsim

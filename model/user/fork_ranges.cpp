#include "user/fork_ranges.h"

#include <algorithm>

namespace mtsim::user {

ForkRanges::Range ForkRanges::pages_of(Va address, Bytes length, Bytes page) {
  const std::uint64_t start = round_down(address.raw, page.raw);
  return {Va(start), Bytes(round_up(address.raw + length.raw, page.raw) - start)};
}

void ForkRanges::add(const Range& range) { users_ += std::make_pair(interval(range), std::uint32_t{1}); }
void ForkRanges::remove(const Range& range) { users_ -= std::make_pair(interval(range), std::uint32_t{1}); }

std::vector<ForkRanges::Range> ForkRanges::used_times(const Range& range, std::uint32_t times) const {
  std::vector<Range> out;
  std::uint64_t at = range.start.raw;
  const std::uint64_t end = at + range.length.raw;
  const auto note = [&](std::uint64_t first, std::uint64_t last, std::uint32_t users) {
    if (users == times && first < last) out.push_back({Va(first), Bytes(last - first)});
  };
  const auto [low, high] = users_.equal_range(interval(range));
  for (auto part = low; part != high; ++part) {
    note(at, std::max(at, part->first.lower()), 0);
    at = std::max(at, part->first.lower());
    note(at, std::min(end, part->first.upper()), part->second);
    at = std::min(end, part->first.upper());
  }
  note(at, end, 0);
  return out;
}

}  // namespace mtsim::user

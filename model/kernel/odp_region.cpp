#include "kernel/odp_region.h"

#include <algorithm>

namespace mtsim::kernel {
namespace {

constexpr std::uint64_t unit = 8;  // MLX5_UMR_FLEX_ALIGNMENT: entries of 8 bytes in 64

}  // namespace

EntryRange written_entries(EntryRange entries, std::uint64_t table) {
  const std::uint64_t before = entries.first % unit, first = entries.first - before;
  return {first, std::min(round_up(entries.count + before, unit), table - first)};
}

std::vector<EntryRange> zapped_runs(const OdpRegion& region, std::uint64_t first, std::uint64_t end) {
  std::vector<EntryRange> runs;
  const std::uint64_t each = region.each();
  bool open = false;
  std::uint64_t start = 0, present_end = first;
  while (const auto part = region.pages->part_from(present_end * each, end * each)) {
    const std::uint64_t from = part->first / each;
    if (open && round_up(present_end, unit) < from) {
      runs.push_back({start, round_up(present_end, unit) - start});
      open = false;
    }
    if (!open) start = from;
    open = true;
    present_end = ceil_div(part->end(), each);
  }
  if (open) {
    const std::uint64_t hole = round_up(present_end, unit);
    // Up to the end of the range, present or not, where no hole has ended it.
    runs.push_back({start, (hole < end && present_end < end ? hole : end) - start});
  }
  return runs;
}

translate::Region table_of(const OdpRegion& region) {
  translate::Region out;
  out.grant = {region.key, region.pd, region.access, region.iova, region.length, true};
  out.grant.identity = region.identity;
  out.block = Bytes(std::uint64_t{1} << region.shift);
  if (region.implicit) out.keys = implicit_region_keys;
  else out.present = region.pages;
  return out;
}

}  // namespace mtsim::kernel

#include "translate/process_tables.h"

namespace mtsim::translate {

ProcessTables::ProcessTables(const ArchitectureOptions& options)
    : ContextTable(options, Place::host, options.mtt_line), per_line_(options.mtt_line / entry_bytes), area_lines_(0) {
  for (std::uint32_t level = 0; level < levels; ++level) area_lines_ += lines_of(level);
  const std::uint64_t contexts = options.contexts * context_bytes.raw;
  lines_ = (options.space.length.raw - std::min(options.space.length.raw, contexts)) / options.mtt_line.raw;
}

bool ProcessTables::lay_out(const Region& region, Layout& out) {
  if (region.keys != 0 || !region.map) return false;
  out.own_walk = out.shared = true;
  out.levels = levels;
  const std::uint64_t first = first_byte(region) / page_bytes.raw, end = first + region.map->pages().raw;
  for (std::uint64_t area = first >> area_shift; area << area_shift < end; ++area) {
    const std::uint64_t place = areas_.emplace(std::pair{space(region), area}, areas_.size()).first->second;
    if ((place + 1) * area_lines_ > lines_) {
      areas_.erase({space(region), area});
      return false;
    }
    std::uint64_t at = place * area_lines_;
    const std::uint64_t low = std::max(first, area << area_shift), high = std::min(end, (area + 1) << area_shift);
    for (std::uint32_t level = 0; level < levels; ++level) {
      const auto line = [&](std::uint64_t page) { return ((page - (area << area_shift)) >> span_shift(level)) / per_line_; };
      out.arrays.push_back({at + line(low), line(high - 1) - line(low) + 1, at, mtt});
      at += lines_of(level);
    }
  }
  return true;
}

std::uint32_t ProcessTables::leaf_level(const Region& region, std::uint64_t page) const {
  const FrameExtent frame = region.map->frame(page - first_byte(region) / page_bytes.raw);
  const std::uint64_t askew = frame.first - page;
  if (frame.layout == mtsim::Layout::linear && askew % (GiB(1) / page_bytes) == 0) return levels - 3;
  if (frame.layout != mtsim::Layout::pages && askew % (MiB(2) / page_bytes) == 0) return levels - 2;
  return levels - 1;
}

std::uint64_t ProcessTables::line_for(const Region& region, const Layout& layout, std::uint32_t level, std::uint64_t page) const {
  const std::uint64_t area = (page >> area_shift) - (first_byte(region) / page_bytes.raw >> area_shift);
  const std::uint64_t within = page & ((std::uint64_t{1} << area_shift) - 1);
  return layout.arrays[area * levels + level].mark + (within >> span_shift(level)) / per_line_;
}

std::uint64_t ProcessTables::locate(const Region& region, const Layout&, Iova address) const {
  return (first_byte(region) + (address.raw - region.grant.start.raw)) / page_bytes.raw;
}

Bytes ProcessTables::entry_rest(const Region& region, const Layout& layout, Iova address) const {
  const std::uint64_t at = first_byte(region) + (address.raw - region.grant.start.raw);
  const std::uint64_t size = page_bytes.raw << span_shift(leaf_level(region, locate(region, layout, address)));
  return Bytes(size - at % size);
}

}  // namespace mtsim::translate

#include "translate/child_keys.h"

namespace mtsim::translate {

ChildKeys::ChildKeys(const ArchitectureOptions& options)
    : ContextTable(options, Place::host, options.mtt_line, options.contexts), child_(options.child) {
  set_ranges(std::make_unique<FirstFit>(units()));
}

bool ChildKeys::lay_out(const Region& region, Layout& out) {
  out.entries = region.blocks();
  const std::vector<std::uint64_t> pieces = region.keys != 0 || !region.map ? std::vector<std::uint64_t>{0} : cut(region);
  if (pieces.size() <= 1) {
    out.levels = 1;
    out.arrays.resize(1);
    return take(out.entries, out.arrays[0]);
  }
  out.own_walk = true;
  out.levels = 3;
  Array array;
  const std::uint64_t entries = pieces.size() * (child_entry / entry_bytes);
  if (!take(entries, array)) return false;
  out.arrays.push_back(array);
  if (!take_contexts(pieces.size(), array)) return false;
  out.arrays.push_back(array);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::uint64_t end = i + 1 == pieces.size() ? region.blocks() : pieces[i + 1];
    if (!take(end - pieces[i], array)) return false;
    array.mark = pieces[i];
    out.arrays.push_back(array);
  }
  out.entries += entries + pieces.size() * (context_bytes / entry_bytes);
  return true;
}

std::uint64_t ChildKeys::locate(const Region& region, const Layout& layout, Iova address) const {
  const std::uint64_t block = (address.raw + region.lead.raw) / region.block.raw - region.start().raw / region.block.raw;
  const auto child = std::upper_bound(layout.arrays.begin() + first_child, layout.arrays.end(), block,
                                      [](std::uint64_t wanted, const Array& array) { return wanted < array.mark; });
  return static_cast<std::uint64_t>(child - layout.arrays.begin() - first_child - 1) << piece_shift | block;
}

std::uint64_t ChildKeys::line_at(const Region&, const Layout& layout, std::uint32_t level, std::uint64_t memo) const {
  const std::uint64_t piece = piece_of(memo);
  const std::uint32_t lines = reads_of_list(memo);
  if (level < lines) return layout.arrays[list].first_line + list_line(piece) - (lines - 1 - level);
  if (level == lines) return layout.arrays[contexts].first_line + (piece >> context_shift());
  const Array& child = layout.arrays[first_child + piece];
  return child.first_line + ((block_of(memo) - child.mark) >> entries_shift());
}

Bytes ChildKeys::entry_rest(const Region& region, const Layout&, Iova address) const {
  return region.block - Bytes((address.raw + region.lead.raw) % region.block.raw);
}

}  // namespace mtsim::translate

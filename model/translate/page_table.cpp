// A page table like that of a CPU: tables of 512 entries that are found by the bits of the page number, up to four levels of them, with
// leaves of 4 KiB, 2 MiB and 1 GiB at the three lowest. It is as high as the region needs: its root is the lowest table that all of its
// addresses share, and the context says where that is. A cold look-up reads the context and a line of each level down to its leaf: of L
// levels, all for a leaf of 4 KiB, one less for 2 MiB, two less for 1 GiB. Tables of a level lie in a row.
#include "translate/context_table.h"

namespace mtsim::translate {
namespace {

constexpr unsigned table_shift = 9, most_levels = 4, most_leaf = 2;
constexpr std::uint64_t table_entries = 1u << table_shift;
/// Page numbers below an entry of a table at `height`, as a power of two.
constexpr unsigned span_shift(unsigned height) { return table_shift * height; }

class PageTable : public ContextTable {
 public:
  explicit PageTable(const ArchitectureOptions& options) : ContextTable(options, Place::host, page_bytes) {
    set_ranges(std::make_unique<FirstFit>(units()));
  }
  std::uint64_t block_sizes() const override { return page_bytes.raw | MiB(2).raw | GiB(1).raw; }
  bool mixes_block_sizes() const override { return true; }

 private:
  struct Span {
    std::uint64_t first, end;  ///< pages, by their numbers
  };
  static Span span(const Region& region) {
    const std::uint64_t first = region.start().raw / page_bytes.raw;
    return {first, first + region.map->pages().raw};
  }

  /// Height of the leaf that maps a page: 0, 1 or 2 for 4 KiB, 2 MiB and 1 GiB.
  static unsigned leaf(const Region& region, std::uint64_t page) {
    if (region.block_sizes == 0) return region.block >= GiB(1) ? 2 : region.block >= MiB(2) ? 1 : 0;
    for (unsigned height = most_leaf; height != 0; --height)
      if (is_leaf(region, page >> span_shift(height), height)) return height;
    return 0;
  }
  /// Whether one entry at `height` maps all of the pages below it, of which `number` is the number.
  static bool is_leaf(const Region& region, std::uint64_t number, unsigned height) {
    const Bytes size = page_bytes * (std::uint64_t{1} << span_shift(height));
    if (region.block_sizes == 0) return region.block >= size;
    const Span all = span(region);
    const std::uint64_t first = number << span_shift(height);
    if ((region.block_sizes & size.raw) == 0 || first < all.first || first + size / page_bytes > all.end) return false;
    const DmaRun run = region.map->run_from(first - all.first);
    return run.length >= size && run.start.raw % size.raw == 0;
  }
  /// Tables at `height` among the places for them from `first` to `end`, counted from the region's first: those that no leaf stands for.
  static std::uint64_t count_tables(const Region& region, unsigned height, std::uint64_t first, std::uint64_t end) {
    if (height >= most_leaf) return end - first;
    const std::uint64_t base = span(region).first >> span_shift(height + 1);
    std::uint64_t tables = 0;
    for (std::uint64_t place = first; place < end; ++place) {
      bool covered = false;
      for (unsigned above = height + 1; above <= most_leaf && !covered; ++above)
        covered = is_leaf(region, (base + place) >> span_shift(above - height - 1), above);
      tables += !covered;
    }
    return tables;
  }

  bool lay_out(const Region& region, Layout& out) override {
    out.own_walk = true;
    const Span all = span(region);
    if (all.first == all.end) return true;
    while (all.first >> span_shift(out.levels) != (all.end - 1) >> span_shift(out.levels))
      if (++out.levels > most_levels) return false;
    for (unsigned height = out.levels; height-- != 0;) {
      const std::uint64_t places = ((all.end - 1) >> span_shift(height + 1)) - (all.first >> span_shift(height + 1)) + 1;
      out.counts.emplace_back(places, 1, [&](std::uint64_t first, std::uint64_t end) { return count_tables(region, height, first, end); });
      Array array;
      if (!take(out.counts.back().total() * table_entries, array)) return false;
      out.arrays.push_back(array);
      out.entries += out.counts.back().total() * table_entries;
    }
    return true;
  }

  std::uint64_t locate(const Region& region, const Layout&, Iova address) const override {
    return (address.raw + region.lead.raw) / page_bytes.raw;
  }
  std::uint32_t levels_of(const Region& region, const Layout& layout, std::uint64_t page) const override {
    const unsigned leaf_height = leaf(region, page);
    return layout.levels > leaf_height ? layout.levels - leaf_height : 0;
  }
  std::uint64_t line_at(const Region& region, const Layout& layout, std::uint32_t level, std::uint64_t page) const override {
    const unsigned height = layout.levels - 1 - level;
    const std::uint64_t place = (page >> span_shift(height + 1)) - (span(region).first >> span_shift(height + 1));
    const std::uint64_t table = layout.counts[level].before(
        place, [&](std::uint64_t first, std::uint64_t end) { return count_tables(region, height, first, end); });
    const std::uint64_t entry = table * table_entries + (page >> span_shift(height)) % table_entries;
    return layout.arrays[level].first_line + (entry >> entries_shift());
  }
  Bytes entry_rest(const Region& region, const Layout&, Iova address) const override {
    const std::uint64_t at = address.raw + region.lead.raw;
    const std::uint64_t size = page_bytes.raw << span_shift(leaf(region, at / page_bytes.raw));
    return Bytes(size - at % size);
  }
};

const Architectures::Entrant entrant("page_table", "Up to four levels of 512 entries with leaves of 4 KiB, 2 MiB and 1 GiB, as a CPU has.",
                                     [](const ArchitectureOptions& options) { return std::make_unique<PageTable>(options); });

}  // namespace
}  // namespace mtsim::translate

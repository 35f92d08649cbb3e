// Radix tables (hns, Linux hw/hns/hns_roce_mr.c and hns_roce_hem.c): tables of 512 entries, as many levels ("hops") as the region needs,
// chosen by region: up to 2 blocks stand in the context itself, 512 need one level, 2^18 two, 2^27 three. A cold look-up reads the context
// and then one line of each level. Tables of a level lie in a row here; in life each is a page of its own.
#include <bit>

#include "translate/context_table.h"

namespace mtsim::translate {
namespace {

constexpr std::uint64_t in_context = 2;
constexpr unsigned table_shift = 9, most_levels = 3;

class Radix : public ContextTable {
 public:
  explicit Radix(const ArchitectureOptions& options) : ContextTable(options, Place::host, page_bytes) {
    set_ranges(std::make_unique<FirstFit>(units()));
  }

 private:
  bool lay_out(const Region& region, Layout& out) override {
    const std::uint64_t blocks = region.blocks();
    if (blocks <= in_context) return true;
    while ((std::uint64_t{1} << table_shift * out.levels) < blocks) ++out.levels;
    if (out.levels > most_levels) return false;
    for (std::uint32_t level = 0; level < out.levels; ++level) {
      // Entries of the level: blocks at the last, tables of the next above it.
      const std::uint64_t entries = ((blocks - 1) >> table_shift * (out.levels - 1 - level)) + 1;
      Array array;
      if (!take(entries, array)) return false;
      out.arrays.push_back(array);
      out.entries += entries;
    }
    return true;
  }
  std::uint64_t line_of(const Layout& layout, std::uint32_t level, std::uint64_t block) const override {
    return layout.arrays[level].first_line + ((block >> table_shift * (layout.levels - 1 - level)) >> entries_shift());
  }
};

const Architectures::Entrant entrant("radix", "Tables of 512 entries, as many levels as the region needs (hns).",
                                     [](const ArchitectureOptions& options) { return std::make_unique<Radix>(options); });

}  // namespace
}  // namespace mtsim::translate

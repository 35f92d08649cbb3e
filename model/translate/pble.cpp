// irdma's physical buffer lists (Linux hw/irdma/pble.c, verbs.c): a region that is contiguous in memory needs none, its context says its
// address (level 0); otherwise its entries (PBLEs) stand in a row of one 2 MiB chunk (level 1), or, where no chunk has room for them, in
// leaves of 512 that a root names (level 2). A cold look-up reads the context, then the root if there is one, then the entry's line.
#include <algorithm>
#include <bit>

#include "translate/context_table.h"

namespace mtsim::translate {
namespace {

constexpr std::uint64_t leaf_entries = 512;  // PBLE_PER_PAGE
constexpr Bytes chunk = MiB(2);

class Pble : public ContextTable {
 public:
  explicit Pble(const ArchitectureOptions& options) : ContextTable(options, Place::host, options.mtt_line) {
    set_ranges(std::make_unique<FirstFit>(units(), chunk / unit()));
  }

 private:
  bool lay_out(const Region& region, Layout& out) override {
    if (contiguous(*region.map)) return true;
    const std::uint64_t blocks = out.entries = region.blocks();
    out.levels = 1;
    out.arrays.resize(1);
    if (take(blocks, out.arrays[0])) return true;
    if (blocks <= leaf_entries) return false;
    out.levels = 2;
    const std::uint64_t leaves = ceil_div(blocks, leaf_entries);
    if (!take(leaves, out.arrays[0])) return false;
    out.entries += leaves;
    for (std::uint64_t leaf = 0; leaf < leaves; ++leaf) {
      Array array;
      if (!take(std::min(leaf_entries, blocks - leaf * leaf_entries), array)) return false;
      out.arrays.push_back(array);
    }
    return true;
  }
  std::uint64_t line_of(const Layout& layout, std::uint32_t level, std::uint64_t block) const override {
    const std::uint64_t leaf = block / leaf_entries;
    if (level == 0) return layout.arrays[0].first_line + (leaf >> entries_shift());
    return layout.arrays[1 + leaf].first_line + (block % leaf_entries >> entries_shift());
  }
  static bool contiguous(const DmaMap& map) {
    unsigned runs = 0;
    map.for_each_run([&](const DmaRun&) { return ++runs < 2; });
    return runs < 2;
  }
};

const Architectures::Entrant entrant("pble", "No table, one row of entries, or leaves of 512 under a root, as memory allows (irdma).",
                                     [](const ArchitectureOptions& options) { return std::make_unique<Pble>(options); });

}  // namespace
}  // namespace mtsim::translate

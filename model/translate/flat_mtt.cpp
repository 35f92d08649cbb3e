// Flat MTT (mlx5, mlx4): an mkey context names a contiguous array of 8-byte entries, one for each block of the region. A cold look-up
// reads the context (MPT), then the one line of the array (MTT) that holds the entry: two dependent reads.
#include "translate/context_table.h"

namespace mtsim::translate {
namespace {

class FlatMtt : public ContextTable {
 public:
  /// mlx4 gives out powers of two of segments of 8 entries (MLX4_MTT_ENTRY_PER_SEG), that is 64 bytes.
  explicit FlatMtt(const ArchitectureOptions& options)
      : ContextTable(options, Place::host, options.allocation == Allocation::buddy ? Bytes(64) : options.mtt_line) {
    if (options.allocation == Allocation::buddy) set_ranges(std::make_unique<Buddy>(units()));
    else set_ranges(std::make_unique<FirstFit>(units()));
  }

  bool changes_entries() const override { return true; }

 private:
  bool lay_out(const Region& region, Layout& out) override {
    out.levels = 1;
    out.entries = region.blocks();
    out.arrays.resize(1);
    return take(out.entries, out.arrays[0]);
  }
};

const Architectures::Entrant entrant("flat_mtt", "One contiguous array of 8-byte entries a region (mlx5, mlx4).",
                                     [](const ArchitectureOptions& options) { return std::make_unique<FlatMtt>(options); });

}  // namespace
}  // namespace mtsim::translate

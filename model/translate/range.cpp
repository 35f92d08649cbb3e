// Segment table (US patent 7,836,274, Broadcom): one entry of 16 bytes for each contiguous run of the region, however long it is, in order
// of addresses. Above the entries stands an index of nodes that are as large as a line and so have line / 16 entries, each of which says
// where a node below begins. A cold look-up reads the context, which holds the run itself where there is only one, then a node of each
// level: as many as it takes to single out one of n runs, ceil(log of n to the base line / 16).
#include "translate/context_table.h"

namespace mtsim::translate {
namespace {

constexpr Bytes run_bytes{16};

class RangeTable : public ContextTable {
 public:
  explicit RangeTable(const ArchitectureOptions& options)
      : ContextTable(options, Place::host, options.mtt_line), fan_out_(options.mtt_line / run_bytes) {
    set_ranges(std::make_unique<FirstFit>(units()));
  }
  bool mixes_block_sizes() const override { return true; }
  Bytes least_line() const override { return run_bytes * 2; }

 private:
  bool lay_out(const Region& region, Layout& out) override {
    out.own_walk = true;
    const DmaMap& map = *region.map;
    const std::uint64_t pages = map.pages().raw;
    out.counts.emplace_back(pages, FrameLaw::segment_pages,
                            [&map](std::uint64_t first, std::uint64_t end) { return map.count_starts(first, end); });
    const std::uint64_t runs = out.counts[0].total();
    if (runs <= 1) return true;
    // From the runs up to the root, which comes first.
    for (std::uint64_t entries = runs;; entries = ceil_div(entries, fan_out_)) {
      Array array;
      const std::uint64_t words = entries * (run_bytes / entry_bytes);
      if (!take(words, array)) return false;
      out.arrays.insert(out.arrays.begin(), array);
      out.entries += words;
      ++out.levels;
      if (entries <= fan_out_) return true;
    }
  }

  /// The number of the run.
  std::uint64_t locate(const Region& region, const Layout& layout, Iova address) const override {
    const DmaMap& map = *region.map;
    const std::uint64_t page = (map.lead().raw + address.raw - region.grant.start.raw) / page_bytes.raw;
    const auto count = [&map](std::uint64_t first, std::uint64_t end) { return map.count_starts(first, end); };
    return layout.counts[0].before(page, count) + map.count_starts(page, page + 1) - 1;
  }
  std::uint64_t line_at(const Region&, const Layout& layout, std::uint32_t level, std::uint64_t run) const override {
    std::uint64_t node = run / fan_out_;
    for (std::uint32_t below = layout.levels - 1 - level; below != 0; --below) node /= fan_out_;
    return layout.arrays[level].first_line + node;
  }

  std::uint64_t fan_out_;
};

const Architectures::Entrant entrant("range", "One entry for each contiguous run, found by an index of nodes as large as a line.",
                                     [](const ArchitectureOptions& options) { return std::make_unique<RangeTable>(options); });

}  // namespace
}  // namespace mtsim::translate

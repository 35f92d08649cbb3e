// Flat MTT in mapped ICM (mlx4, Linux net/mlx4/icm.c): contexts and entries have addresses of the device's own (ICM), and a map in host
// memory says where each page of them lies. So an entry of that map, 8 bytes, is read before the context and before the entry's line: up to
// four reads one after the other, two where the map's lines are cached. The map stands at the end of the table space and does not change.
#include "translate/context_table.h"

namespace mtsim::translate {
namespace {

class MappedIcm : public ContextTable {
 public:
  explicit MappedIcm(const ArchitectureOptions& options)
      : ContextTable(without_map(options), Place::host, options.allocation == Allocation::buddy ? Bytes(64) : options.mtt_line),
        base_(options.space.base),
        map_(options.space.base + without_map(options).space.length),
        page_(options.icm_page),
        line_(options.icm_line),
        icm_(add_kind({"icm", options.icm_line, false})) {
    if (options.allocation == Allocation::buddy) set_ranges(std::make_unique<Buddy>(units()));
    else set_ranges(std::make_unique<FirstFit>(units()));
  }

  void step(Walk& walk, Content content, Step& out) const override {
    const std::uint32_t stage = walk.stage & ~mapped;
    const bool map_read = (walk.stage & mapped) != 0;
    walk.stage = stage;
    ContextTable::step(walk, content, out);
    if (map_read || out.kind != Step::Kind::read) return;
    // The read is put off until its page is known, and asked for anew then.
    walk.stage = stage | mapped;
    out.line_kind = icm_;
    out.tag = (out.address - base_) / page_ * entry_bytes.raw / line_.raw;
    out.address = map_ + line_ * out.tag;
  }
  /// What a line of the map is read for is known beforehand.
  bool skip(Walk& walk, std::uint32_t deeper, Step& out) const override {
    if ((walk.stage & mapped) == 0 || deeper != 1) return false;
    walk.stage &= ~mapped;
    ContextTable::step(walk, 0, out);
    return true;
  }
  Content content(std::uint32_t line_kind, std::uint64_t tag) const override {
    return line_kind == icm_ ? 0 : ContextTable::content(line_kind, tag);
  }

 private:
  static constexpr std::uint32_t mapped = 1u << 31;  ///< in the stage: the map has been read

  static ArchitectureOptions without_map(ArchitectureOptions options) {
    const Bytes map{ceil_div(options.space.length.raw, options.icm_page.raw) * entry_bytes.raw};
    options.space.length = options.space.length - Bytes(round_up(map.raw, page_bytes.raw));
    return options;
  }
  bool lay_out(const Region& region, Layout& out) override {
    out.levels = 1;
    out.entries = region.blocks();
    out.arrays.resize(1);
    return take(out.entries, out.arrays[0]);
  }

  Pa base_, map_;
  Bytes page_, line_;
  std::uint32_t icm_;
};

const Architectures::Entrant entrant("mapped_icm", "A flat array a region, reached like its context through a map in host memory (mlx4).",
                                     [](const ArchitectureOptions& options) { return std::make_unique<MappedIcm>(options); });

}  // namespace
}  // namespace mtsim::translate

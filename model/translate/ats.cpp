// Address translation services (PCIe ATS, as HPE's Cassini uses them): no table of the NIC's own. The context has the rights and the
// region's place in the IOMMU's domain; the NIC asks the root complex's IOMMU, which looks in its IOTLB or walks its page table, and keeps
// the answer in a device TLB (nic.mtt_cache plays it). A cold look-up is a read of the context and one request. An answer has 8 bytes a
// translation, of a page of 4 KiB or, by its S bit, of 2 MiB or 1 GiB, whatever entry the IOMMU's table has: a line of 64 bytes has those
// of eight neighbours. When a region ends, the device TLB forgets its pages. Payload then goes with translated addresses, past the IOMMU.
#include "translate/process_tables.h"

namespace mtsim::translate {
namespace {

class Ats : public ProcessTables {
 public:
  explicit Ats(const ArchitectureOptions& options) : ProcessTables(options) { entries_are_translations(); }
  HostTables host_tables() const override { return HostTables::iommu; }
  /// Neighbours in number are no neighbours in address.
  std::uint64_t lines(std::uint32_t line_kind) const override { return line_kind == mtt ? 0 : ContextTable::lines(line_kind); }

  void step(Walk& walk, Content content, Step& out) const override {
    ContextTable::step(walk, content, out);
    // It is the address that is sent, not that of an entry.
    if (out.kind == Step::Kind::read && out.line_kind == mtt) out.address = Pa(walk.memo * page_bytes.raw);
  }

 private:
  /// Where there is no IOMMU's domain, it is by the addresses of the process that translations are asked for.
  std::uint64_t first_byte(const Region& region) const override {
    return region.frames && region.map->pages().raw != 0 ? region.map->page(0).raw + region.map->lead().raw
                                                         : ProcessTables::first_byte(region);
  }
  std::uint32_t space(const Region& region) const override { return region.frames ? 0 : region.process; }
  std::uint32_t leaf_level(const Region& region, std::uint64_t page) const override {
    if (!region.frames) return ProcessTables::leaf_level(region, page);
    const std::uint64_t first = first_byte(region) / page_bytes.raw, end = first + region.frames->pages().raw;
    for (std::uint32_t level = levels - 3; level < levels - 1; ++level) {
      const std::uint64_t size = (level == levels - 3 ? GiB(1) : MiB(2)) / page_bytes, begin = page / size * size;
      if ((region.frame_entries & (page_bytes * size).raw) == 0 || begin < first || begin + size > end) continue;
      const DmaRun run = region.frames->run_from(begin - first);
      if (run.length >= page_bytes * size && run.start.raw % (page_bytes * size).raw == 0) return level;
    }
    return levels - 1;
  }
  std::uint32_t levels_of(const Region&, const Layout&, std::uint64_t) const override { return 1; }
  std::uint64_t line_at(const Region& region, const Layout& layout, std::uint32_t, std::uint64_t page) const override {
    return line_for(region, layout, leaf_level(region, page), page);
  }
};

const Architectures::Entrant entrant("ats", "No table: translations come from the host's IOMMU on request (PCIe ATS).",
                                     [](const ArchitectureOptions& options) { return std::make_unique<Ats>(options); });

}  // namespace
}  // namespace mtsim::translate

// No table of the NIC's own: it walks the process's page table. A cold look-up reads the context and then a line of each level from the
// root to the leaf: four for a page of 4 KiB, three for 2 MiB, two for 1 GiB. Nobody builds this, since the pages may go at any time (and
// are taken to stay here); it is what every other architecture is to be measured against. With no lines in nic.mtt_cache that is so on
// every transfer.
#include "translate/process_tables.h"

namespace mtsim::translate {
namespace {

class ProcessPageTable : public ProcessTables {
 public:
  explicit ProcessPageTable(const ArchitectureOptions& options) : ProcessTables(options) {}
  HostTables host_tables() const override { return HostTables::process; }

 private:
  std::uint32_t levels_of(const Region& region, const Layout&, std::uint64_t page) const override { return leaf_level(region, page) + 1; }
  std::uint64_t line_at(const Region& region, const Layout& layout, std::uint32_t level, std::uint64_t page) const override {
    return line_for(region, layout, level, page);
  }
};

const Architectures::Entrant entrant("process_page_table", "The page table of the process itself, walked from its root: four levels.",
                                     [](const ArchitectureOptions& options) { return std::make_unique<ProcessPageTable>(options); });

}  // namespace
}  // namespace mtsim::translate

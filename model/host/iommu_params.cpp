#include "host/iommu_params.h"

#include "base/sections.h"

namespace mtsim::host {
namespace {

const Sections::Entrant<IommuParams> declared;

}  // namespace

void IommuParams::declare(Declaration<IommuParams>& d) {
  d.section("host.iommu", "The IOMMU between the NIC and memory, as hardware: in use with host.iommu.mode translate.");
  d.field("iotlb_entries", &IommuParams::iotlb_entries)
      .standard("112")
      .range("0", "65536")
      .means("Entries of the IOTLB, for pages of any size; all NICs of the host share them.")
      .source("estimate (P2: latency rises beyond 256 KiB of 4 KB pages, about 110 entries)");
  d.field("iotlb_ways", &IommuParams::iotlb_ways)
      .standard("0")
      .range("0", "64")
      .means("Ways of the IOTLB, a divisor of its entries, indexed by page number modulo the sets; 0: fully associative.")
      .source("estimate (P2: no misses below the reach)");
  d.choice("iotlb_replacement", &IommuParams::iotlb_replacement,
           {{"lru", Eviction::lru}, {"fifo", Eviction::fifo}, {"random", Eviction::random}})
      .standard("lru")
      .means("Which entry of a set gives way; so with paging-structure caches.")
      .source("estimate; not published");
  d.field("levels", &IommuParams::levels)
      .standard("0")
      .range("0", "5")
      .means(
          "Levels of the page table that a walk goes through down to an entry of 4 KiB, 3 to 5; 0: as many as host.iommu.address_bits "
          "need.")
      .source("VT-d and AMD-Vi: 9 bits of the address a level above 12");
  d.field("nested_levels", &IommuParams::nested_levels)
      .standard("0")
      .range("0", "5")
      .means(
          "Levels of a second table through which a guest's own page table is itself found: g levels then take (g+1)(n+1)-1 reads; 0: "
          "none.")
      .source("VT-d nested translation; its own caches are not modelled");
  d.field("structure_entries", &IommuParams::structure_entries)
      .standard("0")
      .range("0", "4096")
      .means("Entries of each paging-structure cache, one for each level above the last: a walk begins below the deepest that it finds.")
      .source("estimate (P2: a miss costs about four reads whatever the window, so as if there were none)");
  d.field("walks", &IommuParams::walks)
      .standard("6")
      .range("1", "1024")
      .means("Page table walks in flight at most; others wait in order of arrival.")
      .source("estimate (P2: 19.1 M walks/s of about 280 ns)");
  d.field("walk_read", &IommuParams::walk_read)
      .standard("70ns")
      .range("0ns", "10us")
      .means("One read of a page table entry that hits the last-level cache; each waits for the one before.")
      .source("estimate (P2: 280 ns a miss with four levels)");
}

}  // namespace mtsim::host

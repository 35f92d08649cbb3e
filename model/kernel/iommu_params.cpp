#include "kernel/iommu_params.h"

#include "base/sections.h"

namespace mtsim::kernel {
namespace {

const Sections::Entrant<IommuParams> declared;

void declare_costs(Declaration<IommuParams>& d) {
  d.field("iova_cache", &IommuParams::iova_cache)
      .standard("40ns")
      .range("0ns", "100us")
      .means("Of looking for up to 32 pages of I/O virtual addresses in the CPU's own cache, or putting them there.")
      .source("estimate: an uncontended lock and a magazine (drivers/iommu/iova.c)");
  d.field("iova_rbtree", &IommuParams::iova_rbtree)
      .standard("300ns")
      .range("0ns", "1ms")
      .means("Of one insertion into the tree of I/O virtual addresses or removal from it, while the domain's lock is held.")
      .source("estimate: an object from the slab and a walk of a few nodes (drivers/iommu/iova.c)");
  d.field("map_entry", &IommuParams::map_entry)
      .standard("20ns")
      .range("0ns", "100us")
      .means("Of each entry written to the IOMMU's page table, its share of the scatter-gather list and of new table pages included.")
      .source("estimate: as kernel.dma_map, plus a walk of the table");
  d.field("unmap_entry", &IommuParams::unmap_entry)
      .standard("8ns")
      .range("0ns", "100us")
      .means("Of each entry cleared.")
      .source("estimate: as kernel.dma_unmap");
  d.field("iotlb_sync", &IommuParams::iotlb_sync)
      .standard("1us")
      .range("0ns", "1ms")
      .means("Of making the IOTLB forget one mapping and waiting until it has (strict).")
      .source("estimate: a descriptor in the invalidation queue, and the IOMMU's answer in memory");
  d.field("iotlb_flush", &IommuParams::iotlb_flush)
      .standard("1us")
      .range("0ns", "1ms")
      .means("Of making it forget all of the domain, when a call finds its CPU's flush queue full (lazy).")
      .source("estimate: as iotlb_sync");
  d.field("queue_entry", &IommuParams::queue_entry)
      .standard("30ns")
      .range("0ns", "100us")
      .means("Of putting one range of addresses into the flush queue (lazy).")
      .source("estimate: an uncontended lock and one store (queue_iova)");
}

}  // namespace

void IommuParams::declare(Declaration<IommuParams>& d) {
  d.section("host.iommu", "The IOMMU between the NIC and memory, and what the kernel pays for it.");
  d.field("mode", &IommuParams::mode)
      .standard("off")
      .means("off, passthrough (an IOMMU that changes no address) or translate: then the NIC's addresses are I/O virtual ones.")
      .source("modelling choice; servers that run RDMA mostly have it off or in passthrough");
  d.choice("invalidation", &IommuParams::invalidation, {{"strict", Invalidation::strict}, {"lazy", Invalidation::lazy}})
      .standard("lazy")
      .means("When the IOTLB forgets what is unmapped: within the call, or later for all at once.")
      .source("Linux 6.12 drivers/iommu/Kconfig: lazy is the default on x86");
  d.field<std::uint32_t>("address_bits", &IommuParams::address_bits)
      .standard("48")
      .range("46", "57")
      .means("Width of I/O virtual addresses; the upper half of what they reach is given away.")
      .source("a table of four levels (VT-d, AMD-Vi)");
  d.choice("largest_entry", &IommuParams::largest_entry,
           {{"4K", LargestEntry::of_4k}, {"2M", LargestEntry::of_2m}, {"1G", LargestEntry::of_1g}})
      .standard("1G")
      .means("Greatest page that one entry of the IOMMU's table maps.")
      .source("Linux 6.12 drivers/iommu: as the hardware reports; 4K with intel_iommu=sp_off");
  declare_costs(d);
  d.field<std::uint32_t>("flush_entries", &IommuParams::flush_entries)
      .standard("256")
      .range("2", "65536")
      .means("Slots in the flush queue of a CPU, of which one stays free (lazy).")
      .source("Linux 6.12 drivers/iommu/dma-iommu.c: IOVA_DEFAULT_FQ_SIZE");
  d.field("flush_interval", &IommuParams::flush_interval)
      .standard("10ms")
      .range("1us", "10s")
      .means("From the first range queued to the flush of all queues (lazy).")
      .source("Linux 6.12 drivers/iommu/dma-iommu.c: IOVA_DEFAULT_FQ_TIMEOUT");
}

}  // namespace mtsim::kernel

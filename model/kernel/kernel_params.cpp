#include "kernel/kernel_params.h"

#include <algorithm>

#include "base/sections.h"

namespace mtsim::kernel {
namespace {

const Sections::Entrant<KernelParams> declared;

void declare_registration(Declaration<KernelParams>& d) {
  d.field("syscall", &KernelParams::syscall)
      .standard("1us")
      .range("1ns", "1ms")
      .means("Entry and exit of a system call, with the library's and uverbs' dispatch.")
      .source("estimate (R3)");
  d.field("registration", &KernelParams::registration)
      .standard("24us")
      .range("0ns", "10ms")
      .means("Fixed part of reg_mr on the CPU: user object, umem, MR, restrack.")
      .source("estimate (R2, R6)");
  d.field("reregistration", &KernelParams::reregistration)
      .standard("4us")
      .range("0ns", "10ms")
      .means("Fixed part of rereg_mr on the CPU: look-ups, and a user object in store for a new MR.")
      .source("estimate");
  d.field("deregistration", &KernelParams::deregistration)
      .standard("17us")
      .range("0ns", "10ms")
      .means("Fixed part of dereg_mr on the CPU.")
      .source("estimate (R2, R6)");
  d.field("pin_batch", &KernelParams::pin_batch)
      .standard("150ns")
      .range("0ns", "1ms")
      .means("Of each batch of 512 pages: pin_user_pages_fast called, interrupts off and on, the walk down to the last level.")
      .source("estimate (R4)");
  d.field("pin_page", &KernelParams::pin_page)
      .standard("3ns")
      .range("0ns", "100us")
      .means("Of each 4 KiB page: its pointer written.")
      .source("estimate (R4: 7 ns a page of huge-page memory, registering and deregistering)");
  d.field("pin_grab", &KernelParams::pin_grab)
      .standard("150ns")
      .range("0ns", "100us")
      .means("Of each folio in a batch: the entry read, the folio checked, its reference taken.")
      .source("estimate (R4: 0.25 to 1.3 us a 4 KiB page in all)");
  d.field("sg_compare", &KernelParams::sg_compare)
      .standard("1ns")
      .range("0ns", "100us")
      .means("Of each 4 KiB page in either of two scans for adjacent pages.")
      .source("estimate (R4)");
  d.field("sg_entry", &KernelParams::sg_entry)
      .standard("15ns")
      .range("0ns", "100us")
      .means("Of each scatter-gather entry.")
      .source("estimate (R4)");
  d.field("dma_map", &KernelParams::dma_map)
      .standard("12ns")
      .range("0ns", "100us")
      .means("Of mapping each entry for DMA, without an IOMMU.")
      .source("estimate (R4)");
  d.field("dma_unmap", &KernelParams::dma_unmap)
      .standard("8ns")
      .range("0ns", "100us")
      .means("Of unmapping each entry, without an IOMMU.")
      .source("estimate (R4)");
  d.field("page_size_run", &KernelParams::page_size_run)
      .standard("3ns")
      .range("0ns", "100us")
      .means("Of each entry in the search for the best page size.")
      .source("estimate (R4)");
  d.field("unpin_run", &KernelParams::unpin_run)
      .standard("60ns")
      .range("0ns", "100us")
      .means("Of unpinning each entry: dirty marks and the references of its folios.")
      .source("estimate (R1, R4)");
  d.field("unpin_page", &KernelParams::unpin_page)
      .standard("1ns")
      .range("0ns", "100us")
      .means("Of unpinning each 4 KiB page.")
      .source("estimate (R4)");
}

void declare_sharing(Declaration<KernelParams>& d) {
  d.field("fault_shared", &KernelParams::fault_shared)
      .standard("650ns")
      .range("0ns", "1ms")
      .means(
          "The part of each fault, clearing included, that faults of all CPUs take one after the other: locks of the page allocator and "
          "the "
          "LRU lists, bandwidth of the memory. At most what the fault takes.")
      .source("estimate (R4: first touch 416 ms/GiB by one thread, 179 by four)");
  d.choice("fault_lock", &KernelParams::fault_lock, {{"vma", FaultLock::vma}, {"mmap", FaultLock::mmap}})
      .standard("vma")
      .means("What a page fault of the CPU locks: its mapping alone, or the mmap lock for reading, which waits for writers.")
      .source("Linux since 6.4 (CONFIG_PER_VMA_LOCK); mmap before");
  d.field("line_transfer", &KernelParams::line_transfer)
      .standard("50ns")
      .range("0ns", "10us")
      .means("Until a CPU has a cache line that another has changed: counters of the process, the count of its mmap lock.")
      .source("estimate: 40 to 42 ns between cores of a Xeon E5-2660 v4 (Memory Latency Checker), more on larger chips");
}

void declare_on_demand(Declaration<KernelParams>& d) {
  d.field("odp_region", &KernelParams::odp_region)
      .standard("2us")
      .range("0ns", "1ms")
      .means("Of each on-demand region, or child of an implicit one: its umem, and its MMU notifier put in or taken out.")
      .source("estimate");
  d.field("odp_page", &KernelParams::odp_page)
      .standard("2ns")
      .range("0ns", "100us")
      .means("Of each page of such a region: its places in two lists (16 bytes) allocated and cleared.")
      .source("estimate: 8 GB/s (core/umem_odp.c, ib_init_umem_odp)");
  d.field("odp_walk", &KernelParams::odp_walk)
      .standard("5ns")
      .range("0ns", "100us")
      .means("Of each page that is looked up in the process's page table for the device, present or not.")
      .source("estimate (mm/hmm.c, hmm_range_fault)");
  d.field("odp_scan", &KernelParams::odp_scan)
      .standard("2ns")
      .range("0ns", "100us")
      .means("Of each page of a range that an MMU notifier looks at, twice: what is present is taken from the device, then unmapped.")
      .source("estimate (hw/mlx5/odp.c, mlx5_ib_invalidate_range)");
}

void declare_objects(Declaration<KernelParams>& d) {
  d.field("interrupt", &KernelParams::interrupt)
      .standard("3us")
      .range("0ns", "1ms")
      .means("The interrupt that reports a command's or UMR request's end, and its handler.")
      .source("estimate (R2, R6)");
  d.field("wake_up", &KernelParams::wake_up)
      .standard("11us")
      .range("0ns", "10ms")
      .means("From the handler to the woken thread running, the processor's own waking included.")
      .source("estimate (R2, R6)");
  d.field("pd", &KernelParams::pd)
      .standard("10us")
      .range("0ns", "1s")
      .means("Making or removing a PD, its command included.")
      .source("estimate");
  d.field("mw", &KernelParams::mw)
      .standard("1us")
      .range("0ns", "1s")
      .means("Making or removing a memory window, beyond its key and command.")
      .source("estimate");
  d.field("cq", &KernelParams::cq)
      .standard("100us")
      .range("0ns", "1s")
      .means("Making or removing a CQ, its command included.")
      .source("estimate");
  d.field("srq", &KernelParams::srq)
      .standard("100us")
      .range("0ns", "1s")
      .means("Making or removing an SRQ, its command included.")
      .source("estimate");
  d.field("qp", &KernelParams::qp)
      .standard("200us")
      .range("0ns", "1s")
      .means("Making or removing a QP, its command included.")
      .source("estimate");
  d.field("modify_qp", &KernelParams::modify_qp)
      .standard("60us")
      .range("0ns", "1s")
      .means("One change of a QP's state, its command included.")
      .source("estimate");
}

}  // namespace

void KernelParams::declare(Declaration<KernelParams>& d) {
  d.section("kernel", "CPU time of the generic kernel: system calls, pinning, faults, the verbs core.");
  declare_registration(d);
  declare_memory(d);
  declare_sharing(d);
  declare_changes(d);
  declare_fork(d);
  declare_on_demand(d);
  declare_objects(d);
}

Time KernelParams::fault_time(const FaultCounts& faults) const {
  return fault_4k * static_cast<std::int64_t>(faults.pages_4k) + fault_2m * static_cast<std::int64_t>(faults.pages_2m) +
         fault_1g * static_cast<std::int64_t>(faults.pages_1g) + swap_in * static_cast<std::int64_t>(faults.swapped_in) +
         transfer_time(faults.zeroed, zero_rate) + fault_found * static_cast<std::int64_t>(faults.found) +
         transfer_time(faults.copied, copy_rate);
}

Time KernelParams::fork_time(const ForkReply& made) const {
  return fork_mapping * static_cast<std::int64_t>(made.mappings) + fork_leaf * static_cast<std::int64_t>(made.leaves) +
         fork_copy * static_cast<std::int64_t>(made.copies) + transfer_time(made.copied, copy_rate);
}

Time KernelParams::shared_fault_time(const FaultCounts& faults) const {
  const auto shared = [this](Time fault, std::uint64_t n) { return std::min(fault, fault_shared) * static_cast<std::int64_t>(n); };
  return shared(fault_4k, faults.pages_4k) + shared(fault_2m, faults.pages_2m) + shared(fault_1g, faults.pages_1g);
}

Time KernelParams::reclaim_time(const ReclaimCounts& reclaimed) const {
  return swap_out * static_cast<std::int64_t>(reclaimed.swapped_out) + unmap_page * static_cast<std::int64_t>(reclaimed.dropped) +
         migrate_page * static_cast<std::int64_t>(reclaimed.migrated);
}

}  // namespace mtsim::kernel

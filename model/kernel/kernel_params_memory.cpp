// Costs of what a process does with its memory.
#include "kernel/kernel_params.h"

namespace mtsim::kernel {

void KernelParams::declare_memory(Declaration<KernelParams>& d) {
  d.field("fault_4k", &KernelParams::fault_4k)
      .standard("1.2us")
      .range("0ns", "1ms")
      .means("A page fault that brings in a 4 KiB page, clearing apart.")
      .source("estimate (R4: first touch 416 ms/GiB)");
  d.field("fault_2m", &KernelParams::fault_2m)
      .standard("2us")
      .range("0ns", "10ms")
      .means("A page fault that brings in a 2 MiB page, clearing apart.")
      .source("estimate");
  d.field("fault_1g", &KernelParams::fault_1g)
      .standard("5us")
      .range("0ns", "10ms")
      .means("A page fault that brings in a 1 GiB page, clearing apart.")
      .source("estimate");
  d.field("zero_rate", &KernelParams::zero_rate)
      .standard("80Gb/s")
      .range("1Gb/s", "10Tb/s")
      .means("Rate at which a CPU clears a new page.")
      .source("estimate (R4: first touch 416 ms/GiB)");
  d.field("mmap", &KernelParams::mmap)
      .standard("1us")
      .range("0ns", "1ms")
      .means("Of making a mapping, the system call's entry apart.")
      .source("estimate");
  d.field("munmap", &KernelParams::munmap)
      .standard("1us")
      .range("0ns", "1ms")
      .means("Of removing a mapping, its pages apart.")
      .source("estimate");
  d.field("unmap_page", &KernelParams::unmap_page)
      .standard("40ns")
      .range("0ns", "100us")
      .means("Of each page, of whatever size, that munmap frees.")
      .source("estimate");
  d.field("touch_page", &KernelParams::touch_page)
      .standard("5ns")
      .range("0ns", "100us")
      .means("A program's access to one 4 KiB page that is present.")
      .source("estimate");
}

void KernelParams::declare_changes(Declaration<KernelParams>& d) {
  d.field("mprotect", &KernelParams::mprotect)
      .standard("1us")
      .range("0ns", "1ms")
      .means("Of changing the rights of a mapping, its pages apart.")
      .source("estimate");
  d.field("madvise", &KernelParams::madvise)
      .standard("500ns")
      .range("0ns", "1ms")
      .means("Of advice about a range, its pages apart.")
      .source("estimate: ibv_fork_init with an madvise that probes page sizes makes ibv_reg_mr 10 us slower (rdma-core pull 767)");
  d.field("protect_page", &KernelParams::protect_page)
      .standard("20ns")
      .range("0ns", "100us")
      .means("Of each page, of whatever size, whose rights change.")
      .source("estimate");
  d.field("swap_out", &KernelParams::swap_out)
      .standard("5us")
      .range("0ns", "10ms")
      .means("Of each 4 KiB page swapped out, the writing included, which goes on in clusters.")
      .source("estimate: an NVMe drive");
  d.field("swap_in", &KernelParams::swap_in)
      .standard("20us")
      .range("0ns", "10ms")
      .means("Of each 4 KiB page read back from swap, besides the fault.")
      .source("estimate: an NVMe drive, with read-ahead");
  d.field("migrate_page", &KernelParams::migrate_page)
      .standard("1us")
      .range("0ns", "1ms")
      .means("Of moving each 4 KiB page to another frame.")
      .source("estimate");
  d.field("max_map_count", &KernelParams::max_map_count)
      .standard("65530")
      .range("1", "2000000000")
      .means("vm.max_map_count: mappings that a process may have.")
      .source("Linux, DEFAULT_MAX_MAP_COUNT");
  d.field("copy_on_fork", &KernelParams::copy_on_fork)
      .standard("true")
      .means(
          "Whether fork copies pinned pages to the child. ibv_fork_init has nothing to do then; otherwise each range is kept from children "
          "by madvise.")
      .source("Linux since 5.12");
  d.field("pin_by_force", &KernelParams::pin_by_force)
      .standard("false")
      .means(
          "Whether memory that the device only reads is pinned by force, so that rights of a private mapping do not matter and a read-only "
          "shared one is refused; shared files can be written, too.")
      .source("Linux before 6.2 does (core/umem.c, FOLL_FORCE)");
  d.choice("without_on_demand", &KernelParams::without_on_demand,
           {{"EOPNOTSUPP", WithoutOnDemand::eopnotsupp}, {"EINVAL", WithoutOnDemand::einval}})
      .standard("EOPNOTSUPP")
      .means("What a registration on demand is refused with where the device has no on-demand paging.")
      .source("Linux 6.12; EINVAL in Linux 6.1 (ib_verbs.h, ib_check_mr_access)");
}

void KernelParams::declare_fork(Declaration<KernelParams>& d) {
  d.field("fork", &KernelParams::fork)
      .standard("60us")
      .range("0ns", "10ms")
      .means("Fixed part of a fork: the task, its files, an address space.")
      .source("estimate: half of what a fork and the end of a small process take together");
  d.field("fork_mapping", &KernelParams::fork_mapping)
      .standard("500ns")
      .range("0ns", "1ms")
      .means("Of each mapping that a fork copies, its pages apart.")
      .source("estimate (kernel/fork.c, dup_mmap)");
  d.field("fork_leaf", &KernelParams::fork_leaf)
      .standard("35ns")
      .range("0ns", "100us")
      .means("Of each page table entry that a fork copies, and write-protects, for a page of whatever size.")
      .source("published: forks of 6 GB processes take 9 to 13 ms a GB on physical machines (Redis, latency of fork)");
  d.field("fork_copy", &KernelParams::fork_copy)
      .standard("400ns")
      .range("0ns", "1ms")
      .means("Of each pinned page, of whatever size, that a fork copies for the child, the copying of its bytes apart.")
      .source("estimate (mm/memory.c, copy_present_page)");
  d.field("copy_rate", &KernelParams::copy_rate)
      .standard("60Gb/s")
      .range("1Gb/s", "10Tb/s")
      .means("Rate at which a CPU copies a page, for a child or on a write to a page that was shared since a fork.")
      .source("estimate: slower than clearing, since it reads as well");
  d.field("fault_found", &KernelParams::fault_found)
      .standard("500ns")
      .range("0ns", "1ms")
      .means("A page fault that needs no new page: of shared memory, or on a write to a page that nobody else has any more.")
      .source("estimate (mm/memory.c, do_wp_page)");
}

}  // namespace mtsim::kernel

// The kernel of one host, with the processes that use its NICs: system calls as flows on the host's CPUs.
//
// First version: making, changing and removing PDs, CQs and QPs is a system call and one parameter each, their firmware commands included;
// only registration is taken apart into its steps (reg_path.h, odp_path.h). Of several NICs all but the first register memory only: CQs,
// SRQs and QPs are the first one's.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/scheduler.h"
#include "kernel/driver_params.h"
#include "kernel/event_queue.h"
#include "kernel/fault_path.h"
#include "kernel/kernel_params.h"
#include "kernel/processes.h"
#include "kernel/rdma_device.h"
#include "ports/cpu.h"
#include "ports/kernel.h"
#include "ports/memory.h"
#include "ports/nic.h"

namespace mtsim::kernel {

class Kernel : public sc_core::sc_module, public ports::Kernel, public ports::Events {
 public:
  sc_core::sc_port<ports::Cpus> cpus;
  sc_core::sc_port<ports::HostMemory> memory;
  // One for each NIC, in the order of their numbers; of the first, all there is to do with queue pairs.
  sc_core::sc_port<ports::QueuePairs> queue_pairs;
  sc_core::sc_port<ports::Command, 0> command;
  sc_core::sc_port<ports::Umr, 0> umr;
  sc_core::sc_port<ports::Tables, 0> tables;
  sc_core::sc_port<ports::Transfers, 0, sc_core::SC_ZERO_OR_MORE_BOUND> transfers;

  /// `frames` is the host's memory. Throws UserError when `driver` or `iommu` names a component that there is none of.
  Kernel(sc_core::sc_module_name name, engine::Scheduler& scheduler, const KernelParams& kernel, const DriverParams& driver,
         FramePool& frames, const IommuParams& iommu = defaults<IommuParams>(), std::uint32_t nics = 1);
  ~Kernel() override;

  Answer mmap(verbs::Thread thread, verbs::MmapRequest request) override;
  Answer munmap(verbs::Thread thread, Va address, Bytes length) override;
  Answer touch(verbs::Thread thread, Va address, Bytes length, bool write) override;
  Answer mprotect(verbs::Thread thread, Va address, Bytes length, bool readable, bool writable) override;
  Answer madvise(verbs::Thread thread, Va address, Bytes length, verbs::Advice advice) override;
  bool copies_pinned_pages() const override { return params_.copy_on_fork; }
  Bytes page_size_at(verbs::Thread thread, Va address) const override { return processes_.of(thread).memory.page_size_at(address); }
  bool pins_queues() const override { return driver_.pins_queues; }
  Answer fork(verbs::Thread thread, verbs::ForkRequest request) override;
  Answer set_memlock(verbs::Thread thread, Bytes limit) override;
  Answer set_cap_ipc_lock(verbs::Thread thread, bool on) override;
  Answer alloc_pd(verbs::Thread thread, std::uint32_t nic) override;
  Answer dealloc_pd(verbs::Thread thread, verbs::Handle pd) override;
  Answer reg_mr(verbs::Thread thread, verbs::RegMrRequest request) override;
  Answer rereg_mr(verbs::Thread thread, verbs::ReregMrRequest request) override;
  Answer dereg_mr(verbs::Thread thread, verbs::Handle mr) override;
  Answer advise_mr(verbs::Thread thread, verbs::AdviseMrRequest request) override;
  Answer dma(verbs::Thread thread, verbs::DmaRequest request) override;
  Answer alloc_mw(verbs::Thread thread, verbs::Handle pd, std::uint8_t type) override;
  Answer dealloc_mw(verbs::Thread thread, verbs::Handle mw) override;
  std::optional<Registered> registered(verbs::Handle mr) const override {
    return devices_[mr % devices_.size()]->reg_path().registered(mr);
  }
  Answer create_cq(verbs::Thread thread, ports::QueueMemory queue) override;
  Answer destroy_cq(verbs::Thread thread, verbs::Handle cq) override;
  Answer create_srq(verbs::Thread thread, verbs::Handle pd, ports::QueueMemory queue) override;
  Answer destroy_srq(verbs::Thread thread, verbs::Handle srq) override;
  Answer create_qp(verbs::Thread thread, QpObjects objects, ports::QpAttributes attributes, ports::QueueMemory queue) override;
  Answer destroy_qp(verbs::Thread thread, verbs::Handle qp) override;
  Answer modify_qp(verbs::Thread thread, verbs::Handle qp, verbs::QpState state) override;
  Answer query_qp(verbs::Thread thread, verbs::Handle qp) override;
  Answer next_event(verbs::Thread thread) override;
  /// All processes of the host read the same file of events.
  void raised(verbs::Event event, std::uint32_t qpn) override;
  Answer connect(verbs::Thread thread, verbs::Handle qp, ports::Kernel& peer, verbs::Handle peer_qp) override;
  std::optional<Path> path_to(verbs::Handle qp) const override;
  void bring_up(verbs::Handle qp, Path peer) override;

  /// Of the driver of one of the host's NICs.
  const RdmaDevice& device(std::uint32_t nic) const { return *devices_[nic]; }
  const RegistrationTotals& registration() const { return registration_; }
  const Processes& processes() const { return processes_; }
  /// Up to now.
  MemorySeries memory_series() const;
  const ports::MemoryUse& memory_use() const { return processes_.pressure; }
  /// Is told of registrations and of what CPUs write. Before the simulation starts.
  void watch(MemoryWatch& watch) { processes_.watch = &watch; }
  /// Told of every reg_mr, rereg_mr and dereg_mr from now on; null: nobody. After elaboration only.
  void set_observer(ports::RegistrationObserver* observer) {
    for (const auto& device : devices_) device->reg_path().set_observer(observer);
  }

 private:
  using Cq = RdmaDevice::Cq;
  using Srq = RdmaDevice::Srq;
  using Qp = RdmaDevice::Qp;

  void end_of_elaboration() override;
  void start_of_simulation() override;
  using PageRange = std::pair<std::uint64_t, std::uint64_t>;  ///< virtual pages [first, second)
  /// Takes ranges of the thread's process from the devices that have them on demand; `end_invalidation` of them must follow when they have
  /// changed. The answer is 0.
  engine::Task<int> begin_invalidation(verbs::Thread thread, const std::vector<PageRange>& ranges);
  void end_invalidation(verbs::Thread thread, const std::vector<PageRange>& ranges);
  /// The time in which devices lose what reclaim, swapout and migration have taken. The answer is 0.
  engine::Task<int> pay_for_taken(verbs::Thread thread);
  ports::Cpus::Run system_call(verbs::Thread thread, Time beyond_entry);
  /// Work of `span` by a thread that has just got the mmap lock.
  ports::Cpus::Run work_locked(verbs::Thread thread, Time span);
  RdmaDevice& first() { return *devices_.front(); }
  const RdmaDevice& first() const { return *devices_.front(); }
  /// Whose MR or MW that is, or would be.
  RdmaDevice& of_mr(verbs::Handle mr) { return *devices_[mr % devices_.size()]; }

  engine::Scheduler& scheduler_;
  KernelParams params_;
  DriverParams driver_;
  IommuParams iommu_;
  FramePool& frames_;
  Process process_;  ///< the first one
  Processes processes_{process_};
  RegistrationTotals registration_;
  std::vector<std::unique_ptr<RdmaDevice>> devices_;  ///< by the numbers of their NICs
  std::unique_ptr<FaultPath> fault_path_;
  EventQueue events_;
};

}  // namespace mtsim::kernel

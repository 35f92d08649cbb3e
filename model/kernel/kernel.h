// The kernel of one host, with the one process that uses the NIC: system calls as flows on the host's CPUs.
//
// First version: making, changing and removing PDs, CQs and QPs is a system call and one parameter each, their firmware commands included;
// only registration is taken apart into its steps (reg_path.h, odp_path.h).
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "engine/scheduler.h"
#include "kernel/dma_mapping.h"
#include "kernel/driver_params.h"
#include "kernel/kernel_params.h"
#include "kernel/key_keeper.h"
#include "kernel/process.h"
#include "kernel/reg_path.h"
#include "ports/cpu.h"
#include "ports/kernel.h"
#include "ports/memory.h"
#include "ports/nic.h"

namespace mtsim::kernel {

class Kernel : public sc_core::sc_module, public ports::Kernel {
 public:
  sc_core::sc_port<ports::Cpus> cpus;
  sc_core::sc_port<ports::HostMemory> memory;
  sc_core::sc_port<ports::QueuePairs> queue_pairs;
  sc_core::sc_port<ports::Command> command;
  sc_core::sc_port<ports::Umr> umr;
  sc_core::sc_port<ports::Tables> tables;

  /// `frames` is the host's memory. Throws UserError when `driver` or `iommu` names a component that there is none of.
  Kernel(sc_core::sc_module_name name, engine::Scheduler& scheduler, const KernelParams& kernel, const DriverParams& driver,
         FramePool& frames, const IommuParams& iommu = defaults<IommuParams>());
  ~Kernel() override;

  Answer mmap(verbs::Thread thread, verbs::MmapRequest request) override;
  Answer munmap(verbs::Thread thread, Va address, Bytes length) override;
  Answer touch(verbs::Thread thread, Va address, Bytes length, bool write) override;
  Answer mprotect(verbs::Thread thread, Va address, Bytes length, bool readable, bool writable) override;
  Answer madvise(verbs::Thread thread, Va address, Bytes length, verbs::Advice advice) override;
  bool copies_pinned_pages() const override { return params_.copy_on_fork; }
  Bytes page_size_at(Va address) const override { return process_.memory.page_size_at(address); }
  Answer set_memlock(verbs::Thread thread, Bytes limit) override;
  Answer set_cap_ipc_lock(verbs::Thread thread, bool on) override;
  Answer alloc_pd(verbs::Thread thread) override;
  Answer dealloc_pd(verbs::Thread thread, verbs::Handle pd) override;
  Answer reg_mr(verbs::Thread thread, verbs::RegMrRequest request) override;
  Answer rereg_mr(verbs::Thread thread, verbs::ReregMrRequest request) override;
  Answer dereg_mr(verbs::Thread thread, verbs::Handle mr) override;
  Answer advise_mr(verbs::Thread thread, verbs::AdviseMrRequest request) override;
  Answer create_cq(verbs::Thread thread) override;
  Answer destroy_cq(verbs::Thread thread, verbs::Handle cq) override;
  Answer create_srq(verbs::Thread thread, verbs::Handle pd) override;
  Answer destroy_srq(verbs::Thread thread, verbs::Handle srq) override;
  Answer create_qp(verbs::Thread thread, QpObjects objects, ports::QpAttributes attributes) override;
  Answer destroy_qp(verbs::Thread thread, verbs::Handle qp) override;
  Answer modify_qp(verbs::Thread thread, verbs::Handle qp, verbs::QpState state) override;
  Answer connect(verbs::Thread thread, verbs::Handle qp, ports::Kernel& peer, verbs::Handle peer_qp) override;
  std::optional<Path> path_to(verbs::Handle qp) const override;
  void bring_up(verbs::Handle qp, Path peer) override;

  TableWriter::Lock table_lock() const { return writer_->lock(); }
  const DmaMapper& dma_mapper() const { return *dma_; }
  std::vector<KeyCount> key_counts() const { return keeper_->counts(); }
  const RegistrationTotals& registration() const { return reg_path_->totals(); }
  const OdpTotals& on_demand() const { return std::as_const(*reg_path_).on_demand().totals(); }
  const ports::MemoryUse& memory_use() const { return process_.pressure; }
  /// Told of every reg_mr, rereg_mr and dereg_mr from now on; null: nobody. After elaboration only.
  void set_observer(ports::RegistrationObserver* observer) { reg_path_->set_observer(observer); }

 private:
  struct Cq {
    std::uint32_t users = 0;  ///< QPs
  };
  struct Srq {
    verbs::Handle pd = 0;
    std::uint32_t users = 0;  ///< QPs
  };
  struct Qp {
    std::uint32_t qpn = 0;
    QpObjects objects;
  };

  void end_of_elaboration() override;
  void start_of_simulation() override { keeper_->start(); }
  using PageRange = std::pair<std::uint64_t, std::uint64_t>;  ///< virtual pages [first, second)
  /// Takes the ranges from the device where it has them on demand; true: `end_invalidation` of them must follow when they have changed.
  engine::Task<bool> begin_invalidation(verbs::Thread thread, const std::vector<PageRange>& ranges);
  void end_invalidation(const std::vector<PageRange>& ranges);
  ports::Cpus::Run system_call(verbs::Thread thread, Time beyond_entry);

  engine::Scheduler& scheduler_;
  KernelParams params_;
  DriverParams driver_;
  IommuParams iommu_;
  FramePool& frames_;
  Process process_;
  ObjectTable<Cq> cqs_;
  ObjectTable<Srq> srqs_;
  ObjectTable<Qp> qps_;
  std::unique_ptr<KeyPolicy> keys_;
  std::unique_ptr<KeyKeeper> keeper_;
  std::unique_ptr<TableWriter> writer_;
  std::unique_ptr<DmaMapper> dma_;
  std::unique_ptr<RegPath> reg_path_;
};

}  // namespace mtsim::kernel

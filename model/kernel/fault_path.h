// Page faults, whoever takes them: what a CPU does by itself, what faults of all CPUs share, and the mmap lock where it is taken.
#pragma once

#include "engine/flow.h"
#include "kernel/call.h"
#include "kernel/processes.h"

namespace mtsim::kernel {

class FaultPath {
 public:
  /// References outlive the path.
  FaultPath(engine::Scheduler& scheduler, ports::Cpus& cpus, const KernelParams& params, Processes& processes)
      : scheduler_(scheduler), cpus_(cpus), params_(params), processes_(processes) {}

  /// What the address space has done at once, and what it takes.
  struct Work {
    FaultCounts faults;
    ReclaimCounts reclaimed;
    std::uint64_t batches = 0;  ///< of 512 pages, that had absent ones
  };
  /// The slow path of pin_user_pages_fast, and populating: the mmap lock is taken for reading for each batch. The time goes to the steps
  /// `lock` and `fault` of `call`, where there is one. The answer is 0.
  engine::Task<int> by_kernel(verbs::Thread thread, Work work, Call* call);
  /// A CPU's own faults. Under `kernel.fault_lock: mmap` stretches of 32 pages hold the lock, where the kernel takes it for each page.
  engine::Task<int> by_cpu(verbs::Thread thread, Work work);

 private:
  engine::Task<int> in_pieces(verbs::Thread thread, Work work, std::uint64_t pieces, bool locks, Call* call);

  engine::Scheduler& scheduler_;
  ports::Cpus& cpus_;
  const KernelParams& params_;
  Processes& processes_;
};

}  // namespace mtsim::kernel

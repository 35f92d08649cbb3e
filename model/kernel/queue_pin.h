// A queue's memory while the kernel has it pinned: charged to the process like any MR's pages (hw/mlx5/cq.c, qp.c and srq.c; the page of
// the doorbell record once, however many queues have theirs in it: doorbell.c, mlx5_ib_db_map_user).
#pragma once

#include "kernel/process.h"
#include "ports/kernel.h"

namespace mtsim::kernel {

class QueuePin {
 public:
  QueuePin() = default;
  /// 0, or EPERM or ENOMEM as Memlock says: then nothing is pinned.
  static int make(Process&, const ports::QueueMemory&, QueuePin& out);
  void undo();

 private:
  Process* process_ = nullptr;  ///< null: nothing is pinned
  ports::QueueMemory memory_;
};

}  // namespace mtsim::kernel

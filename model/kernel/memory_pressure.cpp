#include "kernel/memory_pressure.h"

namespace mtsim::kernel {

void note_pressure(Process& process, const FramePool& frames, engine::Scheduler& scheduler, const FaultCounts& faults,
                   const ReclaimCounts& reclaimed) {
  ports::MemoryUse& use = process.pressure;
  use.swapped_in += faults.swapped_in;
  use.swapped_out += reclaimed.swapped_out;
  use.dropped += reclaimed.dropped;
  note_memory(process, frames, scheduler.now());
  if (!reclaimed.out_of_memory || use.killed) return;
  use.killed = {scheduler.now(),          frames.size(),         process.memory.resident(), process.region_pages,
                process.memory.swapped(), process.pinned_regions};
  scheduler.request_stop();
}

}  // namespace mtsim::kernel

#include "kernel/memory_pressure.h"

namespace mtsim::kernel {

void note_pressure(Processes& processes, const FramePool& frames, engine::Scheduler& scheduler, const FaultCounts& faults,
                   const ReclaimCounts& reclaimed) {
  ports::MemoryUse& use = processes.pressure;
  use.left_pins += faults.left_pins;
  use.swapped_in += faults.swapped_in;
  use.swapped_out += reclaimed.swapped_out;
  use.dropped += reclaimed.dropped;
  use.migrated += reclaimed.migrated;
  note_memory(processes, frames, scheduler.now());
  if (!reclaimed.out_of_memory || use.killed) return;
  const Process& process = processes.largest();
  use.killed = {scheduler.now(),        frames.size(), process.memory.resident(), process.region_pages, process.memory.swapped(),
                process.pinned_regions, process.name,  processes.count()};
  scheduler.request_stop();
}

}  // namespace mtsim::kernel

// What follows when memory runs short.
#pragma once

#include "engine/scheduler.h"
#include "kernel/process.h"

namespace mtsim::kernel {

/// Notes how memory stands after a call has changed it.
inline void note_memory(Process& process, const FramePool& frames, Time now) { process.series.note(now, process.levels(frames)); }

/// Notes what reclaim and faults did for a call of the process. When they found nothing more, the OOM killer ends the largest process
/// (mm/oom_kill.c, out_of_memory): the only one that a host has. Its end is the end of the run.
void note_pressure(Process& process, const FramePool& frames, engine::Scheduler& scheduler, const FaultCounts& faults,
                   const ReclaimCounts& reclaimed);

}  // namespace mtsim::kernel

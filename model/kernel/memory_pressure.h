// What follows when memory runs short.
#pragma once

#include "engine/scheduler.h"
#include "kernel/processes.h"

namespace mtsim::kernel {

/// Notes how memory stands after a call has changed it.
inline void note_memory(Processes& processes, const FramePool& frames, Time now) { processes.series.note(now, processes.levels(frames)); }

/// Notes what reclaim and faults did for a call of a process. When they found nothing more, the OOM killer ends the largest process of the
/// host (mm/oom_kill.c, out_of_memory). Its end is the end of the run.
void note_pressure(Processes& processes, const FramePool& frames, engine::Scheduler& scheduler, const FaultCounts& faults,
                   const ReclaimCounts& reclaimed);

}  // namespace mtsim::kernel

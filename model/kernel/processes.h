// The processes of a host: the first one and what was forked from it. A thread belongs to one of them.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "engine/scheduler.h"
#include "engine/server.h"
#include "kernel/memory_series.h"
#include "kernel/memory_watch.h"
#include "kernel/process.h"
#include "ports/memory_use.h"

namespace mtsim::kernel {

class Processes {
 public:
  /// `first` must outlive this. Threads are its own until a fork gives them away.
  explicit Processes(Process& first) : first_(first) {}
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  Process& of(verbs::Thread thread) const { return thread < of_thread_.size() && of_thread_[thread] ? *of_thread_[thread] : first_; }
  /// A child of `parent`, with its limits; `threads` run in it from now on.
  Process& add(engine::Scheduler& scheduler, const Process& parent, std::string name, std::unique_ptr<AddressSpace> space,
               std::span<const verbs::Thread> threads);
  std::size_t count() const { return 1 + children_.size(); }
  /// Whom the OOM killer takes: the one with most pages in frames and swap, the older of equals (mm/oom_kill.c, oom_badness).
  const Process& largest() const;
  /// Calls `visit(process)` for each, the oldest first.
  template <class Visit>
  void for_each(Visit visit) const {
    visit(static_cast<const Process&>(first_));
    for (const Process& child : children_) visit(child);
  }
  MemorySeries::Levels levels(const FramePool& frames) const;

  MemoryWatch* watch = nullptr;  ///< follows what lies in their memory; null: nobody does
  ports::MemoryUse pressure;     ///< what memory that ran short has led to
  MemorySeries series;           ///< how the host's memory stood
  /// What faults of all CPUs share: the zone's and the LRU's lock, the memory controller in clearing. One at a time passes.
  engine::Server page_allocator;

 private:
  Process& first_;
  std::deque<Process> children_;
  std::vector<Process*> of_thread_;  ///< null: the first process
};

}  // namespace mtsim::kernel

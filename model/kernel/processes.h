// The processes of a host: the first one and what was forked from it. A thread belongs to one of them.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "kernel/process.h"

namespace mtsim::kernel {

class Processes {
 public:
  /// `first` must outlive this. Threads are its own until a fork gives them away.
  explicit Processes(Process& first) : first_(first) {}

  Process& of(verbs::Thread thread) const { return thread < of_thread_.size() && of_thread_[thread] ? *of_thread_[thread] : first_; }
  /// A child of `parent`, with its limits; `threads` run in it from now on.
  Process& add(const Process& parent, std::string name, std::unique_ptr<AddressSpace> space, std::span<const verbs::Thread> threads);
  std::size_t count() const { return 1 + children_.size(); }
  /// Whom the OOM killer takes: the one with most pages in frames and swap, the older of equals (mm/oom_kill.c, oom_badness).
  const Process& largest() const;

  ports::MemoryUse pressure;  ///< what memory that ran short has led to

 private:
  Process& first_;
  std::deque<Process> children_;
  std::vector<Process*> of_thread_;  ///< null: the first process
};

}  // namespace mtsim::kernel

// The CPUs of a host on a timeline: a row each, with what it worked on and for which thread.
#pragma once

#include <string>
#include <vector>

#include "base/timeline.h"
#include "ports/cpu.h"

namespace mtsim::host {

/// The model's CPUs are alike and have no numbers. Here a thread takes the lowest number that is free.
class CpuRows {
 public:
  /// `threads` names them by index.
  CpuRows(Timeline& timeline, const std::string& process, std::uint32_t cpus, std::vector<std::string> threads);

  void took(verbs::Thread thread);
  void gave(verbs::Thread thread) { busy_[cpu_of_[thread]] = false; }
  /// On the CPU that the thread has.
  void worked(verbs::Thread thread, ports::Work work, Time begin, Time end) const;

 private:
  std::vector<TimelineRow> rows_;  ///< by CPU
  std::vector<char> busy_;
  std::vector<std::uint32_t> cpu_of_;  ///< by thread
  std::vector<std::string> threads_;
};

}  // namespace mtsim::host

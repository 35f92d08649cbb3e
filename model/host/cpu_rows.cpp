#include "host/cpu_rows.h"

#include <algorithm>

namespace mtsim::host {

CpuRows::CpuRows(Timeline& timeline, const std::string& process, std::uint32_t cpus, std::vector<std::string> threads)
    : busy_(cpus), cpu_of_(threads.size()), threads_(std::move(threads)) {
  for (std::uint32_t i = 0; i < cpus; ++i) rows_.emplace_back(timeline, process, "CPU " + std::to_string(i));
}

void CpuRows::took(verbs::Thread thread) {
  const auto free = std::find(busy_.begin(), busy_.end(), false);
  *free = true;
  cpu_of_[thread] = static_cast<std::uint32_t>(free - busy_.begin());
}

void CpuRows::worked(verbs::Thread thread, ports::Work work, Time begin, Time end) const {
  if (begin == end) return;
  rows_[cpu_of_[thread]].span(ports::work_names[unsigned(work)], begin, end, {{"thread", 0, threads_[thread]}});
}

}  // namespace mtsim::host

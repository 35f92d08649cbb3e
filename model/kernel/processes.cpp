#include "kernel/processes.h"

#include <algorithm>

namespace mtsim::kernel {

Process& Processes::add(engine::Scheduler& scheduler, const Process& parent, std::string name, std::unique_ptr<AddressSpace> space,
                        std::span<const verbs::Thread> threads) {
  Process& child = children_.emplace_back(scheduler, std::move(name), std::move(space));
  child.number = static_cast<std::uint32_t>(children_.size());
  child.memlock = parent.memlock.inherited();
  for (const verbs::Thread thread : threads) {
    if (of_thread_.size() <= thread) of_thread_.resize(thread + 1);
    of_thread_[thread] = &child;
  }
  return child;
}

const Process& Processes::largest() const {
  const auto size = [](const Process& process) { return process.memory.resident() + process.memory.swapped(); };
  const Process* found = &first_;
  for (const Process& child : children_)
    if (size(child) > size(*found)) found = &child;
  return *found;
}

MemorySeries::Levels Processes::levels(const FramePool& frames) const {
  MemorySeries::Levels levels{frames.free(), Pages(), Pages()};
  for_each([&](const Process& process) {
    levels.pinned += process.region_pages;
    levels.swapped += process.memory.swapped();
  });
  return levels;
}

}  // namespace mtsim::kernel

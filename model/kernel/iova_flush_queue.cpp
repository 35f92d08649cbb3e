#include "kernel/iova_flush_queue.h"

namespace mtsim::kernel {

// A flush takes no time that anything could be queued in, so those begun are those finished: an entry is free when one came after it.
void IovaFlushQueue::free_flushed(std::uint32_t by, Ring& ring, std::vector<Freed>& freed) {
  while (!ring.empty() && ring.front().flushes < flushes_) {
    freed.push_back({by, ring.front().range});
    ring.pop_front();
  }
}

void IovaFlushQueue::settle(Time now, std::vector<Freed>& freed) {
  if (!armed_ || now < ends_) return;
  armed_ = false;
  ++flushes_;
  for (Ring& ring : rings_) free_flushed(armed_by_, ring, freed);
}

bool IovaFlushQueue::queue(std::uint32_t cpu, Range range, Time now, std::vector<Freed>& freed) {
  if (cpu >= rings_.size()) rings_.resize(cpu + 1);
  Ring& ring = rings_[cpu];
  // Entries that another CPU's flush has covered go first.
  free_flushed(cpu, ring, freed);
  const bool full = ring.size() == most_;
  if (full) {
    ++flushes_;
    free_flushed(cpu, ring, freed);
  }
  ring.push_back({range, flushes_});
  if (!armed_) {
    armed_ = true;
    ends_ = now + interval_;
    armed_by_ = cpu;
  }
  return full;
}

std::uint64_t IovaFlushQueue::queued() const {
  std::uint64_t sum = 0;
  for (const Ring& ring : rings_) sum += ring.size();
  return sum;
}

}  // namespace mtsim::kernel

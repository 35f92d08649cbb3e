#include "results/latency_table.h"

#include <algorithm>

namespace mtsim::results {

void LatencyTable::merge(const LatencyTable& other) {
  if (other.steps_.empty()) return;
  if (steps_.empty()) *this = LatencyTable(other.steps_);
  assert(steps_ == other.steps_);
  latency_.merge(other.latency_);
  for (std::size_t i = 0; i < totals_.size(); ++i) totals_[i] += other.total(i);
}

void LatencyTable::settle() {
  for (std::size_t i = 0; i < totals_.size(); ++i) totals_[i] = total(i);
  std::fill(recent_.begin(), recent_.end(), 0);
  recent_sum_ = 0;
}

bool LatencyTable::adds_up() const {
  TotalTime sum;
  for (std::size_t i = 0; i < totals_.size(); ++i) sum += total(i);
  return sum == latency_.sum();
}

}  // namespace mtsim::results

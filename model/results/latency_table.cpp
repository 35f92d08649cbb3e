#include "results/latency_table.h"

namespace mtsim::results {

void LatencyTable::merge(const LatencyTable& other) {
  if (steps_.empty()) *this = LatencyTable(other.steps_);
  assert(steps_ == other.steps_);
  latency_.merge(other.latency_);
  for (std::size_t i = 0; i < totals_.size(); ++i) totals_[i] += other.totals_[i];
}

bool LatencyTable::adds_up() const {
  TotalTime sum;
  for (const TotalTime& t : totals_) sum += t;
  return sum == latency_.sum();
}

}  // namespace mtsim::results

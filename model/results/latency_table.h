// Latencies and where the time went: a histogram beside the sum of time by step.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "results/histogram.h"

namespace mtsim::results {

/// Latencies of one kind of operation with their breakdown. The steps are named in the order in which an operation passes them; for
/// each operation the times of its steps add up to its latency.
class LatencyTable {
 public:
  LatencyTable() = default;
  explicit LatencyTable(std::vector<std::string> steps) : steps_(std::move(steps)), totals_(steps_.size()), recent_(steps_.size()) {}
  /// Rebuilds a table from its parts; `totals` are the sums by step.
  LatencyTable(std::vector<std::string> steps, std::vector<TotalTime> totals, Histogram latency)
      : steps_(std::move(steps)), totals_(std::move(totals)), recent_(steps_.size()), latency_(std::move(latency)) {
    assert(steps_.size() == totals_.size());
  }

  /// Counts one operation; `by_step` has one time for each name of steps().
  void add(Time latency, std::span<const Time> by_step) {
    assert(by_step.size() == totals_.size());
    latency_.add(latency);
    for (std::size_t i = 0; i < by_step.size(); ++i) totals_[i].raw += by_step[i].raw;
  }
  /// Counts one operation that began at `begin` and whose steps ended at `ends`, in order; a step that was skipped has an earlier time.
  void add_path(Time begin, std::span<const Time> ends) {
    assert(ends.size() == totals_.size());
    // No branch at a skipped step, and no wide sums: every operation comes by here.
    std::uint64_t* recent = recent_.data();
    Time at = begin;
    for (const Time end : ends) {
      const Time next = std::max(at, end);
      *recent++ += static_cast<std::uint64_t>((next - at).raw);
      at = next;
    }
    latency_.add(at - begin);
    recent_sum_ += static_cast<std::uint64_t>((at - begin).raw);
    if (recent_sum_ >> 62 != 0) [[unlikely]]
      settle();
  }
  /// Adds the operations of a table with the same steps; a table without steps takes over those of `other`, and one
  /// without steps adds nothing.
  void merge(const LatencyTable& other);

  const std::vector<std::string>& steps() const { return steps_; }
  const Histogram& latency() const { return latency_; }
  TotalTime total(std::size_t step) const { return totals_[step] + TotalTime(static_cast<__int128>(recent_[step])); }
  double mean_ns(std::size_t step) const { return results::mean_ns(total(step), latency_.count()); }
  /// Whether the steps account for all of the latency, to the picosecond.
  bool adds_up() const;

 private:
  void settle();

  std::vector<std::string> steps_;
  std::vector<TotalTime> totals_;
  std::vector<std::uint64_t> recent_;  ///< what is to be added to the totals, in picoseconds
  std::uint64_t recent_sum_ = 0;       ///< of all steps: below 2^62, so that with one more operation nothing overflows
  Histogram latency_;
};

}  // namespace mtsim::results

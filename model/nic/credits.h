// Flow-control credits: taken as TLPs go, and back at times known ahead.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "base/units.h"

namespace mtsim::nic {

class Credits {
 public:
  /// 0: there is no bound, and nothing is counted.
  explicit Credits(std::uint64_t all = 0) : all_(all), free_(all) {}

  std::uint64_t all() const { return all_; }
  bool bounded() const { return all_ != 0; }
  bool has(std::uint64_t n, Time now) {
    if (all_ == 0) return true;
    collect(now);
    return free_ >= n;
  }
  /// Of those that it has.
  void take(std::uint64_t n) {
    if (all_ == 0) return;
    free_ -= n;
    most_ = std::max(most_, all_ - free_);
  }
  /// `n` come back at `at`.
  void give_at(Time at, std::uint64_t n) {
    if (all_ == 0 || n == 0) return;
    const auto later = std::upper_bound(back_.begin(), back_.end(), at, [](Time t, const Return& r) { return t < r.at; });
    back_.insert(later, {at, n});
  }
  /// When the next come back, if it is known.
  bool any_due() const { return !back_.empty(); }
  Time next_due() const { return back_.front().at; }
  std::uint64_t most() const { return most_; }
  std::uint64_t in_use(Time now) {
    collect(now);
    return all_ - free_;
  }

 private:
  struct Return {
    Time at;
    std::uint64_t n;
  };
  void collect(Time now) {
    for (; !back_.empty() && back_.front().at <= now; back_.pop_front()) free_ += back_.front().n;
  }

  std::uint64_t all_, free_, most_ = 0;
  std::deque<Return> back_;  ///< by time
};

}  // namespace mtsim::nic

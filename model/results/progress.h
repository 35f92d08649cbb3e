// How far a long run has come, on one line of a terminal that is written over.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>

#include "base/units.h"

namespace mtsim::results {

/// `1.20 ms simulated, 35,000 of 100,000 operations (35.0 %), 1.10 M/s, 59.1 ms left`. `seconds` is wall time since the start;
/// `whole` is 0 when the number of operations is not known, and then nothing is said of what is left.
std::string progress_text(Time simulated, std::uint64_t done, std::uint64_t whole, double seconds);

/// Whether progress belongs on stderr: it is a terminal and nobody asked for quiet.
bool progress_wanted(bool quiet);

/// The line itself. Destroyed, it wipes itself away, so that results start on a clean line.
class ProgressLine {
 public:
  /// Writes to `out`, which must outlive it, and only when `wanted`; `label` (a variant's name) stands in front unless empty.
  ProgressLine(std::ostream& out, bool wanted, std::uint64_t whole, std::string label = {});
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Cheap enough to call every few hundred operations: it writes at most five times a second.
  void update(Time simulated, std::uint64_t done);

 private:
  using WallClock = std::chrono::steady_clock;
  std::ostream& out_;
  bool wanted_;
  std::uint64_t whole_;
  std::string label_;
  WallClock::time_point start_, next_;
  std::size_t shown_ = 0;  ///< characters on the line now
};

}  // namespace mtsim::results

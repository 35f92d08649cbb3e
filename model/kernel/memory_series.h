// How the memory of a host stood over time, in a few hundred points however long the run: where they lie closer than a step, the last of
// each step stays, and the step doubles as often as there are too many of them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"

namespace mtsim::kernel {

class MemorySeries {
 public:
  static constexpr std::size_t most_points = 256;

  struct Levels {
    Pages free, pinned, swapped;
    friend bool operator==(const Levels&, const Levels&) = default;
  };
  /// From `at` on, up to the next point.
  struct Point {
    Time at;
    Levels levels;
  };

  /// Calls come in order of time.
  void note(Time now, const Levels& levels) {
    if (!points_.empty()) {
      Point& last = points_.back();
      if (last.levels == levels) return;
      if (last.at.raw >> step_bits_ == now.raw >> step_bits_) {
        last = {now, levels};
        return;
      }
    }
    points_.push_back({now, levels});
    if (points_.size() > most_points) [[unlikely]]
      thin();
  }
  const std::vector<Point>& points() const { return points_; }

 private:
  void thin();

  std::vector<Point> points_;
  unsigned step_bits_ = 10;  ///< a step is that power of two in picoseconds
};

}  // namespace mtsim::kernel

#include "kernel/memory_series.h"

namespace mtsim::kernel {

void MemorySeries::thin() {
  while (points_.size() > most_points / 2) {
    ++step_bits_;
    std::size_t kept = 0;
    for (const Point& point : points_) {
      if (kept != 0 && points_[kept - 1].at.raw >> step_bits_ == point.at.raw >> step_bits_) --kept;
      points_[kept++] = point;
    }
    points_.resize(kept);
  }
}

}  // namespace mtsim::kernel

// How many of something lie before each place of a row, without a word for each place: counts are kept at up to 4,096 places, and from the
// nearest of them on they are counted anew.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/units.h"

namespace mtsim::translate {

class PrefixCount {
 public:
  /// Of a row of `places`; `count(first, end)` counts those on places [first, end). Counts are kept at multiples of `least` places.
  template <class Count>
  PrefixCount(std::uint64_t places, std::uint64_t least, Count count)
      : stride_(std::max<std::uint64_t>(1, ceil_div(ceil_div(places, most), least)) * least) {
    kept_.reserve(ceil_div(places, stride_));
    for (std::uint64_t first = 0; first < places; first += stride_) {
      kept_.push_back(total_);
      total_ += count(first, std::min(places, first + stride_));
    }
  }

  std::uint64_t total() const { return total_; }
  /// Those before place `i` of the row; with the `count` of the constructor.
  template <class Count>
  std::uint64_t before(std::uint64_t i, Count count) const {
    const std::uint64_t nearest = i / stride_;
    return kept_[nearest] + count(nearest * stride_, i);
  }

 private:
  static constexpr std::uint64_t most = 4096;
  std::uint64_t stride_, total_ = 0;
  std::vector<std::uint64_t> kept_;
};

}  // namespace mtsim::translate

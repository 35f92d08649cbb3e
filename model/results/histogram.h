// A log-linear histogram of times: cheap enough for the data path, precise enough for p99.9.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/units.h"

namespace mtsim::results {

/// A sum of many times in picoseconds. 64 bits hold 106 days, which a long run of slow operations can exceed.
using TotalTime = Quantity<struct TotalTimeTag, __int128>;
constexpr TotalTime total(Time t) { return TotalTime(t.raw); }
/// The mean of `n` times that sum to `sum`, in nanoseconds; 0 for none.
constexpr double mean_ns(TotalTime sum, std::uint64_t n) {
  return n == 0 ? 0.0 : static_cast<double>(sum.raw) / 1e3 / static_cast<double>(n);
}

/// Counts of times in bins 0.39 % wide or less: below 256 ps each value has its own, above that every octave has 256. Count, sum,
/// minimum and maximum are exact. An octave's bins are allocated when its first value comes; otherwise add() allocates nothing.
class Histogram {
 public:
  /// The values in [low, low + width).
  struct Bin {
    Time low, width;
    std::uint64_t count = 0;
    friend bool operator==(const Bin&, const Bin&) = default;
  };

  Histogram() = default;
  /// Rebuilds a histogram from what bins(), min(), max() and sum() of another gave.
  Histogram(std::span<const Bin> bins, Time min, Time max, TotalTime sum);

  /// Counts one value, which is not negative.
  void add(Time value) {
    assert(value.raw >= 0);
    const auto v = static_cast<std::uint64_t>(value.raw);
    const unsigned octave = octave_of(v);
    std::vector<std::uint64_t>& bins = octaves_[octave];
    if (bins.empty()) [[unlikely]]
      bins.resize(sub_bins);
    ++bins[sub_bin(v, octave)];
    ++count_;
    sum_.raw += value.raw;
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
  }
  /// Adds all values of `other`.
  void merge(const Histogram& other);

  std::uint64_t count() const { return count_; }
  TotalTime sum() const { return sum_; }
  /// 0 when nothing was counted; so are max() and quantile().
  Time min() const { return count_ == 0 ? Time(0) : min_; }
  Time max() const { return max_; }
  double mean_ns() const { return results::mean_ns(sum_, count_); }
  /// The value of rank ceil(q · count), 0 <= q <= 1, to within half a bin (0.2 %); exact for the first and the last rank.
  Time quantile(double q) const;
  /// The bins that hold something, by rising value.
  std::vector<Bin> bins() const;

 private:
  static constexpr unsigned sub_bits = 8;
  static constexpr unsigned sub_bins = 1u << sub_bits;
  // Octave 0 is [0, 256), octave k > 0 is [2^(k+7), 2^(k+8)); times have 63 bits.
  static constexpr unsigned octave_count = 63 - sub_bits + 1;

  static constexpr unsigned octave_of(std::uint64_t v) {
    const auto bits = static_cast<unsigned>(std::bit_width(v));
    return bits <= sub_bits ? 0 : bits - sub_bits;
  }
  static constexpr unsigned shift_of(unsigned octave) { return octave == 0 ? 0 : octave - 1; }
  static constexpr unsigned sub_bin(std::uint64_t v, unsigned octave) {
    return static_cast<unsigned>(v >> shift_of(octave)) & (sub_bins - 1);
  }
  static Bin bin(unsigned octave, unsigned sub, std::uint64_t count);

  std::array<std::vector<std::uint64_t>, octave_count> octaves_;
  std::uint64_t count_ = 0;
  TotalTime sum_;
  Time min_{std::numeric_limits<std::int64_t>::max()};
  Time max_;
};

}  // namespace mtsim::results

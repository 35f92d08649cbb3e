#include "results/histogram.h"

#include <cmath>

namespace mtsim::results {

Histogram::Histogram(std::span<const Bin> bins, Time min, Time max, TotalTime sum) : sum_(sum), max_(max) {
  for (const Bin& b : bins) {
    const auto low = static_cast<std::uint64_t>(b.low.raw);
    const unsigned octave = octave_of(low);
    octaves_[octave].resize(sub_bins);
    octaves_[octave][sub_bin(low, octave)] += b.count;
    count_ += b.count;
  }
  if (count_ > 0) min_ = min;
}

void Histogram::merge(const Histogram& other) {
  for (unsigned octave = 0; octave < octave_count; ++octave) {
    if (other.octaves_[octave].empty()) continue;
    octaves_[octave].resize(sub_bins);
    for (unsigned sub = 0; sub < sub_bins; ++sub) octaves_[octave][sub] += other.octaves_[octave][sub];
  }
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

Time Histogram::quantile(double q) const {
  assert(q >= 0 && q <= 1);
  if (count_ == 0) return Time(0);
  const auto rank = static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count_)));
  if (rank <= 1) return min_;
  if (rank >= count_) return max_;
  std::uint64_t below = 0;
  for (const Bin& b : bins()) {
    below += b.count;
    if (below >= rank) return std::clamp(b.low + (b.width - Time(1)) / 2, min_, max_);
  }
  return max_;
}

std::vector<Histogram::Bin> Histogram::bins() const {
  std::vector<Bin> out;
  for (unsigned octave = 0; octave < octave_count; ++octave)
    for (unsigned sub = 0; sub < octaves_[octave].size(); ++sub)
      if (const std::uint64_t n = octaves_[octave][sub]; n > 0) out.push_back(bin(octave, sub, n));
  return out;
}

Histogram::Bin Histogram::bin(unsigned octave, unsigned sub, std::uint64_t count) {
  const unsigned shift = shift_of(octave);
  const std::int64_t first = octave == 0 ? sub : std::int64_t{sub_bins} + sub;
  return {Time(first << shift), Time(std::int64_t{1} << shift), count};
}

}  // namespace mtsim::results

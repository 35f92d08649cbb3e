// Whether two samples differ, and what turns one into the other best. Pure functions of numbers; the unit is the caller's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "results/histogram.h"

namespace mtsim::results::statistics {

/// Values by rising size, equal ones together.
class Sample {
 public:
  struct Step {
    double value = 0;
    std::uint64_t up_to = 0;  ///< how many values are at most this
  };

  Sample() = default;
  explicit Sample(std::vector<double> values);
  /// The middles of the bins in ns, the first and the last at the exact minimum and maximum: values to within 0.2 %.
  static Sample of(const Histogram& histogram);

  std::uint64_t size() const { return steps_.empty() ? 0 : steps_.back().up_to; }
  const std::vector<Step>& steps() const { return steps_; }
  /// 0 without values, as mean() and quantile().
  double min() const { return steps_.empty() ? 0 : steps_.front().value; }
  double max() const { return steps_.empty() ? 0 : steps_.back().value; }
  double mean() const { return mean_; }
  /// The value of rank ceil(q · size), 0 <= q <= 1, the first at least.
  double quantile(double q) const;
  /// Each value times `factor`, which is not negative, plus `offset`.
  Sample turned(double factor, double offset) const;

 private:
  std::vector<Step> steps_;
  double mean_ = 0;
};

/// The two-sample Kolmogorov-Smirnov statistic: the largest distance between the shares of both samples that lie at or below the same
/// value. 0 where one is empty.
double ks_distance(const Sample& a, const Sample& b);
/// What ks_distance() of two samples of one distribution exceeds once in a hundred times: 1.6276 · sqrt((n + m) / (n · m)), which holds
/// for large samples and asks for too much of small ones. 1 or more: samples of that size cannot show a difference.
double ks_critical(std::uint64_t n, std::uint64_t m);

/// The quantiles of both samples at the same `count` shares, the middles of equal parts of [0, 1]. Neither may be empty.
std::vector<std::pair<double, double>> quantile_pairs(const Sample& a, const Sample& b, std::size_t count);
/// As many as both samples deserve: one for each value of the larger, 1000 at most.
std::vector<std::pair<double, double>> quantile_pairs(const Sample& a, const Sample& b);
/// The mean of |second - first|: how far one distribution has to be moved to become the other.
double mean_gap(std::span<const std::pair<double, double>> pairs);

/// The line that leaves the least sum of |second - slope · first - offset|, or of those lines with the slope or the offset given the least.
/// No slope is found where every first is the same.
struct Line {
  double slope = 1, offset = 0;
};
std::optional<Line> best_factor(std::span<const std::pair<double, double>> pairs);
Line best_offset(std::span<const std::pair<double, double>> pairs);
std::optional<Line> best_line(std::span<const std::pair<double, double>> pairs);

/// An operation that both sides have.
struct Pair {
  double bytes = 0, a = 0, b = 0;
};

/// B's values are A's times `factor` plus `offset` plus `per_byte` for each byte of the operation.
struct Fit {
  enum class Kind : std::uint8_t { factor, offset, both, bytes };
  Kind kind = Kind::factor;
  double factor = 1, offset = 0, per_byte = 0;
  double explained = 0;  ///< share of the gap between both distributions that is gone with it
  double ks = 0;         ///< ks_distance() of what A becomes to B
};

struct Explanation {
  double gap = 0;  ///< mean_gap() as the samples are
  std::vector<Fit> fits;
  std::optional<std::size_t> best;  ///< in `fits`: two figures only where they explain 5 points more than one does
};
/// `pairs`: the operations of which both samples consist, as far as they match; the sizes of operations are told by them alone. There is
/// nothing to explain between samples that are the same, or where one is empty.
Explanation explain(const Sample& a, const Sample& b, std::span<const Pair> pairs = {});

}  // namespace mtsim::results::statistics

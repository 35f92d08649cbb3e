#include "results/compare_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mtsim::results::statistics {
namespace {

using Points = std::span<const std::pair<double, double>>;

constexpr std::size_t most_points = 1000, most_pairs = 20'000;
constexpr double told_from = 0.05;  ///< what a second figure has to explain beyond the first
constexpr double nothing = 1e-12;   ///< a gap of this share of the values is one of rounding

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// The offset that suits a slope best, and what it leaves.
struct Remainder {
  double offset = 0, left = 0;
};
Remainder remainder(Points pairs, double slope, std::vector<double>& scratch) {
  scratch.clear();
  for (const auto& [x, y] : pairs) scratch.push_back(y - slope * x);
  Remainder out{median(scratch), 0};
  for (const double v : scratch) out.left += std::abs(v - out.offset);
  return out;
}

/// The slope in [low, high] that leaves least with the offset that suits it. What is left is convex in the slope.
Line search(Points pairs, double low, double high, std::initializer_list<double> more) {
  std::vector<double> scratch;
  const auto left = [&](double slope) { return remainder(pairs, slope, scratch).left; };
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double c = high - golden * (high - low), d = low + golden * (high - low), at_c = left(c), at_d = left(d);
  for (int step = 0; step < 120 && high - low > 1e-12 * std::max(std::abs(low), std::abs(high)); ++step) {
    if (at_c <= at_d) {
      high = d;
      d = c;
      at_d = at_c;
      c = high - golden * (high - low);
      at_c = left(c);
    } else {
      low = c;
      c = d;
      at_c = at_d;
      d = low + golden * (high - low);
      at_d = left(d);
    }
  }
  double best = (low + high) / 2, least = left(best);
  // Rounding keeps the search some digits from what a simpler law has exactly.
  for (const double slope : more)
    if (const double l = left(slope); l <= least * (1 + 1e-9)) {
      best = slope;
      least = l;
    }
  return {best, remainder(pairs, best, scratch).offset};
}

double gap_after(Points pairs, const Line& line) {
  double sum = 0;
  for (const auto& [x, y] : pairs) sum += std::abs(y - line.slope * x - line.offset);
  return pairs.empty() ? 0 : sum / static_cast<double>(pairs.size());
}

/// Of operations of several sizes: what each takes longer, as a constant and an amount by byte.
std::optional<Fit> fit_bytes(const Sample& b, std::span<const Pair> pairs, double gap) {
  const auto by_size = [](const Pair& x, const Pair& y) { return x.bytes < y.bytes; };
  if (pairs.size() < 2) return std::nullopt;
  const auto [least, most] = std::minmax_element(pairs.begin(), pairs.end(), by_size);
  if (least->bytes == most->bytes) return std::nullopt;
  std::vector<std::pair<double, double>> points;
  const std::size_t stride = (pairs.size() + most_pairs - 1) / most_pairs;
  double span = 0;
  for (std::size_t i = 0; i < pairs.size(); i += stride) {
    points.emplace_back(pairs[i].bytes, pairs[i].b - pairs[i].a);
    span = std::max(span, std::abs(points.back().second));
  }
  // No line that leaves least is steeper than the steepest between two points, which lie a byte apart at least.
  const Line line = search(points, -2 * span, 2 * span, {0.0});
  Fit fit{Fit::Kind::bytes, 1, line.offset, line.slope, 0, 0};
  std::vector<double> turned;
  turned.reserve(pairs.size());
  for (const Pair& p : pairs) turned.push_back(p.a + line.offset + line.slope * p.bytes);
  const Sample a(std::move(turned));
  fit.explained = std::clamp(1 - mean_gap(quantile_pairs(a, b)) / gap, 0.0, 1.0);
  fit.ks = ks_distance(a, b);
  return fit;
}

std::optional<std::size_t> foremost(const std::vector<Fit>& fits) {
  std::optional<std::size_t> one, two;
  for (std::size_t i = 0; i < fits.size(); ++i) {
    std::optional<std::size_t>& best = fits[i].kind == Fit::Kind::factor || fits[i].kind == Fit::Kind::offset ? one : two;
    if (!best || fits[i].explained > fits[*best].explained) best = i;
  }
  if (!one || !two) return one ? one : two;
  return fits[*two].explained >= fits[*one].explained + told_from ? two : one;
}

}  // namespace

Sample::Sample(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += values[i];
    if (steps_.empty() || steps_.back().value != values[i]) steps_.push_back({values[i], 0});
    steps_.back().up_to = i + 1;
  }
  if (!values.empty()) mean_ = sum / static_cast<double>(values.size());
}

Sample Sample::of(const Histogram& histogram) {
  Sample out;
  const auto ns = [](Time t) { return static_cast<double>(t.raw) / 1e3; };
  std::uint64_t up_to = 0;
  for (const Histogram::Bin& bin : histogram.bins()) {
    const double middle = ns(bin.low) + ns(bin.width - Time(1)) / 2;
    out.steps_.push_back({std::clamp(middle, ns(histogram.min()), std::max(ns(histogram.min()), ns(histogram.max()))), up_to += bin.count});
  }
  if (!out.steps_.empty()) {
    out.steps_.front().value = ns(histogram.min());
    if (out.steps_.size() > 1) out.steps_.back().value = ns(histogram.max());
  }
  out.mean_ = histogram.mean_ns();
  return out;
}

double Sample::quantile(double q) const {
  if (steps_.empty()) return 0;
  const auto rank = static_cast<std::uint64_t>(std::max(1.0, std::ceil(q * static_cast<double>(size()))));
  const auto found = std::lower_bound(steps_.begin(), steps_.end(), rank, [](const Step& step, std::uint64_t r) { return step.up_to < r; });
  return found == steps_.end() ? steps_.back().value : found->value;
}

Sample Sample::turned(double factor, double offset) const {
  Sample out = *this;
  for (Step& step : out.steps_) step.value = step.value * factor + offset;
  out.mean_ = mean_ * factor + offset;
  return out;
}

double ks_distance(const Sample& a, const Sample& b) {
  if (a.size() == 0 || b.size() == 0) return 0;
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  double most = 0, share_a = 0, share_b = 0;
  auto at_a = a.steps().begin(), at_b = b.steps().begin();
  while (at_a != a.steps().end() && at_b != b.steps().end()) {
    const double value = std::min(at_a->value, at_b->value);
    for (; at_a != a.steps().end() && at_a->value <= value; ++at_a) share_a = static_cast<double>(at_a->up_to) / n;
    for (; at_b != b.steps().end() && at_b->value <= value; ++at_b) share_b = static_cast<double>(at_b->up_to) / m;
    most = std::max(most, std::abs(share_a - share_b));
  }
  return most;
}

double ks_critical(std::uint64_t n, std::uint64_t m) {
  if (n == 0 || m == 0) return std::numeric_limits<double>::infinity();
  const auto x = static_cast<double>(n), y = static_cast<double>(m);
  return std::sqrt(-std::log(0.01 / 2) / 2) * std::sqrt((x + y) / (x * y));
}

std::vector<std::pair<double, double>> quantile_pairs(const Sample& a, const Sample& b, std::size_t count) {
  std::vector<std::pair<double, double>> out;
  out.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    out.emplace_back(a.quantile(share), b.quantile(share));
  }
  return out;
}

std::vector<std::pair<double, double>> quantile_pairs(const Sample& a, const Sample& b) {
  return quantile_pairs(a, b, static_cast<std::size_t>(std::min<std::uint64_t>(most_points, std::max(a.size(), b.size()))));
}

double mean_gap(Points pairs) { return gap_after(pairs, {}); }

std::optional<Line> best_factor(Points pairs) {
  // |y - s x| is |x| · |y / x - s|: the median of the ratios, weighted with x.
  std::vector<std::pair<double, double>> ratios;
  double weight = 0;
  for (const auto& [x, y] : pairs)
    if (x > 0) {
      ratios.emplace_back(y / x, x);
      weight += x;
    }
  if (ratios.empty()) return std::nullopt;
  std::sort(ratios.begin(), ratios.end());
  double below = 0;
  for (const auto& [ratio, x] : ratios)
    if ((below += x) * 2 >= weight) return Line{ratio, 0};
  return Line{ratios.back().first, 0};
}

Line best_offset(Points pairs) {
  if (pairs.empty()) return {};
  std::vector<double> scratch;
  return {1, remainder(pairs, 1, scratch).offset};
}

std::optional<Line> best_line(Points pairs) {
  if (pairs.empty()) return std::nullopt;
  // The best line goes through two points, so its slope lies between the least and the greatest from one first to the next.
  std::vector<std::pair<double, double>> sorted(pairs.begin(), pairs.end());
  std::sort(sorted.begin(), sorted.end());
  double low = std::numeric_limits<double>::infinity(), high = -low;
  // Of points with the same first, the last has the greatest second.
  for (std::size_t begin = 0, next = 0, before = 0; begin < sorted.size(); before = begin, begin = next) {
    while (next < sorted.size() && sorted[next].first == sorted[begin].first) ++next;
    if (begin == 0) continue;
    const double dx = sorted[begin].first - sorted[before].first;
    low = std::min(low, (sorted[begin].second - sorted[begin - 1].second) / dx);
    high = std::max(high, (sorted[next - 1].second - sorted[before].second) / dx);
  }
  if (low > high) return std::nullopt;
  const std::optional<Line> factor = best_factor(pairs);
  return search(pairs, low, high, {1.0, factor ? factor->slope : 1.0});
}

Explanation explain(const Sample& a, const Sample& b, std::span<const Pair> pairs) {
  Explanation out;
  if (a.size() == 0 || b.size() == 0) return out;
  const std::vector<std::pair<double, double>> points = quantile_pairs(a, b);
  out.gap = mean_gap(points);
  if (out.gap <= nothing * std::max(std::abs(a.max()), std::abs(b.max()))) return out;
  const auto add = [&](Fit::Kind kind, const std::optional<Line>& line) {
    if (!line) return;
    Fit fit{kind, line->slope, line->offset, 0, std::clamp(1 - gap_after(points, *line) / out.gap, 0.0, 1.0), 0};
    fit.ks = ks_distance(a.turned(line->slope, line->offset), b);
    out.fits.push_back(fit);
  };
  add(Fit::Kind::factor, best_factor(points));
  add(Fit::Kind::offset, best_offset(points));
  add(Fit::Kind::both, best_line(points));
  if (const std::optional<Fit> fit = fit_bytes(b, pairs, out.gap)) out.fits.push_back(*fit);
  out.best = foremost(out.fits);
  return out;
}

}  // namespace mtsim::results::statistics

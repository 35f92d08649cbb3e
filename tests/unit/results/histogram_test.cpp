#include "results/histogram.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

namespace mtsim::results {
namespace {

/// The value of rank ceil(q · n) of sorted values.
std::int64_t truth(const std::vector<std::int64_t>& sorted, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

TEST_CASE("an empty histogram is all zeros") {
  const Histogram h;
  CHECK(h.count() == 0);
  CHECK(h.min() == Time(0));
  CHECK(h.max() == Time(0));
  CHECK(h.quantile(0.5) == Time(0));
  CHECK(h.bins().empty());
}

TEST_CASE("quantiles stay within half a bin of the sorted truth") {
  std::mt19937_64 random(GENERATE(1u, 2u, 3u));
  std::lognormal_distribution<double> shape(15.0, GENERATE(0.1, 2.0, 5.0));
  Histogram h;
  std::vector<std::int64_t> values;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(static_cast<std::int64_t>(std::min(shape(random), 9e18)));
    h.add(Time(values.back()));
  }
  std::sort(values.begin(), values.end());
  for (const double q : {0.0, 0.001, 0.1, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0}) {
    const auto exact = static_cast<double>(truth(values, q));
    CHECK(std::abs(static_cast<double>(h.quantile(q).raw) - exact) <= std::max(0.5, exact / 512));
  }
  CHECK(h.min() == Time(values.front()));
  CHECK(h.max() == Time(values.back()));
  __int128 sum = 0;
  for (const std::int64_t v : values) sum += v;
  CHECK((h.sum().raw == sum));
}

TEST_CASE("no bin is wider than 0.4 percent of its values, and each holds what it says") {
  Histogram h;
  for (int bit = 0; bit < 63; ++bit)
    for (const std::int64_t near : {-1, 0, 1})
      if ((std::int64_t{1} << bit) + near >= 0) h.add(Time((std::int64_t{1} << bit) + near));
  h.add(Time(INT64_MAX));
  std::uint64_t count = 0;
  std::int64_t end = 0;
  for (const Histogram::Bin& b : h.bins()) {
    CHECK(b.low.raw >= end);
    CHECK(b.width.raw <= std::max(1.0, static_cast<double>(b.low.raw) * 0.004));
    end = b.low.raw + (b.width.raw - 1);
    count += b.count;
  }
  CHECK(count == h.count());
  CHECK(h.quantile(1) == Time(INT64_MAX));
}

TEST_CASE("sums go beyond 64 bits") {
  Histogram h;
  for (int i = 0; i < 4; ++i) h.add(Time(INT64_MAX));
  CHECK((h.sum().raw == __int128{INT64_MAX} * 4));
  CHECK(h.mean_ns() == Approx(static_cast<double>(INT64_MAX) / 1e3));
}

TEST_CASE("merging two halves gives the whole") {
  Histogram whole, left, right;
  for (std::int64_t i = 0; i < 5'000; ++i) {
    const Time t(i * i * 37 % 1'000'003);
    whole.add(t);
    (i % 3 == 0 ? left : right).add(t);
  }
  left.merge(right);
  left.merge(Histogram());
  CHECK(left.bins() == whole.bins());
  CHECK(left.min() == whole.min());
  CHECK(left.max() == whole.max());
  CHECK((left.sum() == whole.sum()));
}

TEST_CASE("a histogram rebuilt from its parts is the same") {
  Histogram h;
  for (std::int64_t i = 1; i < 2'000'000'000; i = i * 3 / 2 + 1) h.add(Time(i));
  const Histogram again(h.bins(), h.min(), h.max(), h.sum());
  CHECK(again.bins() == h.bins());
  CHECK(again.count() == h.count());
  for (const double q : {0.0, 0.3, 0.5, 0.99, 1.0}) CHECK(again.quantile(q) == h.quantile(q));
}

}  // namespace
}  // namespace mtsim::results

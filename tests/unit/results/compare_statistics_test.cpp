// Are the statistics of a comparison what one computes by hand?
#include "results/compare_statistics.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace mtsim;
using namespace mtsim::results;
using namespace mtsim::results::statistics;

namespace {

using Points = std::vector<std::pair<double, double>>;

const Fit& fit(const Explanation& e, Fit::Kind kind) {
  for (const Fit& f : e.fits)
    if (f.kind == kind) return f;
  throw std::runtime_error("no such fit");
}

}  // namespace

TEST_CASE("a sample has its values by rising size, and quantiles by rank") {
  const Sample s({5, 1, 3, 3});
  CHECK(s.size() == 4);
  CHECK(s.steps().size() == 3);
  CHECK(s.min() == 1);
  CHECK(s.max() == 5);
  CHECK(s.mean() == 3);
  // Ranks 1, 1, 2, 3 and 4.
  CHECK(s.quantile(0) == 1);
  CHECK(s.quantile(0.25) == 1);
  CHECK(s.quantile(0.26) == 3);
  CHECK(s.quantile(0.75) == 3);
  CHECK(s.quantile(0.76) == 5);
  const Sample turned = s.turned(2, 10);
  CHECK(turned.min() == 12);
  CHECK(turned.quantile(1) == 20);
  CHECK(turned.mean() == 16);
  const Sample none;
  CHECK(none.size() == 0);
  CHECK(none.quantile(0.5) == 0);
}

TEST_CASE("a histogram's sample has its count, ends and mean exactly, and its values to within a bin") {
  Histogram h;
  for (const std::int64_t v : {1'000'000, 2'000'000, 2'000'000, 9'999'999}) h.add(ps(v));
  const Sample s = Sample::of(h);
  CHECK(s.size() == 4);
  CHECK(s.min() == 1000);
  CHECK(s.max() == 9999.999);
  CHECK(s.mean() == Approx(3749.99975));
  CHECK(s.quantile(0.5) == Approx(2000).epsilon(0.002));
  CHECK(Sample::of(Histogram()).size() == 0);
  Histogram one;
  one.add(ps(777'777));
  CHECK(Sample::of(one).min() == Sample::of(one).max());
}

TEST_CASE("the KS statistic is the largest distance between the shares at or below a value") {
  CHECK(ks_distance(Sample({1, 2, 3}), Sample({1, 2, 3})) == 0);
  CHECK(ks_distance(Sample({1, 2, 3}), Sample({4, 5})) == 1);
  // At 2: 2/4 against 0; at 3: 3/4 against 1/2.
  CHECK(ks_distance(Sample({1, 2, 3, 4}), Sample({3, 5})) == 0.5);
  // Ties: at 1 it is 2/4 against 1/4, at 2 it is 1 on both sides.
  CHECK(ks_distance(Sample({1, 1, 2, 2}), Sample({1, 2, 2, 2})) == 0.25);
  CHECK(ks_distance(Sample(), Sample({1})) == 0);
}

TEST_CASE("the critical value at 1 % is 1.6276 times the root of (n + m) / nm") {
  CHECK(ks_critical(100, 100) == Approx(1.6276 * std::sqrt(0.02)).epsilon(1e-4));
  CHECK(ks_critical(50, 200) == Approx(1.6276 * 0.158114).epsilon(1e-4));
  CHECK(ks_critical(2, 2) > 1);
  CHECK(std::isinf(ks_critical(0, 5)));
}

TEST_CASE("quantiles of two samples are paired at the middles of equal shares") {
  CHECK(quantile_pairs(Sample({1, 2, 3}), Sample({10, 20, 30})) == Points{{1, 10}, {2, 20}, {3, 30}});
  // Shares 1/8, 3/8, 5/8, 7/8: of two values the first twice.
  CHECK(quantile_pairs(Sample({1, 2}), Sample({1, 2, 3, 4})) == Points{{1, 1}, {1, 2}, {2, 3}, {2, 4}});
  CHECK(mean_gap(Points{{1, 1}, {1, 2}, {2, 3}, {2, 4}}) == 1);
  CHECK(quantile_pairs(Sample(std::vector<double>(5000, 1.0)), Sample({2})).size() == 1000);
}

TEST_CASE("the factor that leaves least is the weighted median of the ratios") {
  // Ratios 2, 3 and 10 with weights 4, 3 and 1: half the weight is reached at 2. With 2 it leaves 0 + 3 + 8.
  const Points points{{4, 8}, {3, 9}, {1, 10}};
  CHECK(best_factor(points)->slope == 2);
  CHECK(best_factor(points)->offset == 0);
  CHECK_FALSE(best_factor(Points{{0, 1}, {0, 2}}));
}

TEST_CASE("the offset that leaves least is the median of the differences") {
  CHECK(best_offset(Points{{1, 4}, {2, 5}, {3, 100}}).offset == 3);
  CHECK(best_offset(Points{{1, 4}, {2, 7}}).offset == 4);
}

TEST_CASE("the line that leaves least goes through two of the points") {
  // Four of five lie on 3 x + 7; the last is 1000 off it.
  const std::optional<Line> line = best_line(Points{{1, 10}, {2, 13}, {3, 16}, {4, 19}, {5, 1022}});
  REQUIRE(line);
  CHECK(line->slope == Approx(3));
  CHECK(line->offset == Approx(7));
  CHECK_FALSE(best_line(Points{{2, 1}, {2, 5}}));
  // One first with several seconds: 0 at 0, 0 to 10 at 1.
  CHECK(best_line(Points{{0, 0}, {1, 0}, {1, 10}, {1, 10}, {2, 20}})->slope == Approx(10));
}

TEST_CASE("times that are a multiple are explained by a factor, with what is left of the KS statistic") {
  const Explanation exact = explain(Sample({10, 20, 30, 100}), Sample({412, 824, 1236, 4120}));
  REQUIRE(exact.best);
  const Fit& best = exact.fits[*exact.best];
  CHECK(best.kind == Fit::Kind::factor);
  CHECK(best.factor == Approx(41.2));
  CHECK(best.explained == Approx(1));
  CHECK(exact.gap == Approx(40.2 * 40));
}

TEST_CASE("times that are later by the same are explained by an offset") {
  const Sample a({10, 20, 30, 100}), b({15, 25, 35, 105});
  const Explanation e = explain(a, b);
  REQUIRE(e.best);
  CHECK(e.gap == 5);
  CHECK(e.fits[*e.best].kind == Fit::Kind::offset);
  CHECK(e.fits[*e.best].offset == 5);
  CHECK(e.fits[*e.best].explained == 1);
  CHECK(e.fits[*e.best].ks == 0);
  // Ratios 1.5, 1.25, 1.1667 and 1.05 with weights 10, 20, 30 and 100: the median weight is at 1.05, which leaves 4.5, 4, 3.5 and 0.
  CHECK(fit(e, Fit::Kind::factor).factor == Approx(1.05));
  CHECK(fit(e, Fit::Kind::factor).explained == Approx(1 - 3.0 / 5));
}

TEST_CASE("a second figure is named where it explains what the first does not") {
  const Explanation e = explain(Sample({10, 20, 30, 100}), Sample({120, 140, 160, 300}));
  REQUIRE(e.best);
  const Fit& best = e.fits[*e.best];
  CHECK(best.kind == Fit::Kind::both);
  CHECK(best.factor == Approx(2));
  CHECK(best.offset == Approx(100));
  CHECK(best.explained == Approx(1));
}

TEST_CASE("what grows with the size is explained by bytes, where operations are told by size") {
  // Those of 1000 bytes take 4 more and 3 for each 1000 bytes, and overtake nothing.
  std::vector<Pair> pairs;
  std::vector<double> a, b;
  for (const double bytes : {0.0, 1000.0, 8000.0})
    for (const double jitter : {0.0, 1.0, 2.0, 5.0}) {
      pairs.push_back({bytes, 10 + jitter, 14 + jitter + bytes * 0.003});
      a.push_back(pairs.back().a);
      b.push_back(pairs.back().b);
    }
  const Explanation e = explain(Sample(a), Sample(b), pairs);
  REQUIRE(e.best);
  const Fit& best = e.fits[*e.best];
  CHECK(best.kind == Fit::Kind::bytes);
  CHECK(best.offset == Approx(4));
  CHECK(best.per_byte == Approx(0.003));
  CHECK(best.explained == Approx(1).epsilon(1e-6));
  // All of one size: nothing can be told by size.
  for (Pair& p : pairs) p.bytes = 64;
  for (const Fit& f : explain(Sample(a), Sample(b), pairs).fits) CHECK(f.kind != Fit::Kind::bytes);
}

TEST_CASE("there is nothing to explain between equal samples, nor where one is empty") {
  CHECK_FALSE(explain(Sample({1, 2}), Sample({1, 2})).best);
  CHECK_FALSE(explain(Sample(), Sample({1, 2})).best);
  CHECK(explain(Sample({1, 2}), Sample({1, 2})).gap == 0);
}

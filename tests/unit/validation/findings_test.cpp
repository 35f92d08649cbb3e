// Is the arithmetic of the comparison right: tolerances, bands, lines, orders, steps?
#include "validation/findings.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "validation/measure.h"
#include "validation/unit.h"

using namespace mtsim;
using namespace mtsim::validation;

namespace {

using Kind = Tolerance::Kind;
using Json = nlohmann::json;

Measure of(const std::vector<std::string>& paths) {
  Measure m;
  for (const std::string& path : paths) m.terms.push_back({path, {"row.yaml", 3, 5}});
  return m;
}

Series series_of(std::vector<Point> points) {
  Series s;
  s.name = "s";
  s.unit = "us";
  s.measure = of({"reg_mr_mean"});
  s.points = std::move(points);
  return s;
}

/// Reports in which registering takes so many ns.
std::map<std::string, Json> reports(const std::vector<std::pair<std::string, double>>& means) {
  std::map<std::string, Json> out;
  for (const auto& [variant, ns] : means) out[variant]["registration"]["reg_mr"] = {{"latency", {{"mean_ns", ns}}}, {"calls", 4}};
  return out;
}

std::string complaint(const Json& report, const std::string& path, const std::string& unit) {
  try {
    measure(report, of({path}), unit);
  } catch (const UserError& error) { return error.what(); }
  return "taken";
}

}  // namespace

TEST_CASE("a share is one of the published figure, both ways, its ends included") {
  const Tolerance ten{Kind::share, 0.1};
  CHECK(within(ten, {100, 100}, 110));
  CHECK(within(ten, {100, 100}, 90));
  CHECK_FALSE(within(ten, {100, 100}, 110.001));
  CHECK_FALSE(within(ten, {100, 100}, 89.999));
  CHECK(within(ten, {0.3, 0.3}, 0.33));
  CHECK(within(ten, {-100, -100}, -110));
  CHECK_FALSE(within({Kind::share, 0}, {7, 7}, 7.0001));
  CHECK(within({Kind::share, 0}, {7, 7}, 7));
}

TEST_CASE("an absolute tolerance is in the unit of the figure, a factor goes both ways") {
  CHECK(within({Kind::absolute, 0.1}, {2.27, 2.27}, 2.37));
  CHECK_FALSE(within({Kind::absolute, 0.1}, {2.27, 2.27}, 2.38));
  CHECK(within({Kind::factor, 1.5}, {10, 10}, 15));
  CHECK(within({Kind::factor, 1.5}, {10, 10}, 10 / 1.5));
  CHECK_FALSE(within({Kind::factor, 1.5}, {10, 10}, 6.6));
  CHECK_FALSE(within({Kind::factor, 1.5}, {10, 10}, -10));
}

TEST_CASE("the error is that from the nearer end of a band") {
  CHECK(*error_of({10, 10}, 11) == Approx(0.1));
  CHECK(*error_of({10, 40}, 25) == 0);
  CHECK(*error_of({10, 40}, 44) == Approx(0.1));
  CHECK(*error_of({10, 40}, 5) == Approx(-0.5));
  CHECK(*error_of({-10, -10}, -11) == Approx(-0.1));
  CHECK_FALSE(error_of({0, 0}, 1).has_value());
}

TEST_CASE("a line is that of least squares") {
  const Line exact = fit_line({1, 4, 16, 64}, {30, 33, 45, 93});
  CHECK(exact.slope == Approx(1));
  CHECK(exact.intercept == Approx(29));
  CHECK(exact.r2 == Approx(1));
  // By hand: means 2 and 3; sums of products 2, 2 and 14/3... of (1,2), (2,4), (3,3).
  const Line rough = fit_line({1, 2, 3}, {2, 4, 3});
  CHECK(rough.slope == Approx(0.5));
  CHECK(rough.intercept == Approx(2));
  CHECK(rough.r2 == Approx(0.25));
  CHECK(fit_line({1, 2, 3}, {5, 5, 5}).r2 == 1);
}

TEST_CASE("an order counts the pairs that lie apart, and those that keep it") {
  const std::vector<Band> published{{10, 10}, {10.2, 10.2}, {20, 20}};
  CHECK(order_of(published, {1, 2, 3}, 0.05).pairs == 2);
  CHECK(order_of(published, {2, 1, 3}, 0.05).kept == 2);
  CHECK(order_of(published, {1, 3, 2}, 0.05).kept == 1);
  CHECK(order_of(published, {1, 1, 1}, 0).pairs == 3);
  CHECK(order_of(published, {1, 1, 1}, 0).kept == 0);
}

TEST_CASE("a row's figures are measured, reduced and judged") {
  Row row;
  Series s = series_of({{"a", {1, 1}}, {"b", {2, 2}}, {"c", {4, 4}}});
  s.tolerance = {Kind::share, 0.1};
  s.order = 0.05;
  s.steps = {{0, 1, 0.5}, {2, 1, -0.4}, {0, 2, 5.0}};
  s.line = LineCheck{{1, 2, 4}, "page", 1.0, 0.5, 0.95, {Kind::share, 0.2}};
  row.series.push_back(s);
  const RowFindings found = judge(row, reports({{"a", 1050}, {"b", 2000}, {"c", 5000}}));
  const auto& all = found.series.at(0).findings;
  REQUIRE(all.size() == 3 + 3 + 1 + 3);
  CHECK(all[0].within);
  CHECK(*all[0].error == Approx(0.05));
  CHECK(all[1].within);
  CHECK_FALSE(all[2].within);
  CHECK(all[3].name == "line: slope a page");
  CHECK_FALSE(all[3].within);
  CHECK(all[5].name == "line: R^2");
  CHECK(all[6].within);
  CHECK(all[7].simulated == Approx(90.476).epsilon(1e-4));
  CHECK(all[7].within);
  CHECK(all[8].simulated == Approx(-60));
  CHECK(all[8].within);
  CHECK_FALSE(all[9].within);
  CHECK(found.judged() == 10);
  CHECK(found.misses() == 4);
}

TEST_CASE("a figure may be a difference, and divided") {
  Row row;
  Series s = series_of({{"b", {3, 3}}});
  s.minus = "a";
  s.per = 5;
  s.unit = "ns";
  row.series.push_back(s);
  s.minus.reset();
  s.per.reset();
  s.per_measure = of({"registration.reg_mr.calls"});
  s.judged = false;
  row.series.push_back(s);
  const RowFindings found = judge(row, reports({{"a", 85}, {"b", 100}}));
  CHECK(found.series[0].findings[0].simulated == Approx(3));
  CHECK(found.series[1].findings[0].simulated == Approx(25));
  CHECK(found.judged() == 1);
  CHECK(found.misses() == 0);
}

TEST_CASE("a band is its own tolerance") {
  Row row;
  row.series.push_back(series_of({{"a", {10, 40}}}));
  CHECK(judge(row, reports({{"a", 40'000}})).misses() == 0);
  CHECK(judge(row, reports({{"a", 40'001}})).misses() == 1);
}

TEST_CASE("a path finds keys with dots, names stand for paths, and a minus sign takes off") {
  const Json report = {{"caches", {{"server.nic.mtt_cache", {{"hits", 7}, {"miss_latency_total_ps", "5000000"}}}}},
                       {"summary", {{"window_start_ns", 1000.0}, {"window_end_ns", 4000.0}, {"registration_cpu_share", 0.25}}}};
  CHECK(measure(report, of({"caches.server.nic.mtt_cache.hits"}), "count") == 7);
  CHECK(measure(report, of({"caches.server.nic.mtt_cache.miss_latency_total_ps"}), "us") == Approx(5));
  CHECK(measure(report, of({"measured_time"}), "us") == Approx(3));
  CHECK(measure(report, of({"summary.window_end_ns", "-summary.window_start_ns"}), "ns") == Approx(3000));
  CHECK(measure(report, of({"registration_cpu"}), "%") == Approx(25));
}

TEST_CASE("a path that leads nowhere is told with what is there") {
  const Json report = {{"summary", {{"bytes", 5}, {"simulated_ns", 3.0}, {"what_saturates", "x"}}}};
  const std::string at = "row.yaml:3:5: measure: ";
  CHECK(complaint(report, "summary.byte", "B") == at + "'summary.byte': there is no 'byte' at 'summary', but bytes, simulated_ns, "
                                                       "what_saturates; did you mean 'bytes'?");
  CHECK(complaint(report, "sumary.bytes", "B") ==
        at + "'sumary.bytes': there is no 'sumary' in a report, but summary; did you mean 'summary'?");
  CHECK(complaint(report, "measured_tim", "us") ==
        at + "'measured_tim': there is no 'measured_tim' in a report, but summary; did you mean 'measured_time'?");
  CHECK(complaint(report, "summary.bytes.all", "B") == at + "'summary.bytes.all': a single value stands at 'summary.bytes'");
  CHECK(complaint(report, "summary", "B") == at + "'summary' is no number, but holds bytes, simulated_ns, what_saturates");
  CHECK(complaint(report, "summary.what_saturates", "B") == at + "'summary.what_saturates' is no number, but \"x\"");
  CHECK(complaint(report, "summary.bytes", "us") == at + "'summary.bytes' is in units of bytes, which cannot be shown in us");
}

TEST_CASE("units follow from the end of a key") {
  CHECK(unit_of_key("mean_ns").scale == 1e-9);
  CHECK(unit_of_key("goodput_gbit_per_s").of == "bits");
  CHECK(unit_of_key("operations_rate_per_s").of == "rate");
  CHECK(unit_of_key("bytes").of == "bytes");
  CHECK(unit_of_key("calls").of == "count");
  CHECK(unit_of_key("columns").of == "count");
  CHECK(unit_of("K/s").scale == 1e3);
}

#include "validation/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/error.h"
#include "validation/measure.h"

namespace mtsim::validation {
namespace {

/// So that a figure that sits on the bound does not fall off it by rounding.
constexpr double grace = 1e-9;

double figure(const Series& series, const std::map<std::string, nlohmann::json>& reports, const std::string& variant) {
  const nlohmann::json& report = reports.at(variant);
  double value = measure(report, series.measure, series.unit);
  if (series.minus) value -= measure(reports.at(*series.minus), series.measure, series.unit);
  if (series.per) value /= *series.per;
  if (!series.per_measure.terms.empty()) {
    const double by = measure(report, series.per_measure, "");
    if (by == 0)
      throw UserError(fmt::format("{}: per: '{}' is 0", series.per_measure.terms[0].place.text(), series.per_measure.terms[0].path));
    value /= by;
  }
  return value;
}

/// A band says itself how far off is still right.
Finding compared(Finding::Kind kind, std::string name, std::string unit, const Band& published, const Tolerance& tolerance,
                 double simulated) {
  Finding f{kind, std::move(name), std::move(unit), published.low, published.high, simulated, {}, {}, false};
  f.error = error_of(published, simulated);
  f.tolerance = published.single() ? tolerance.text(f.unit) : "band";
  f.within = within(published.single() ? tolerance : Tolerance{Tolerance::Kind::absolute, 0}, published, simulated);
  return f;
}

void judge_line(const Series& series, const std::vector<double>& simulated, std::vector<Finding>& out) {
  const LineCheck& check = *series.line;
  const Line line = fit_line(check.at, simulated);
  if (check.slope)
    out.push_back(compared(Finding::Kind::line, "line: slope a " + check.per, series.unit, {*check.slope, *check.slope}, check.tolerance,
                           line.slope));
  if (check.intercept)
    out.push_back(
        compared(Finding::Kind::line, "line: at 0", series.unit, {*check.intercept, *check.intercept}, check.tolerance, line.intercept));
  if (check.least_r2) {
    Finding f{Finding::Kind::line, "line: R^2", "", check.least_r2, {}, line.r2, {}, "at least", false};
    f.within = line.r2 >= *check.least_r2 - grace;
    out.push_back(std::move(f));
  }
}

void judge_order(const Series& series, const std::vector<double>& simulated, std::vector<Finding>& out) {
  std::vector<Band> published;
  for (const Point& p : series.points) published.push_back(p.published);
  const Order order = order_of(published, simulated, *series.order);
  const auto pairs = static_cast<double>(order.pairs), kept = static_cast<double>(order.kept);
  out.push_back(
      {Finding::Kind::order, "pairs in order", "", pairs, pairs, kept, error_of({pairs, pairs}, kept), "all", order.kept == order.pairs});
}

void judge_step(const Series& series, const StepCheck& step, const std::vector<double>& simulated, std::vector<Finding>& out) {
  const double change = simulated[step.to] / simulated[step.from] - 1;
  const bool falls = step.change < 0;
  Finding f{Finding::Kind::step,
            fmt::format("{} to {}", series.points[step.from].variant, series.points[step.to].variant),
            "%",
            {},
            {},
            change * 100,
            {},
            falls ? "at most" : "at least",
            false};
  (falls ? f.high : f.low) = step.change * 100;
  f.within = falls ? change <= step.change + grace : change >= step.change - grace;
  out.push_back(std::move(f));
}

std::size_t count(const std::vector<SeriesFindings>& all, bool only_misses) {
  std::size_t n = 0;
  for (const SeriesFindings& s : all)
    for (const Finding& f : s.findings) n += s.judged && !(only_misses && f.within);
  return n;
}

}  // namespace

std::string Tolerance::text(const std::string& unit) const {
  if (kind == Kind::share) return amount == 0 ? "exact" : fmt::format("{:g} %", amount * 100);
  return kind == Kind::factor ? fmt::format("x {:g}", amount) : fmt::format("{:g} {}", amount, unit);
}

Line fit_line(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() != y.size() || x.empty()) throw std::logic_error("a line through points without as many places");
  const auto n = static_cast<double>(x.size());
  double mx = 0, my = 0, xx = 0, xy = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) mx += x[i] / n, my += y[i] / n;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mx) * (x[i] - mx);
    xy += (x[i] - mx) * (y[i] - my);
    yy += (y[i] - my) * (y[i] - my);
  }
  Line line;
  line.slope = xx == 0 ? 0 : xy / xx;
  line.intercept = my - line.slope * mx;
  line.r2 = xx == 0 || yy == 0 ? 1 : xy * xy / (xx * yy);
  return line;
}

std::optional<double> error_of(const Band& published, double simulated) {
  const double nearest = std::clamp(simulated, published.low, published.high);
  if (nearest == simulated) return 0.0;
  if (nearest == 0) return std::nullopt;
  return (simulated - nearest) / std::abs(nearest);
}

bool within(const Tolerance& tolerance, const Band& published, double simulated) {
  const double nearest = std::clamp(simulated, published.low, published.high);
  const double slack = grace * std::max(std::abs(nearest), std::abs(simulated));
  const double off = std::abs(simulated - nearest) - slack;
  switch (tolerance.kind) {
    case Tolerance::Kind::share:
      return off <= tolerance.amount * std::abs(nearest);
    case Tolerance::Kind::absolute:
      return off <= tolerance.amount;
    case Tolerance::Kind::factor:
      return nearest * simulated >= 0 && std::abs(simulated) - slack <= std::abs(nearest) * tolerance.amount &&
             std::abs(simulated) + slack >= std::abs(nearest) / tolerance.amount;
  }
  return false;
}

Order order_of(const std::vector<Band>& published, const std::vector<double>& simulated, double apart) {
  Order out;
  const auto middle = [](const Band& b) { return (b.low + b.high) / 2; };
  for (std::size_t i = 0; i < published.size(); ++i)
    for (std::size_t j = i + 1; j < published.size(); ++j) {
      const double a = middle(published[i]), b = middle(published[j]);
      if (std::abs(a - b) <= apart * std::min(std::abs(a), std::abs(b))) continue;
      ++out.pairs;
      out.kept += (a < b) == (simulated[i] < simulated[j]) && simulated[i] != simulated[j];
    }
  return out;
}

std::size_t RowFindings::judged() const { return count(series, false); }
std::size_t RowFindings::misses() const { return count(series, true); }

RowFindings judge(const Row& row, const std::map<std::string, nlohmann::json>& reports) {
  RowFindings out;
  out.row = row;
  std::vector<std::string> mistakes;
  for (const Series& series : row.series) {
    SeriesFindings found{series.name, series.unit, series.fitted, series.judged, {}};
    try {
      std::vector<double> simulated;
      for (const Point& p : series.points) {
        simulated.push_back(figure(series, reports, p.variant));
        found.findings.push_back(compared(Finding::Kind::point, p.variant, series.unit, p.published, series.tolerance, simulated.back()));
      }
      if (series.line) judge_line(series, simulated, found.findings);
      if (series.order) judge_order(series, simulated, found.findings);
      for (const StepCheck& step : series.steps) judge_step(series, step, simulated, found.findings);
    } catch (const UserError& error) { mistakes.insert(mistakes.end(), error.messages().begin(), error.messages().end()); }
    out.series.push_back(std::move(found));
  }
  if (!mistakes.empty()) throw UserError(mistakes);
  return out;
}

}  // namespace mtsim::validation

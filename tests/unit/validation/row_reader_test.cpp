// Is a row read as it is written, and does each mistake get the message that a person needs?
#include "validation/row_reader.h"

#include <catch2/catch.hpp>

#include "base/config_parse.h"
#include "base/error.h"

using namespace mtsim;
using namespace mtsim::validation;

namespace {

const std::vector<std::string> variants{"small", "middle", "large"};

config::Node parsed(const std::string& text) {
  config::Budget budget;
  std::vector<config::Problem> problems;
  config::Node node = config::parse(text, "row.yaml", budget, problems);
  REQUIRE(problems.empty());
  return node;
}

const std::string head = "row: X1\ngroup: nic\ntitle: A title\nsource: A source\n";

/// What is said of a row whose head is right.
std::string said_of(const std::string& text) {
  try {
    read_row(parsed(head + text), variants);
  } catch (const UserError& error) { return error.what(); }
  return "taken";
}

/// The same of one series, which begins in line 7.
std::string said_of_series(const std::string& text) { return said_of("series:\n  s:\n" + text); }

const std::string whole = "    measure: reg_mr_mean\n    unit: us\n    published: {small: 1, large: 2..3}\n";

}  // namespace

TEST_CASE("a row is read with what its series say and what holds for all of them") {
  const Row row = read_row(parsed(head + R"(tolerance: 15%
fitted: true
notes: Some words.
series:
  one:
    measure: reg_mr_mean
    unit: us
    published: {small: 1, middle: 2.5, large: 10..40}
    order: 5%
    line: {at: {small: 1, middle: 2, large: 8}, per: page, slope: 1.2, intercept: -3, tolerance: x2, least_r2: 0.99}
    steps: [{from: small, to: large, change: -15%}]
  two:
    measure: [reg_mr_mean, dereg_mr_mean]
    unit: "%"
    per: 4
    minus: small
    tolerance: 0.25
    fitted: false
    judged: false
    published: {1: 1}
)"),
                           {"small", "middle", "large", "1"});
  CHECK(row.name == "X1");
  CHECK(row.group == "nic");
  CHECK(row.notes == "Some words.");
  REQUIRE(row.series.size() == 2);
  const Series& one = row.series[0];
  CHECK(one.fitted);
  CHECK(one.judged);
  CHECK(one.tolerance.amount == 0.15);
  REQUIRE(one.points.size() == 3);
  CHECK(one.points[2].published.high == 40);
  REQUIRE(one.line);
  CHECK(one.line->at == std::vector<double>{1, 2, 8});
  CHECK(one.line->intercept == -3.0);
  CHECK(one.line->tolerance.kind == Tolerance::Kind::factor);
  CHECK(one.order == 0.05);
  REQUIRE(one.steps.size() == 1);
  CHECK(one.steps[0].to == 2);
  CHECK(one.steps[0].change == -0.15);
  const Series& two = row.series[1];
  CHECK_FALSE(two.fitted);
  CHECK_FALSE(two.judged);
  CHECK(two.measure.terms.size() == 2);
  CHECK(two.per == 4.0);
  CHECK(two.minus == "small");
  CHECK(two.tolerance.kind == Tolerance::Kind::absolute);
}

TEST_CASE("unknown keys are told with the known ones and the nearest of them") {
  CHECK(
      said_of("tolerence: 5%\nseries:\n  s:\n" + whole) ==
      "row.yaml:5:1: validation.tolerence: unknown key; allowed here: fitted, group, notes, row, series, source, title, tolerance; did you "
      "mean 'tolerance'?");
  CHECK(
      said_of_series(whole + "    orders: 5%\n") ==
      "row.yaml:10:5: validation.series.s.orders: unknown key; allowed here: fitted, judged, line, measure, minus, order, per, published, "
      "steps, tolerance, unit; did you mean 'order'?");
}

TEST_CASE("what is missing is told, all of it at once") {
  CHECK(said_of_series("    unit: us\n") ==
        "row.yaml:7:5: validation.series.s.measure: missing, and there is no default\n"
        "row.yaml:7:5: validation.series.s.published: missing, and there is no default");
  CHECK(said_of("") == "row.yaml:1:1: validation.series: missing, and there is no default");
  CHECK(said_of("series: {}\n") == "row.yaml:5:9: validation.series: wants a map of series by name, but is empty");
  CHECK(said_of("series: {s: 5}\n").rfind("row.yaml:5:13: validation.series.s: wants a section, but is the value '5'", 0) == 0);
}

TEST_CASE("points stand for variants that there are") {
  CHECK(said_of_series("    measure: reg_mr_mean\n    unit: us\n    published: {smal: 1}\n") ==
        "row.yaml:9:17: validation.series.s.published: there is no variant 'smal'; known: small, middle, large; did you mean 'small'?");
  CHECK(said_of_series(whole + "    minus: huge\n") ==
        "row.yaml:10:12: validation.series.s.minus: there is no variant 'huge'; known: small, middle, large");
  CHECK(said_of_series(whole + "    steps: [{from: middle, to: large, change: 5%}]\n") ==
        "row.yaml:10:20: validation.series.s.steps.from: 'middle' is none of the points: small, large");
}

TEST_CASE("figures, tolerances and units that are none are told with what is allowed") {
  const std::string points = "    measure: reg_mr_mean\n    unit: us\n    published: ";
  const std::string wants = ": wants a number, or a band such as 10..40, but is the value ";
  CHECK(said_of_series(points + "{small: many}\n") == "row.yaml:9:24: validation.series.s.published.small" + wants + "'many'");
  CHECK(said_of_series(points + "{small: 4..2}\n") == "row.yaml:9:24: validation.series.s.published.small" + wants + "'4..2'");
  CHECK(said_of_series(points + "{small: 5us}\n") == "row.yaml:9:24: validation.series.s.published.small" + wants + "'5us'");
  CHECK(said_of_series(whole + "    tolerance: ten\n") ==
        "row.yaml:10:16: validation.series.s.tolerance: wants a share (10%), a number in the unit of the series (0.1) or a factor (x1.5), "
        "but is the value 'ten'");
  CHECK(said_of_series(whole + "    tolerance: x0.5\n") == "row.yaml:10:16: validation.series.s.tolerance: lets nothing pass");
  CHECK(said_of_series(whole + "    order: 5\n") == "row.yaml:10:12: validation.series.s.order: '5' is no percentage such as 5%");
  CHECK(said_of_series(whole + "    per: 0\n") == "row.yaml:10:10: validation.series.s.per: must be above 0");
  CHECK(said_of_series("    measure: reg_mr_mean\n    unit: usec\n    published: {small: 1}\n") ==
        "row.yaml:8:11: validation.series.s.unit: 'usec' is not one of: ns, us, ms, s, /s, K/s, M/s, Gb/s, B, KB, MB, GB, %, share, count");
}

TEST_CASE("a line wants three points at different places, and the place of each") {
  const std::string three = "    measure: reg_mr_mean\n    unit: us\n    published: {small: 1, middle: 2, large: 3}\n";
  CHECK(said_of_series(three + "    line: {per: page, at: {small: 1, middle: 1}}\n") ==
        "row.yaml:10:27: validation.series.s.line.at.large: missing, and there is no default");
  CHECK(said_of_series(three + "    line: {per: page, at: {small: 1, middle: 1, large: 1}}\n") ==
        "row.yaml:10:27: validation.series.s.line.at: all points lie at the same place");
  CHECK(said_of_series(whole + "    line: {per: page, at: {small: 1, large: 2}}\n") ==
        "row.yaml:10:27: validation.series.s.line.at: a line wants three points at least");
}

TEST_CASE("a configuration without the section says so") {
  config::Node none;
  none.place = {"my.yaml"};
  CHECK_THROWS_WITH(read_row(none, variants), "my.yaml: there is no section 'validation': nothing to compare with");
}

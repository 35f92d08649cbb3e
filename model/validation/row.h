// A row of published measurements: what was measured on real hardware, which simulated figure stands for each point, and how near the two
// must come. Read from the section `validation` of a configuration whose variants are the systems to simulate (docs/validation.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/config_node.h"

namespace mtsim::validation {

/// How far a simulated figure may lie from the published one.
struct Tolerance {
  enum class Kind { share, absolute, factor };
  Kind kind = Kind::share;
  double amount = 0.2;  ///< 0.1 is 10 %; 0.1 in the unit of the series; 1.5 is half as much again, or two thirds

  /// `10 %`, `0.1 us`, `x 1.5`.
  std::string text(const std::string& unit) const;
};

/// A published figure, or the band that it lies in: low <= high. Of a band the ends are the tolerance.
struct Band {
  double low = 0, high = 0;
  bool single() const { return low == high; }
};

/// Figures of the report (paths within its JSON, or names of measure.h); several are added up.
struct Measure {
  struct Term {
    std::string path;
    config::Place place;
  };
  std::vector<Term> terms;
};

struct Point {
  std::string variant;
  Band published;
};

/// The straight line through the points, by least squares.
struct LineCheck {
  std::vector<double> at;                  ///< where each point lies, in the order of the points
  std::string per;                         ///< what one more of that is called: `page`
  std::optional<double> slope, intercept;  ///< published, in the unit of the series
  std::optional<double> least_r2;
  Tolerance tolerance;
};

/// What happens between two points: at least this change, as a share of the first (negative for a fall).
struct StepCheck {
  std::size_t from = 0, to = 0;  ///< indices of points
  double change = 0;
};

/// One figure over several variants.
struct Series {
  std::string name;
  Measure measure;
  std::string unit;
  std::optional<double> per;         ///< the figure is divided by this number
  Measure per_measure;               ///< or by this figure of the same report
  std::optional<std::string> minus;  ///< the variant whose figure is taken off first
  Tolerance tolerance;
  bool fitted = false;  ///< a parameter was fitted on these points
  bool judged = true;   ///< false: shown, and no miss whatever it is
  std::vector<Point> points;
  std::optional<LineCheck> line;
  std::optional<double> order;  ///< points published further apart than this share must come in the published order
  std::vector<StepCheck> steps;
};

struct Row {
  std::string name;  ///< `R1`
  std::string group;
  std::string title, source;
  std::string notes;  ///< what a reader should know of its figures
  std::vector<Series> series;
};

}  // namespace mtsim::validation

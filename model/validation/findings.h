// Published against simulated: the arithmetic of the comparison, and what came of a row.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "validation/row.h"

namespace mtsim::validation {

/// One comparison: of a point, or of all points together (a line, an order, a step).
struct Finding {
  enum class Kind { point, line, order, step };
  Kind kind = Kind::point;
  std::string name;                 ///< the variant, or what was looked at
  std::string unit;                 ///< of the figures below
  std::optional<double> low, high;  ///< published; equal for a single figure, one missing for a bound
  double simulated = 0;
  std::optional<double> error;  ///< (simulated - published) / published, or the same from the nearer end of the band; 0 within
  std::string tolerance;
  bool within = false;
};

struct SeriesFindings {
  std::string name, unit;
  bool fitted = false, judged = true;
  std::vector<Finding> findings;
};

struct RowFindings {
  Row row;
  std::vector<SeriesFindings> series;
  /// Among those that are judged.
  std::size_t judged() const;
  std::size_t misses() const;
};

/// Least squares through (x, y); r2 is the share of the variance that the line explains, 1 where there is none.
struct Line {
  double slope = 0, intercept = 0, r2 = 0;
};
Line fit_line(const std::vector<double>& x, const std::vector<double>& y);

/// (simulated - published) / published from the nearer end of the band; nothing where the published figure is 0.
std::optional<double> error_of(const Band& published, double simulated);
bool within(const Tolerance&, const Band& published, double simulated);

/// Pairs of points whose published figures lie further apart than `apart` (as a share of the smaller), and how many of them come in the
/// same order.
struct Order {
  std::size_t pairs = 0, kept = 0;
};
Order order_of(const std::vector<Band>& published, const std::vector<double>& simulated, double apart);

/// `reports`: each variant's report as JSON. Throws UserError as measure() does.
RowFindings judge(const Row&, const std::map<std::string, nlohmann::json>& reports);

}  // namespace mtsim::validation

// Simulated figures, read from a report's JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "validation/row.h"

namespace mtsim::validation {

/// Short names for paths that many rows measure: `reg_mr_mean` is `registration.reg_mr.latency.mean_ns`. Several paths are added up, those
/// after a minus sign taken off.
const std::vector<std::pair<std::string, std::string>>& named_measures();

/// The sum of a measure's terms in `unit`; with an empty unit as it stands. `report` is one report's JSON. Throws UserError, with the
/// place of the term, when a path leads nowhere (with what stands there instead), to no number, or to another kind of unit.
double measure(const nlohmann::json& report, const Measure&, const std::string& unit);

}  // namespace mtsim::validation

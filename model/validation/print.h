// What came of rows, for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "validation/findings.h"

namespace mtsim::validation {

/// One row as a table: published, simulated, error, tolerance, verdict. `colour`: ANSI colours for the verdicts.
std::string table(const RowFindings&, bool colour);
/// The last lines: how many rows are within their tolerance, and which are not.
std::string closing(const std::vector<RowFindings>&);

/// Version of the JSON's layout. It rises when a reader of the older layout would misread the newer.
inline constexpr unsigned json_schema_version = 1;
/// One row as an object: row, group, title, source, judged, misses, series, each with its points and checks.
nlohmann::ordered_json to_json(const RowFindings&);

}  // namespace mtsim::validation

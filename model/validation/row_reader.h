// From the section `validation` of a configuration to a row.
#pragma once

#include <string>
#include <vector>

#include "validation/row.h"

namespace mtsim::validation {

/// Reads the section; `variants` are the names of the configuration's variants, which its points stand for. Throws UserError with every
/// mistake, each with its place, YAML path, what is allowed and the nearest spelling.
Row read_row(const config::Node& section, const std::vector<std::string>& variants);

}  // namespace mtsim::validation

// The JSON Schema (draft 7) of a declared parameter: what its YAML value may be, as far as a schema can say it.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/parameter.h"

namespace mtsim::schema {

using Json = nlohmann::ordered_json;

/// Type, range, unit, default and, as description, all that the declaration says. Ranges of quantities with units stand in the
/// description alone.
Json of_parameter(const Parameter& parameter);

/// One of `words`, each with its meaning. `description` stands before them, and `standard` is the default unless empty.
Json of_names(const std::map<std::string, std::string>& words, const std::string& description, const std::string& standard);

}  // namespace mtsim::schema

// The JSON Schema (draft 7) of the section `validation`, for editors.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace mtsim::validation {

nlohmann::ordered_json section_schema();

}  // namespace mtsim::validation

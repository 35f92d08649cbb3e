// From the command line's words to plans.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "system/simulation.h"

namespace mtsim::tool {

struct Inputs {
  std::string config;
  std::string trace;  ///< empty: the configuration's workload
  std::vector<std::string> sets;
  std::string time;  ///< "", "asap" or "recorded"
};

/// One plan for each variant, or one. Throws UserError with the mistakes of all of them, each said once.
std::vector<system::Plan> make_plans(const Inputs& inputs);

}  // namespace mtsim::tool

// From the command line's words to plans.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/config.h"
#include "command.h"
#include "system/plan.h"

namespace mtsim::tool {

/// One plan for each variant, or one. Throws UserError with the mistakes of all of them, each said once.
std::vector<system::Plan> make_plans(const Inputs& inputs);
/// The same of a configuration that is read already; without a trace its workload is run.
std::vector<system::Plan> make_plans(const Config& config, const std::optional<std::string>& trace,
                                     std::optional<program::ReplayTime> time);

}  // namespace mtsim::tool

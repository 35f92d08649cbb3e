// From the command line's words to plans.
#pragma once

#include <vector>

#include "command.h"
#include "system/plan.h"

namespace mtsim::tool {

/// One plan for each variant, or one. Throws UserError with the mistakes of all of them, each said once.
std::vector<system::Plan> make_plans(const Inputs& inputs);

}  // namespace mtsim::tool

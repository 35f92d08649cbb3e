// What NICs have refused, in words.
#pragma once

#include <memory>
#include <vector>

#include "system/host.h"

namespace mtsim::system {

/// The first refusals of all hosts, by time.
void collect_refusals(const std::vector<std::unique_ptr<Host>>& hosts, results::Report& report);

}  // namespace mtsim::system

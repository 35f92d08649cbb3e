// Which caches of the NIC there can be: rules beyond the range of a single parameter.
#pragma once

#include "base/config.h"
#include "nic/params.h"

namespace mtsim::system {

/// Complains of what cannot be.
void check_caches(const Config& config, const nic::NicSettings& nic);

}  // namespace mtsim::system

// Rules that a range does not express, told with the place of the value.
#pragma once

#include "base/config.h"
#include "system/component_keys.h"

namespace mtsim::system {

void require_power_of_two(const Config& config, const std::string& path, std::uint64_t value);
/// `value` names one of the key's components.
void require_known(const Config& config, const ComponentKey& key, const std::string& value);

}  // namespace mtsim::system

// The configurations that come with mtsim, by name: `mtsim:nics/cx5.yaml` wherever they were installed.
#pragma once

#include <string>

namespace mtsim::config {

/// Whether `name` begins with `mtsim:`.
bool is_shipped(const std::string& name);

/// The path of such a name: below the environment's MTSIM_CONFIGS, or below share/mtsim/configs beside the folder of the running program.
/// Whether there is a file is not looked at.
std::string shipped_path(const std::string& name);

}  // namespace mtsim::config

// From a configuration to everything that a simulation is built from.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "program/op.h"
#include "system/settings.h"

namespace mtsim::system {

/// All that is known before anything is built: the program and every setting of its hosts.
struct Plan {
  std::string variant;  ///< name of the variant, or empty
  std::unique_ptr<program::Program> program;
  Settings settings;
  std::vector<HostSettings> hosts;  ///< in the order of the program's hosts
  program::ReplayTime time{};
  bool follows_data = false;  ///< whether hazards of data are looked for
  std::string config_text, config_hash;
};

/// Reads one configuration with its workload, or with a trace in its place. Throws UserError with every mistake in the configuration, or
/// when the program uses what the model does not carry out. `time` goes before the configuration's.
Plan make_plan(const Config& config, const std::optional<std::string>& trace, std::optional<program::ReplayTime> time);

}  // namespace mtsim::system

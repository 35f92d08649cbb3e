// Runs one configuration or its variants, each variant in a process of its own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "results/report.h"
#include "system/plan.h"
#include "system/run_files.h"

namespace mtsim::system {

struct RunOptions {
  bool progress = false;       ///< a line on stderr
  RecordingOptions recording;  ///< with variants each writes to for_variant() of these
};

struct Outcome {
  std::vector<results::Variant> variants;  ///< one without a name when the configuration has none
  /// For each variant whose actors could not go on: where they stood, a line each.
  std::vector<std::vector<std::string>> stuck;
  /// For each variant: what the user must be told of the files that it wrote, a line each.
  std::vector<std::vector<std::string>> told;
  bool interrupted = false;  ///< SIGINT: reports are partial
};

/// Throws UserError for mistakes that only show when a host is built (memory that does not fit) and for files that cannot be written,
/// std::runtime_error when a variant's process dies.
Outcome run_plans(const std::vector<Plan>& plans, const RunOptions& options);

}  // namespace mtsim::system

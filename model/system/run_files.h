// The files that one simulation writes while it runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "results/operations_file.h"
#include "results/output_file.h"
#include "results/timeline_file.h"

namespace mtsim::results {
struct Report;
}

namespace mtsim::system {

/// What to write, and where; an empty path writes nothing.
struct RecordingOptions {
  std::string operations, timeline;  ///< paths
  results::TimelineOptions drawing;
};

/// What a simulation fills; null for what is not wanted.
struct Recording {
  results::OperationsFile* operations = nullptr;
  results::TimelineFile* timeline = nullptr;
};

class RunFiles {
 public:
  /// Opens what is wanted. Throws UserError when one cannot be written.
  explicit RunFiles(const RecordingOptions& options);
  Recording recording() { return {operations_.get(), timeline_.get()}; }
  /// The simulation is over: the files appear. Throws UserError when one could not be written. Returns what the user must be told of them,
  /// a line each.
  std::vector<std::string> commit(const results::Report& report);

 private:
  std::unique_ptr<results::OutputFile> operations_file_, timeline_file_;
  std::unique_ptr<results::OperationsFile> operations_;
  std::unique_ptr<results::TimelineFile> timeline_;
};

/// The options for one of several variants: its name stands before a path's extension (`ops.csv` gives `ops.pool.csv`).
RecordingOptions for_variant(const RecordingOptions& options, const std::string& variant);
/// Throws UserError when one of several variants could not write its files: said before any of them runs. Standard output has room for one
/// system only.
void check_paths(const RecordingOptions& options, const std::vector<std::string>& variants);

}  // namespace mtsim::system

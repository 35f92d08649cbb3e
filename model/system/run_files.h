// The files that one simulation writes while it runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "results/operations_file.h"
#include "results/output_file.h"

namespace mtsim::system {

/// Where to write; an empty path writes nothing.
struct RecordingPaths {
  std::string operations;
};

/// What a simulation fills; null for what is not wanted.
struct Recording {
  results::OperationsFile* operations = nullptr;
};

class RunFiles {
 public:
  /// Opens what is wanted. Throws UserError when one cannot be written.
  explicit RunFiles(const RecordingPaths& paths);
  Recording recording() { return {operations_.get()}; }
  /// The simulation is over: the files appear. Throws UserError when one could not be written.
  void commit();

 private:
  std::unique_ptr<results::OutputFile> operations_file_;
  std::unique_ptr<results::OperationsFile> operations_;
};

/// The paths for one of several variants: its name stands before the extension (`ops.csv` gives `ops.pool.csv`).
RecordingPaths for_variant(const RecordingPaths& paths, const std::string& variant);
/// Throws UserError when one of several variants could not write its files: said before any of them runs. Standard output has room for one
/// system only.
void check_paths(const RecordingPaths& paths, const std::vector<std::string>& variants);

}  // namespace mtsim::system

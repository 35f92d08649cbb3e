// Rows of a table in CSV that processes write on their own, and the table that is made of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "results/output_file.h"

namespace mtsim::replay {

/// A table that is kept in a temporary folder, which goes with this.
class Part {
 public:
  /// Throws UserError when there is no place for it.
  Part();
  ~Part();
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  results::OutputFile& file() { return *file_; }
  /// No more is written to it.
  void finish() { file_->commit(); }
  std::string path() const;

 private:
  std::string folder_;
  std::unique_ptr<results::OutputFile> file_;
};

/// Merges tables with the same header, each in the order of its column `end_ns` but for what threads wrote late. Empty ones are left out.
void merge_rows(const std::vector<std::string>& paths, results::OutputFile& out);

}  // namespace mtsim::replay

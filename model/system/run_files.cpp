#include "system/run_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "system/logs.h"

namespace mtsim::system {
namespace {

std::string with_name(const std::string& path, std::string variant) {
  if (path.empty()) return path;
  std::replace(variant.begin(), variant.end(), '/', '_');
  const std::filesystem::path whole(path);
  return (whole.parent_path() / fmt::format("{}.{}{}", whole.stem().string(), variant, whole.extension().string())).string();
}

}  // namespace

RunFiles::RunFiles(const RecordingPaths& paths) {
  if (!paths.operations.empty()) {
    operations_file_ = std::make_unique<results::OutputFile>(paths.operations);
    operations_ = std::make_unique<results::OperationsFile>(*operations_file_, step_names());
  }
}

void RunFiles::commit() {
  if (operations_) {
    operations_->finish();
    operations_file_->commit();
  }
}

RecordingPaths for_variant(const RecordingPaths& paths, const std::string& variant) { return {with_name(paths.operations, variant)}; }

void check_paths(const RecordingPaths& paths, const std::vector<std::string>& variants) {
  if (paths.operations == "-") throw UserError("--ops - : with variants each writes a file of its own, so give a file name");
  for (const std::string& variant : variants) RunFiles{for_variant(paths, variant)};
}

}  // namespace mtsim::system

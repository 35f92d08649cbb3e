#include "system/run_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/quantity_text.h"
#include "results/report.h"
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

RunFiles::RunFiles(const RecordingOptions& options) {
  if (!options.operations.empty()) {
    operations_file_ = std::make_unique<results::OutputFile>(options.operations);
    operations_ = std::make_unique<results::OperationsFile>(*operations_file_, step_names(), ports::cause_names);
  }
  if (!options.timeline.empty()) {
    timeline_file_ = std::make_unique<results::OutputFile>(options.timeline);
    timeline_ = std::make_unique<results::TimelineFile>(*timeline_file_, options.drawing);
  }
}

std::vector<std::string> RunFiles::commit(const results::Report& report) {
  std::vector<std::string> told;
  if (operations_) {
    operations_->finish();
    operations_file_->commit();
  }
  if (timeline_) {
    timeline_->finish({{"made_by", "mtsim " + report.version},
                       {"trace", report.trace},
                       {"config_hash", report.config_hash},
                       {"simulated", text::show(report.simulated)},
                       {"partial", report.partial ? "yes" : "no"}});
    timeline_file_->commit();
    if (const std::string cut = timeline_->cut(); !cut.empty()) told.push_back(cut);
  }
  return told;
}

RecordingOptions for_variant(const RecordingOptions& options, const std::string& variant) {
  return {with_name(options.operations, variant), with_name(options.timeline, variant), options.drawing};
}

void check_paths(const RecordingOptions& options, const std::vector<std::string>& variants) {
  for (const auto& [option, path] : {std::pair{"--ops", &options.operations}, std::pair{"--timeline", &options.timeline}})
    if (*path == "-")
      throw UserError(fmt::format("{} -: each variant writes a file of its own, so standard output will not do; give a file name", option));
  for (const std::string& variant : variants) RunFiles{for_variant(options, variant)};
}

}  // namespace mtsim::system

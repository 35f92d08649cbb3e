#include "validation_rows.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>

#include "base/error.h"
#include "base/shipped.h"
#include "plans.h"
#include "validation/row_reader.h"

namespace mtsim::tool {
namespace {

namespace fs = std::filesystem;

void keep_mistakes(const UserError& error, std::vector<std::string>& mistakes) {
  for (const std::string& message : error.messages())
    if (std::find(mistakes.begin(), mistakes.end(), message) == mistakes.end()) mistakes.push_back(message);
}

/// Shorter names first among those that begin alike: R2 before R10.
bool by_number(const fs::path& a, const fs::path& b) {
  const auto key = [](const fs::path& path) {
    const std::string stem = path.stem().string();
    const std::size_t digits = std::min(stem.find_first_of("0123456789"), stem.size());
    return std::tuple(stem.substr(0, digits), stem.size(), stem);
  };
  return key(a) < key(b);
}

std::vector<std::string> variants_of(const Config& config) {
  std::vector<std::string> names;
  for (const auto& [name, variant] : config.variants()) names.push_back(name);
  return names;
}

}  // namespace

ReadRow row_of_file(const std::string& path, const std::vector<std::string>& sets) {
  Config config = Config::load(path, sets);
  std::vector<std::string> names = variants_of(config);
  validation::Row row = validation::read_row(config.validation(), names);
  return {std::move(row), std::move(names), std::move(config)};
}

std::vector<ReadRow> shipped_rows(const std::vector<std::string>& sets) {
  const std::string folder = config::shipped_path("mtsim:validation");
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  if (error)
    throw UserError(folder + ": cannot be read: " + error.message() + "; MTSIM_CONFIGS names the folder of the shipped configurations");
  if (files.empty()) throw UserError(folder + ": there are no rows");
  std::sort(files.begin(), files.end(), by_number);
  std::vector<ReadRow> rows;
  std::vector<std::string> mistakes;
  for (const fs::path& file : files) {
    try {
      rows.push_back(row_of_file(file.string(), sets));
    } catch (const UserError& e) { keep_mistakes(e, mistakes); }
  }
  if (!mistakes.empty()) throw UserError(mistakes);
  return rows;
}

std::vector<ReadRow> chosen(std::vector<ReadRow> rows, const std::string& name) {
  if (name.empty()) return rows;
  std::vector<std::string> names, groups;
  for (const ReadRow& r : rows) {
    names.push_back(r.row.name);
    if (std::find(groups.begin(), groups.end(), r.row.group) == groups.end()) groups.push_back(r.row.group);
  }
  std::erase_if(rows, [&](const ReadRow& r) { return r.row.name != name && r.row.group != name; });
  if (!rows.empty()) return rows;
  std::string list;
  for (const std::vector<std::string>* words : {&groups, &names})
    for (const std::string& word : *words) list += (list.empty() ? "" : ", ") + word;
  groups.insert(groups.end(), names.begin(), names.end());
  throw UserError("there is no row or group '" + name + "'; known: " + list + did_you_mean(name, groups));
}

std::vector<system::Plan> plans_of(const ReadRow& row) {
  std::vector<system::Plan> plans = make_plans(row.config, std::nullopt, std::nullopt);
  // Progress and errors then say of which row they are.
  for (system::Plan& plan : plans) plan.variant = row.row.name + " " + plan.variant;
  return plans;
}

void check_row(const Config& config) { validation::read_row(config.validation(), variants_of(config)); }

}  // namespace mtsim::tool

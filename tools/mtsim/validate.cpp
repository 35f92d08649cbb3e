// mtsim validate.
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "command.h"
#include "results/json.h"
#include "results/output_file.h"
#include "results/progress.h"
#include "system/runner.h"
#include "validation/print.h"
#include "validation_rows.h"

namespace mtsim::tool {
namespace {

using Json = nlohmann::ordered_json;

std::vector<ReadRow> rows_asked_for(const ValidateArguments& arguments) {
  const std::string& name = arguments.name;
  if (name.ends_with(".yaml") || name.find('/') != std::string::npos) {
    std::vector<ReadRow> one;
    one.push_back(row_of_file(name, arguments.sets));
    return one;
  }
  return chosen(shipped_rows(arguments.sets), name);
}

/// What stops a row's program, or what it met that it did not expect: its figures would mean nothing.
std::vector<std::string> troubles(const system::Outcome& outcome, const ReadRow& row) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < outcome.variants.size(); ++i) {
    const std::string where = row.row.name + " " + row.names[i] + ": ";
    for (const std::string& line : outcome.stuck[i]) out.push_back(where + line);
    for (const auto& u : outcome.variants[i].report.unexpected)
      out.push_back(where + u.actor + " " + u.operation + ": expected " + u.expected + ", got " + u.got);
  }
  return out;
}

Json document_of(const std::vector<Json>& rows) {
  Json document;
  document["schema"] = validation::json_schema_version;
  document["version"] = MTSIM_VERSION;
  document["rows"] = rows;
  return document;
}

/// What each variant was built from.
Json systems_of(const system::Outcome& outcome, const ReadRow& row) {
  Json out = Json::object();
  for (std::size_t i = 0; i < outcome.variants.size(); ++i) {
    const results::Report& report = outcome.variants[i].report;
    out[row.names[i]] = {{"config", {{"hash", report.config_hash}, {"yaml", report.config}}}};
  }
  return out;
}

}  // namespace

int validate(const ValidateArguments& arguments) {
  const std::vector<ReadRow> rows = rows_asked_for(arguments);
  std::vector<std::vector<system::Plan>> plans;
  for (const ReadRow& row : rows) plans.push_back(plans_of(row));
  std::unique_ptr<results::OutputFile> file;
  // Opened first: a path that cannot be written is known before a long run, not after it.
  if (!arguments.json.empty()) file = std::make_unique<results::OutputFile>(arguments.json);
  const bool to_stdout = arguments.json == "-";
  std::ostream& out = to_stdout ? std::cerr : std::cout;
  const bool colour = std::getenv("NO_COLOR") == nullptr && isatty(to_stdout ? STDERR_FILENO : STDOUT_FILENO) != 0;
  system::RunOptions options;
  options.progress = results::progress_wanted(arguments.quiet);

  std::vector<validation::RowFindings> found;
  std::vector<Json> objects;
  bool trouble = false, interrupted = false;
  for (std::size_t i = 0; i < rows.size() && !interrupted; ++i) {
    const system::Outcome outcome = system::run_plans(plans[i], options);
    plans[i].clear();
    interrupted = outcome.interrupted;
    // A row of which a part is missing is not judged.
    if (interrupted) break;
    std::map<std::string, nlohmann::json> reports;
    for (std::size_t v = 0; v < outcome.variants.size(); ++v)
      reports[rows[i].names[v]] = nlohmann::json::parse(results::to_json(outcome.variants[v].report, {.machine = false}));
    found.push_back(validation::judge(rows[i].row, reports));
    out << validation::table(found.back(), colour) << '\n' << std::flush;
    for (const std::string& line : troubles(outcome, rows[i])) {
      std::cerr << line << '\n';
      trouble = true;
    }
    objects.push_back(validation::to_json(found.back()));
    objects.back()["variants"] = systems_of(outcome, rows[i]);
  }
  out << validation::closing(found) << std::flush;
  if (file) {
    Json document = document_of(objects);
    if (interrupted) document["partial"] = true;
    file->write(document.dump(1) + "\n");
    file->commit();
  }
  if (interrupted) return 130;
  bool missed = false;
  for (const validation::RowFindings& row : found) missed |= row.misses() != 0;
  return trouble || (arguments.strict && missed) ? 1 : 0;
}

}  // namespace mtsim::tool

// mtsim run and mtsim check.
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "base/error.h"
#include "base/quantity_text.h"
#include "command.h"
#include "plans.h"
#include "results/csv.h"
#include "results/json.h"
#include "results/output_file.h"
#include "results/progress.h"
#include "results/text.h"
#include "system/runner.h"
#include "validation_rows.h"

namespace mtsim::tool {
namespace {

void print_told(const system::Outcome& outcome) {
  for (std::size_t i = 0; i < outcome.told.size(); ++i) {
    const std::string& name = outcome.variants[i].name;
    for (const std::string& line : outcome.told[i]) std::cerr << (name.empty() ? "" : name + ": ") << line << '\n';
  }
}

void print_stuck(const system::Outcome& outcome) {
  for (std::size_t i = 0; i < outcome.stuck.size(); ++i) {
    if (outcome.stuck[i].empty()) continue;
    const std::string& name = outcome.variants[i].name;
    std::cerr << (name.empty() ? "" : name + ": ");
    for (const std::string& line : outcome.stuck[i]) std::cerr << line << '\n';
  }
}

/// Whether one of the outputs takes stdout, so that the summary goes to stderr. Throws UserError when two go to the same place: devices
/// and pipes apart, one would be lost.
bool stdout_taken(const RunArguments& arguments) {
  const std::array outputs{std::pair{"--json", &arguments.json}, std::pair{"--csv", &arguments.csv},
                           std::pair{"--occupancy", &arguments.occupancy}, std::pair{"--ops", &arguments.ops},
                           std::pair{"--timeline", &arguments.timeline}};
  bool taken = false;
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    const std::string& path = *output->second;
    taken |= path == "-";
    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(path, ignored);
    if (path.empty() || (path != "-" && exists(status) && !is_regular_file(status))) continue;
    for (auto other = std::next(output); other != outputs.end(); ++other)
      if (*other->second == path)
        throw UserError(std::string(output->first) + " and " + other->first + " cannot both go to " +
                        (path == "-" ? "stdout" : "'" + path + "'"));
  }
  return taken;
}

/// Reads an option's value, if it was given. Throws UserError.
template <class T>
void read(const char* option, const std::string& text, T& out) {
  if (text.empty()) return;
  if (const std::string wrong = text::parse(text, out); !wrong.empty()) throw UserError(std::string(option) + ": '" + text + "' " + wrong);
}

results::TimelineOptions drawing(const RunArguments& arguments) {
  results::TimelineOptions options;
  for (const auto& [option, value] :
       {std::pair{"--from", &arguments.from}, std::pair{"--to", &arguments.to}, std::pair{"--sample", &arguments.sample}})
    if (!value->empty() && arguments.timeline.empty())
      throw UserError(std::string(option) + " says what to draw of a timeline, but there is no --timeline");
  read("--from", arguments.from, options.from);
  read("--to", arguments.to, options.to);
  read("--sample", arguments.sample, options.sample);
  if (options.from >= options.to)
    throw UserError("--from " + text::show(options.from) + " does not lie before --to " + text::show(options.to));
  if (options.sample == 0) throw UserError("--sample: 1 draws everything, 2 about every other; there is no 0");
  return options;
}

}  // namespace

int run(const RunArguments& arguments) {
  const bool to_stdout = stdout_taken(arguments);
  const system::RecordingOptions recording{arguments.ops, arguments.timeline, drawing(arguments)};
  const std::vector<system::Plan> plans = make_plans(arguments);
  std::unique_ptr<results::OutputFile> json, csv, occupancy;
  // Opened first: a path that cannot be written is known before a long run, not after it.
  if (!arguments.json.empty()) json = std::make_unique<results::OutputFile>(arguments.json);
  if (!arguments.csv.empty()) csv = std::make_unique<results::OutputFile>(arguments.csv);
  if (!arguments.occupancy.empty()) occupancy = std::make_unique<results::OutputFile>(arguments.occupancy);

  system::RunOptions options;
  options.progress = results::progress_wanted(arguments.quiet);
  options.recording = recording;
  const system::Outcome outcome = system::run_plans(plans, options);

  const bool alone = outcome.variants.size() == 1 && outcome.variants.front().name.empty();
  results::JsonOptions json_options;
  json_options.machine = !arguments.no_machine;
  results::TextOptions text;
  text.colour = std::getenv("NO_COLOR") == nullptr && isatty(to_stdout ? STDERR_FILENO : STDOUT_FILENO) != 0;
  (to_stdout ? std::cerr : std::cout) << (alone ? results::summary(outcome.variants.front().report, text)
                                                : results::side_by_side(outcome.variants, text))
                                      << std::flush;
  if (json) {
    json->write(alone ? results::to_json(outcome.variants.front().report, json_options) : results::to_json(outcome.variants, json_options));
    json->commit();
  }
  if (csv) {
    csv->write(results::to_csv(outcome.variants));
    csv->commit();
  }
  if (occupancy) {
    occupancy->write(results::occupancy_csv(outcome.variants));
    occupancy->commit();
  }
  print_told(outcome);
  print_stuck(outcome);
  if (outcome.interrupted) return 130;
  for (std::size_t i = 0; i < outcome.variants.size(); ++i)
    if (outcome.variants[i].report.unexpected_total != 0 || !outcome.stuck[i].empty()) return 1;
  return 0;
}

int check(const Inputs& arguments) {
  const Config config = Config::load(arguments.config, arguments.sets);
  make_plans(config, arguments.trace.empty() ? std::nullopt : std::optional(arguments.trace), std::nullopt);
  if (config.validation().kind != config::Node::Kind::null) check_row(config);
  std::cout << "ok\n";
  return 0;
}

}  // namespace mtsim::tool

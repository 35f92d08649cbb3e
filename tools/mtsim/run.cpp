// mtsim run and mtsim check.
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "base/error.h"
#include "command.h"
#include "plans.h"
#include "results/csv.h"
#include "results/json.h"
#include "results/output_file.h"
#include "results/progress.h"
#include "results/text.h"
#include "system/runner.h"

namespace mtsim::tool {
namespace {

struct RunArguments : Inputs {
  std::string json, csv;
  bool quiet = false, no_machine = false;
};

void add_inputs(CLI::App& command, Inputs& in) {
  command.add_option("config", in.config, "Configuration (YAML)")->required();
  command.add_option("trace", in.trace, "Trace to replay in place of the configuration's workload; - is standard input");
  command.add_option("--set", in.sets, "PATH=VALUE: goes before everything that the configuration says")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
}

void print_stuck(const system::Outcome& outcome) {
  for (std::size_t i = 0; i < outcome.stuck.size(); ++i) {
    if (outcome.stuck[i].empty()) continue;
    const std::string& name = outcome.variants[i].name;
    std::cerr << (name.empty() ? "" : name + ": ") << "nothing moves any more, and these have not ended:\n";
    for (const std::string& line : outcome.stuck[i]) std::cerr << "  " << line << '\n';
  }
}

int run(const RunArguments& arguments) {
  if (arguments.json == "-" && arguments.csv == "-") throw UserError("--json and --csv cannot both go to stdout");
  const std::vector<system::Plan> plans = make_plans(arguments);
  std::unique_ptr<results::OutputFile> json, csv;
  // Opened first: a path that cannot be written is known before a long run, not after it.
  if (!arguments.json.empty()) json = std::make_unique<results::OutputFile>(arguments.json);
  if (!arguments.csv.empty()) csv = std::make_unique<results::OutputFile>(arguments.csv);

  system::RunOptions options;
  options.progress = results::progress_wanted(arguments.quiet);
  const system::Outcome outcome = system::run_plans(plans, options);

  const bool alone = outcome.variants.size() == 1 && outcome.variants.front().name.empty();
  results::JsonOptions json_options;
  json_options.machine = !arguments.no_machine;
  const bool to_stdout = arguments.json == "-" || arguments.csv == "-";
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
  print_stuck(outcome);
  if (outcome.interrupted) return 130;
  for (std::size_t i = 0; i < outcome.variants.size(); ++i)
    if (outcome.variants[i].report.unexpected_total != 0 || !outcome.stuck[i].empty()) return 1;
  return 0;
}

}  // namespace

void add_run(CLI::App& app, Action& chosen) {
  auto* command = app.add_subcommand("run", "Simulate a system, or its variants, on a trace or a workload");
  auto arguments = std::make_shared<RunArguments>();
  add_inputs(*command, *arguments);
  command->add_option("--time", arguments->time, "Replay a trace at its recorded times or as fast as it goes")
      ->check(CLI::IsMember({"asap", "recorded"}));
  command->add_option("--json", arguments->json, "Write the results as JSON; - is standard output")->type_name("FILE");
  command->add_option("--csv", arguments->csv, "Write the results as one tidy table; - is standard output")->type_name("FILE");
  command->add_flag("--no-machine", arguments->no_machine, "Leave wall-clock figures out of the JSON");
  command->add_flag("--quiet", arguments->quiet, "No progress line");
  command->callback([&chosen, arguments] { chosen = [arguments] { return run(*arguments); }; });
}

void add_check(CLI::App& app, Action& chosen) {
  auto* command = app.add_subcommand("check", "Read a configuration and a trace, say everything that is wrong, simulate nothing");
  auto arguments = std::make_shared<Inputs>();
  add_inputs(*command, *arguments);
  command->callback([&chosen, arguments] {
    chosen = [arguments] {
      make_plans(*arguments);
      std::cout << "ok\n";
      return 0;
    };
  });
}

}  // namespace mtsim::tool

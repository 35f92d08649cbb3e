// mtsim replay.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "base/error.h"
#include "command.h"
#include "program/trace_reader.h"
#include "replay/session.h"
#include "results/block_writer.h"
#include "results/csv.h"
#include "results/json.h"
#include "results/output_file.h"
#include "results/text.h"
#include "verbs/rules.h"

namespace mtsim::tool {
namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> out;
  for (std::size_t from = 0;;) {
    const std::size_t comma = list.find(',', from);
    out.push_back(list.substr(from, comma - from));
    if (comma == std::string::npos) return out;
    from = comma + 1;
  }
}

/// By host, and under "" for all others. Throws UserError with all that is wrong.
std::map<std::string, std::vector<std::string>> devices(const std::vector<std::string>& words) {
  std::map<std::string, std::vector<std::string>> out;
  std::vector<std::string> wrong;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string host = equals == std::string::npos ? "" : word.substr(0, equals);
    const std::vector<std::string> names = split(equals == std::string::npos ? word : word.substr(equals + 1));
    for (const std::string& name : names)
      if (name.empty()) wrong.push_back("--device: '" + word + "' lacks a device's name");
    if (!out.emplace(host, names).second)
      wrong.push_back(host.empty() ? "--device was given twice without a host" : "--device was given twice for host " + host);
  }
  if (!wrong.empty()) throw UserError(std::move(wrong));
  return out;
}

void check_hosts(const std::map<std::string, std::vector<std::string>>& devices, const program::Names& names) {
  std::vector<std::string> wrong;
  for (const auto& [host, list] : devices)
    if (!host.empty() && !names.find_host(host))
      wrong.push_back("--device: the trace has no host '" + host + "'" + did_you_mean(host, names.hosts()));
  if (!devices.contains(""))
    for (const std::string& host : names.hosts())
      if (!devices.contains(host)) wrong.push_back("--device: none for host " + host + " of the trace");
  if (!wrong.empty()) throw UserError(std::move(wrong));
}

void check_rules(const std::string& name) {
  const std::vector<std::string> known = verbs::RuleSets::names();
  if (name.empty() || std::find(known.begin(), known.end(), name) != known.end()) return;
  throw UserError(
      fmt::format("--rules: there is no set of rules '{}'; known: {}{}", name, fmt::join(known, ", "), did_you_mean(name, known)));
}

/// Whether one of the outputs takes stdout. Throws UserError when two do.
bool stdout_taken(const ReplayArguments& arguments) {
  const std::array outputs{&arguments.json, &arguments.csv, &arguments.ops, &arguments.calls};
  const auto taken = std::count_if(outputs.begin(), outputs.end(), [](const std::string* path) { return *path == "-"; });
  if (taken > 1) throw UserError("only one of --json, --csv, --ops and --calls can go to stdout");
  return taken == 1;
}

std::unique_ptr<results::OutputFile> open(const std::string& path) {
  return path.empty() ? nullptr : std::make_unique<results::OutputFile>(path);
}

}  // namespace

int replay(const ReplayArguments& arguments) {
  const bool to_stdout = stdout_taken(arguments);
  replay::Options options;
  options.devices = devices(arguments.devices);
  options.port = static_cast<std::uint8_t>(arguments.port);
  options.gid = arguments.gid;
  options.rules = arguments.rules;
  options.time = arguments.time == "asap" ? program::ReplayTime::asap : program::ReplayTime::recorded;
  options.limit = std::chrono::seconds(arguments.limit_s);
  options.warmup = arguments.warmup;
  options.repeat = arguments.repeat;
  check_rules(arguments.rules);
  const replay::Ground ground = replay::look_around(options);
  const auto trace = program::open_trace(arguments.trace, {ground.rules});
  check_hosts(options.devices, trace->names());

  const auto json = open(arguments.json), csv = open(arguments.csv), ops = open(arguments.ops), calls = open(arguments.calls);
  std::unique_ptr<results::OperationsFile> operations;
  std::unique_ptr<results::BlockWriter> call_lines;
  if (ops) operations = std::make_unique<results::OperationsFile>(*ops, replay::request_steps(), std::span<const char* const>());
  if (calls) {
    call_lines = std::make_unique<results::BlockWriter>(*calls);
    call_lines->add(replay::calls_header());
  }

  const auto start = std::chrono::steady_clock::now();
  replay::Outcome outcome = replay::run(*trace, options, ground, {operations.get(), call_lines.get()});
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  outcome.report.machine = results::Machine{wall, 0, 0};

  results::TextOptions text;
  text.colour = std::getenv("NO_COLOR") == nullptr && isatty(to_stdout ? STDERR_FILENO : STDOUT_FILENO) != 0;
  (to_stdout ? std::cerr : std::cout) << results::summary(outcome.report, text) << std::flush;
  if (json) {
    results::JsonOptions json_options;
    json_options.machine = !arguments.no_machine;
    json->write(results::to_json(outcome.report, json_options));
    json->commit();
  }
  if (csv) {
    csv->write(results::to_csv(std::array{results::Variant{"", outcome.report}}));
    csv->commit();
  }
  if (operations) {
    operations->finish();
    ops->commit();
  }
  if (call_lines) {
    call_lines->finish();
    calls->commit();
  }
  for (const std::string& line : outcome.stuck) std::cerr << line << '\n';
  if (outcome.interrupted) return 130;
  return outcome.report.unexpected_total != 0 || !outcome.stuck.empty() ? 1 : 0;
}

}  // namespace mtsim::tool

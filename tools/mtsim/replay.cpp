// mtsim replay.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <set>
#include <span>
#include <utility>

#include "base/error.h"
#include "command.h"
#include "program/trace_reader.h"
#include "replay/forked.h"
#include "replay/session.h"
#include "replay/together.h"
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

/// `own`: numbers of the hosts that run here; empty: all.
void check_hosts(const std::map<std::string, std::vector<std::string>>& devices, const program::Names& names,
                 const std::set<std::uint32_t>& own) {
  std::vector<std::string> wrong;
  for (const auto& [host, list] : devices)
    if (!host.empty() && !names.find_host(host))
      wrong.push_back("--device: the trace has no host '" + host + "'" + did_you_mean(host, names.hosts()));
  if (!devices.contains(""))
    for (std::uint32_t number = 0; number < names.hosts().size(); ++number)
      if (const std::string& host = names.hosts()[number]; !devices.contains(host) && (own.empty() || own.contains(number)))
        wrong.push_back("--device: none for host " + host + " of the trace");
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

/// The hosts that `--host` names. Throws UserError for those that the trace has not.
std::set<std::uint32_t> own_hosts(const std::vector<std::string>& words, const program::Names& names) {
  std::set<std::uint32_t> own;
  std::vector<std::string> wrong;
  for (const std::string& word : words)
    for (const std::string& host : split(word)) {
      if (const auto number = names.find_host(host)) own.insert(*number);
      else wrong.push_back("--host: the trace has no host '" + host + "'" + did_you_mean(host, names.hosts()));
    }
  if (!wrong.empty()) throw UserError(std::move(wrong));
  return own;
}

/// Leaves those of the hosts that run here, so that no other is looked for.
void keep_devices(replay::Options& options, const std::vector<std::string>& words) {
  std::set<std::string> own;
  for (const std::string& word : words)
    for (const std::string& host : split(word)) own.insert(host);
  if (own.empty()) return;
  const bool all_named = std::all_of(own.begin(), own.end(), [&](const std::string& host) { return options.devices.contains(host); });
  std::erase_if(options.devices, [&](const auto& d) { return d.first.empty() ? all_named : !own.contains(d.first); });
}

/// Throws UserError for outputs of a process that gives its results to another.
void refuse_outputs(const ReplayArguments& arguments, const program::Names& names) {
  for (const auto& [name, path] :
       {std::pair("--json", &arguments.json), {"--csv", &arguments.csv}, {"--ops", &arguments.ops}, {"--calls", &arguments.calls}})
    if (!path->empty())
      throw UserError(fmt::format("{}: the process of host {}, the first of the trace, gets the results of all hosts; give it {}", name,
                                  names.hosts()[0], name));
}

replay::Options options_of(const ReplayArguments& arguments) {
  replay::Options options;
  options.devices = devices(arguments.devices);
  options.port = static_cast<std::uint8_t>(arguments.port);
  options.gid = arguments.gid;
  options.rules = arguments.rules;
  options.time = arguments.time == "asap" ? program::ReplayTime::asap : program::ReplayTime::recorded;
  options.limit = std::chrono::seconds(arguments.limit_s);
  options.warmup = arguments.warmup;
  options.repeat = arguments.repeat;
  return options;
}

/// What a replay needs to live in: what a hung thread may still use must not be destroyed.
struct Stage {
  explicit Stage(const replay::Options& options) : turn(std::make_unique<replay::Turn>()) { turn->set_limit(options.limit); }
  ~Stage() {
    if (!lost) return;
    static_cast<void>(peers.release());
    static_cast<void>(turn.release());
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  replay::Company company() const { return {*turn, peers.get()}; }

  std::unique_ptr<replay::Turn> turn;
  std::unique_ptr<replay::Peers> peers;
  bool lost = false;
};

int exit_code(const replay::Outcome& outcome) {
  if (outcome.interrupted) return 130;
  return outcome.report.unexpected_total != 0 || !outcome.complete() ? 1 : 0;
}

void say_stuck(const replay::Outcome& outcome) {
  if (!outcome.reason.empty()) std::cerr << outcome.reason << '\n';
  for (const std::string& line : outcome.stuck) std::cerr << line << '\n';
}

/// A process that gives its results to another.
int replay_for_others(const program::Trace& trace, const replay::Options& options, const replay::Ground& ground, Stage& stage) {
  const replay::Outcome outcome = replay::run_together(trace, options, ground, stage.company(), nullptr, nullptr);
  stage.lost = outcome.lost;
  const replay::Membership& self = stage.peers->membership();
  std::cout << fmt::format("{}: the results are with the process of {}\n", self.own_text(), self.hosts_text({0})) << std::flush;
  say_stuck(outcome);
  return exit_code(outcome);
}

/// A child of the process that says everything.
int replay_silently(const program::Trace& trace, const replay::Options& options, const replay::Ground& ground, Stage& stage, int socket) {
  try {
    stage.peers->join(socket);
    const replay::Outcome outcome = replay::run_together(trace, options, ground, stage.company(), nullptr, nullptr);
    stage.lost = outcome.lost;
    return exit_code(outcome);
  } catch (const UserError&) { return 2; }
}

/// Runs it where all results come to this process, and writes them.
int replay_and_report(const ReplayArguments& arguments, const program::Trace& trace, const replay::Options& options,
                      const replay::Ground& ground, Stage& stage, const std::function<void(replay::Wanted)>& meet) {
  const bool to_stdout = stdout_taken(arguments);
  const auto json = open(arguments.json), csv = open(arguments.csv), ops = open(arguments.ops), calls = open(arguments.calls);
  const auto start = std::chrono::steady_clock::now();
  replay::Outcome outcome;
  if (stage.peers) {
    meet({ops != nullptr, calls != nullptr});
    outcome = replay::run_together(trace, options, ground, stage.company(), ops.get(), calls.get());
  } else {
    std::unique_ptr<results::OperationsFile> operations;
    std::unique_ptr<results::BlockWriter> call_lines;
    if (ops) operations = std::make_unique<results::OperationsFile>(*ops, replay::request_steps(), std::span<const char* const>());
    if (calls) {
      call_lines = std::make_unique<results::BlockWriter>(*calls);
      call_lines->add(replay::calls_header());
    }
    outcome = replay::run(trace, options, ground, {operations.get(), call_lines.get()}, stage.company());
    if (operations) operations->finish();
    if (call_lines) call_lines->finish();
  }
  stage.lost = outcome.lost;
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
  if (ops) ops->commit();
  if (calls) calls->commit();
  say_stuck(outcome);
  return exit_code(outcome);
}

/// Returns in every process.
int replay_as_processes(const ReplayArguments& arguments, const program::Trace& trace, const replay::Options& options,
                        replay::Ground ground, replay::Forked& forked) {
  Stage stage(options);
  stage.peers = std::make_unique<replay::Peers>(*stage.turn, replay::membership_of(trace, options, {forked.host()}));
  if (!forked.is_parent()) return replay_silently(trace, options, ground, stage, forked.take_socket());
  ground = replay::look_around(options);
  return replay_and_report(arguments, trace, options, ground, stage,
                           [&](replay::Wanted wanted) { stage.peers->gather(forked.take_sockets(), wanted); });
}

}  // namespace

int replay(const ReplayArguments& arguments) {
  stdout_taken(arguments);
  replay::Options options = options_of(arguments);
  check_rules(arguments.rules);
  const auto all_devices = options.devices;
  keep_devices(options, arguments.hosts);
  // A process opens its devices itself: what is opened before a fork is of no use after it.
  replay::Ground ground = arguments.processes ? replay::look_at_system(options) : replay::look_around(options);
  const auto trace = program::open_trace(arguments.trace, {ground.rules});
  const program::Names& names = trace->names();
  const std::set<std::uint32_t> own = own_hosts(arguments.hosts, names);
  check_hosts(all_devices, names, own);
  if (arguments.processes && names.hosts().size() > 1) {
    replay::Forked forked(names.hosts());
    return replay_as_processes(arguments, *trace, options, ground, forked);
  }
  Stage stage(options);
  if (arguments.processes) ground = replay::look_around(options);
  if (own.empty() || own.size() == names.hosts().size())
    return replay_and_report(arguments, *trace, options, ground, stage, [](replay::Wanted) {});

  if (arguments.peers.empty()) throw UserError("--host leaves hosts of the trace to other processes: --peers says where they meet");
  const replay::Place place = replay::parse_place(arguments.peers);
  const replay::Membership self = replay::membership_of(*trace, options, own);
  if (!self.hub()) refuse_outputs(arguments, names);
  stage.peers = std::make_unique<replay::Peers>(*stage.turn, self);
  if (self.hub())
    return replay_and_report(arguments, *trace, options, ground, stage,
                             [&](replay::Wanted wanted) { stage.peers->gather_at(place, wanted); });
  stage.peers->join_at(place);
  return replay_for_others(*trace, options, ground, stage);
}

}  // namespace mtsim::tool

// mtsim: the command.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <systemc>

#include "base/error.h"
#include "command.h"
#include "man_page.h"

namespace {

using namespace mtsim;

/// Exit codes of the command, besides 0, 1 and 130.
constexpr int users_mistake = 2, our_fault = 3;

/// Of an unknown word the parser would say only that a command is missing.
void refuse_unknown_command(const CLI::App& app, const std::string& word) {
  std::vector<std::string> known;
  std::string list;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == word) return;
    known.push_back(command->get_name());
    list += (list.empty() ? "" : ", ") + command->get_name();
  }
#ifndef MTSIM_REPLAY
  if (word == "replay") throw UserError("this mtsim was built without libibverbs, which 'replay' needs (Debian: libibverbs-dev)");
#endif
  throw UserError("there is no command '" + word + "'; known: " + list + did_you_mean(word, known));
}

void add_sets(CLI::App& command, std::vector<std::string>& sets) {
  command.add_option("--set", sets, "PATH=VALUE: goes before everything that the configuration says")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
}

void add_inputs(CLI::App& command, tool::Inputs& in) {
  command.add_option("config", in.config, "Configuration (YAML)")->required();
  command.add_option("trace", in.trace, "Trace to replay in place of the configuration's workload; - is standard input");
  add_sets(command, in.sets);
}

#ifdef MTSIM_REPLAY
void add_replay(CLI::App& command, tool::ReplayArguments& replay) {
  command.add_option("trace", replay.trace, "Trace to replay; - is standard input")->required();
  command
      .add_option("--device", replay.devices,
                  "RDMA device of the trace's hosts (their nic0, nic1, ... in order); HOST=DEV for that of one host")
      ->required()
      ->type_name("[HOST=]DEV[,DEV]")
      ->allow_extra_args(false);
  auto* hosts = command.add_option("--host", replay.hosts, "Run only these hosts of the trace here; other processes run the others")
                    ->type_name("HOST[,HOST]")
                    ->allow_extra_args(false);
  command.add_option("--peers", replay.peers, "Where the processes meet: that of the trace's first host listens there, the others connect")
      ->type_name("ADDRESS:PORT")
      ->needs(hosts);
  command.add_flag("--processes", replay.processes, "Run each host of the trace as a process of its own on this machine")->excludes(hosts);
  command.add_option("--rules", replay.rules, "Whose expect.RULES= hold; usual: those of the device's driver and kernel, or ib")
      ->type_name("NAME");
  command.add_option("--time", replay.time, "Replay at the recorded times or as fast as it goes")
      ->check(CLI::IsMember({"asap", "recorded"}));
  command.add_option("--port", replay.port, "Port of the devices, from 1")->type_name("N");
  command.add_option("--gid", replay.gid, "Index into the port's GID table; usual: the first of RoCE version 2 over IPv4")->type_name("N");
  command.add_option("--limit", replay.limit_s, "Seconds that anything is waited for (30)")->type_name("S")->check(CLI::Range(1, 3600));
  command.add_option("--warmup", replay.warmup, "Times to run it before it counts")->type_name("N")->check(CLI::Range(0, 1000));
  command.add_option("--repeat", replay.repeat, "Times to run it; the results are of all of them together")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command.add_option("--json", replay.json, "Write the results as JSON; - is standard output")->type_name("FILE");
  command.add_option("--csv", replay.csv, "Write the results as one tidy table; - is standard output")->type_name("FILE");
  command.add_option("--ops", replay.ops, "Write each operation of the first run that counts as a line of CSV; - is standard output")
      ->type_name("FILE");
  command.add_option("--calls", replay.calls, "The same of each call, with its answer and keys; - is standard output")->type_name("FILE");
  command.add_flag("--no-machine", replay.no_machine, "Leave wall-clock figures out of the JSON");
}
#endif

int execute(int argc, char** argv) {
  CLI::App app{"mtsim: cycle-level simulator of how an RDMA NIC translates and protects memory"};
  app.set_version_flag("--version", MTSIM_VERSION);
  app.require_subcommand(1);

  tool::RunArguments run;
  auto* run_command = app.add_subcommand("run", "Simulate a system, or its variants, on a trace or a workload");
  add_inputs(*run_command, run);
  run_command->add_option("--time", run.time, "Replay a trace at its recorded times or as fast as it goes")
      ->check(CLI::IsMember({"asap", "recorded"}));
  run_command->add_option("--json", run.json, "Write the results as JSON; - is standard output")->type_name("FILE");
  run_command->add_option("--csv", run.csv, "Write the results as one tidy table; - is standard output")->type_name("FILE");
  run_command
      ->add_option("--occupancy", run.occupancy,
                   "Write how busy each unit was over time as CSV (tools/plot draws it); - is standard output")
      ->type_name("FILE");
  run_command->add_option("--ops", run.ops, "Write each operation as a line of CSV, with its steps; - is standard output")
      ->type_name("FILE");
  run_command->add_option("--timeline", run.timeline, "Draw the run for ui.perfetto.dev (trace events in JSON); - is standard output")
      ->type_name("FILE");
  run_command->add_option("--from", run.from, "Draw only what goes on at this simulated time or later, such as 10us")->type_name("TIME");
  run_command->add_option("--to", run.to, "Draw only what goes on at this simulated time or earlier")->type_name("TIME");
  run_command->add_option("--sample", run.sample, "Draw about one operation in N, and every N-th span of all else")->type_name("N");
  run_command->add_flag("--no-machine", run.no_machine, "Leave wall-clock figures out of the JSON");
  run_command->add_flag("--quiet", run.quiet, "No progress line");

#ifdef MTSIM_REPLAY
  tool::ReplayArguments replay;
  auto* replay_command = app.add_subcommand("replay", "Run a trace on real verbs: the devices of this machine");
  add_replay(*replay_command, replay);
#endif

  tool::Inputs check;
  auto* check_command = app.add_subcommand("check", "Read a configuration and a trace, say everything that is wrong, simulate nothing");
  add_inputs(*check_command, check);

  std::string component;
  bool schema = false;
  auto* describe_command =
      app.add_subcommand("describe", "Every component and parameter: unit, default, range, meaning, source of the default");
  auto* described = describe_command->add_option("component", component,
                                                 "A section (nic.mtt_cache), a parameter of one, the beginning of several, or rules");
  describe_command->add_flag("--schema", schema, "Print the JSON Schema of a configuration instead, for editors")->excludes(described);

  tool::GenArguments gen;
  auto* gen_command = app.add_subcommand("gen", "Write a configuration's workload out as a trace");
  gen_command->add_option("workload", gen.config, "Configuration (YAML) with a workload")->required();
  gen_command->add_option("-o,--output", gen.output, "Trace to write; - is standard output")->required()->type_name("TRACE");
  add_sets(*gen_command, gen.sets);

  tool::ValidateArguments validation;
  auto* validate_command = app.add_subcommand("validate", "Run the shipped validation configurations: published figures against simulated");
  validate_command->add_option("name", validation.name, "One row (R1), a group (registration) or a file; all rows without it");
  validate_command->add_option("--json", validation.json, "Write every figure as JSON; - is standard output")->type_name("FILE");
  validate_command->add_flag("--strict", validation.strict, "Exit with 1 when a figure misses its tolerance");
  validate_command->add_flag("--quiet", validation.quiet, "No progress line");
  add_sets(*validate_command, validation.sets);

  tool::CompareArguments compare;
  auto* compare_command = app.add_subcommand(
      "compare", "Hold two results against each other, such as a simulated one (A) and a measured one (B): statuses, counts, times");
  compare_command->add_option("a", compare.a, "Results (JSON) of mtsim run --json")->required();
  compare_command->add_option("b", compare.b, "Results of the same program from elsewhere")->required();
  compare_command->add_option("--ops", compare.ops, "The operations of both (--ops of the same runs): each is compared by itself")
      ->type_name("A.csv B.csv")
      ->expected(2);
  compare_command->add_option("--variant-a", compare.variant_a, "Which variant of A, where it has several")->type_name("NAME");
  compare_command->add_option("--variant-b", compare.variant_b, "Which variant of B, where it has several")->type_name("NAME");
  compare_command
      ->add_option("--rules", compare.rules, "The set of rules that B is said to follow; without it the one that its results name")
      ->type_name("NAME");
  compare_command->add_option("--json", compare.json, "Write the comparison as JSON; - is standard output")->type_name("FILE");

  if (argc == 2 && std::string(argv[1]) == "--man-page") {
    std::cout << tool::man_page(app);
    return 0;
  }
  if (argc > 1 && argv[1][0] != '-') refuse_unknown_command(app, argv[1]);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error, std::cout, std::cerr);
    return code == 0 ? 0 : users_mistake;
  }
  if (*run_command) return tool::run(run);
#ifdef MTSIM_REPLAY
  if (*replay_command) return tool::replay(replay);
#endif
  if (*check_command) return tool::check(check);
  if (*describe_command) return schema ? tool::print_schema() : tool::describe(component);
  if (*validate_command) return tool::validate(validation);
  if (*compare_command) return tool::compare(compare);
  return tool::generate(gen);
}

}  // namespace

int sc_main(int, char**) { return 0; }

int main(int argc, char** argv) {
  // SystemC greets on stderr unless it is told not to; what it would report ends in our own words.
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  sc_core::sc_report_handler::set_actions(sc_core::SC_ID_INSTANCE_EXISTS_, sc_core::SC_DO_NOTHING);
  try {
    return execute(argc, argv);
  } catch (const UserError& error) {
    for (const std::string& message : error.messages()) std::cerr << message << '\n';
    return users_mistake;
  } catch (const std::exception& error) {
    std::cerr << "mtsim: internal error: " << error.what() << '\n';
    return our_fault;
  }
}

// The commands of mtsim: what each is told, and what it does. The command line itself stands in main.cpp alone, since its parser is by
// far the dearest header to compile.
#pragma once

#include <string>
#include <vector>

namespace mtsim::tool {

/// What `run` and `check` read.
struct Inputs {
  std::string config;
  std::string trace;              ///< empty: the configuration's workload
  std::vector<std::string> sets;  ///< PATH=VALUE
  std::string time;               ///< "", "asap" or "recorded"
};

struct RunArguments : Inputs {
  std::string json, csv, occupancy, ops, timeline;  ///< paths; empty for what is not wanted
  std::string from, to, sample;                     ///< of the timeline, as written
  bool quiet = false, no_machine = false;
};

struct GenArguments {
  std::string config, output;
  std::vector<std::string> sets;
};

struct ValidateArguments {
  std::string name;  ///< a row, a group, a file, or empty for all
  std::string json;  ///< path, or empty
  std::vector<std::string> sets;
  bool strict = false, quiet = false;
};

struct ReplayArguments {
  std::string trace;
  std::vector<std::string> devices;   ///< `DEV[,DEV]`, or `HOST=DEV[,DEV]`
  std::vector<std::string> hosts;     ///< `HOST[,HOST]`: those that run in this process; empty: all
  std::string peers;                  ///< `ADDRESS:PORT`, or empty
  std::string rules, time;            ///< empty: the usual
  std::string json, csv, ops, calls;  ///< paths; empty for what is not wanted
  unsigned port = 1, limit_s = 30, warmup = 0, repeat = 1;
  int gid = -1;  ///< chosen
  bool processes = false, quiet = false, no_machine = false;
};

struct CompareArguments {
  std::string a, b;                  ///< result files
  std::string variant_a, variant_b;  ///< which of theirs; empty: they have none
  std::vector<std::string> ops;      ///< two, or none
  std::string json;                  ///< path, or empty
  std::string rules;                 ///< that B claims; empty: what its configuration says
};

// Each returns the exit code: 0 success, 1 an expectation failed, 130 interrupted. Mistakes of the user are thrown as UserError.
int run(const RunArguments& arguments);
int check(const Inputs& arguments);
/// Only where libibverbs was found (MTSIM_REPLAY).
int replay(const ReplayArguments& arguments);
/// `name` empty: an overview.
int describe(const std::string& name);
int print_schema();
int generate(const GenArguments& arguments);
/// 0 when every row was run and printed; 1 at a miss if that is asked for.
int validate(const ValidateArguments& arguments);
/// 1 where statuses, their order or counts differ.
int compare(const CompareArguments& arguments);

}  // namespace mtsim::tool

// Replays a trace on real verbs and says what came out, in the same words as a simulation.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "program/actors.h"
#include "program/trace_reader.h"
#include "record.h"
#include "results/report.h"

namespace mtsim::replay {

struct Options {
  /// RDMA devices by host of the trace, in the order of their NICs (`nic0`, `nic1`); under the name "" those of every other host.
  std::map<std::string, std::vector<std::string>> devices;
  std::uint8_t port = 1;
  int gid = -1;       ///< index into the port's GID table; choose_gid
  std::string rules;  ///< whose `expect.RULES=` hold; empty: those of the device and kernel
  program::ReplayTime time = program::ReplayTime::recorded;
  std::chrono::seconds limit{30};  ///< of a wait
  unsigned warmup = 0, repeat = 1;
};

const std::vector<std::string>& devices_of(const Options& options, const std::string& host);

/// What a replay runs on, found out before anything is run.
struct Ground {
  std::string device, driver, firmware, kernel, rules;
};
/// The kernel and the rules of it and its devices; opens no device yet.
Ground look_at_system(const Options& options);
/// Throws UserError for a device that is not there.
Ground look_around(const Options& options);

struct Outcome {
  results::Report report;
  /// Why it was given up; empty after a complete run, and after one that was interrupted here.
  std::string reason;
  /// Where the threads stood then, a line each.
  std::vector<std::string> stuck;
  bool interrupted = false;
  /// A thread hangs in the kernel: what it may still use, such as the turn, must not be destroyed.
  bool lost = false;
  bool complete() const { return reason.empty() && !interrupted; }
};

class Turn;
class Peers;
/// What all runs of a replay have in common. `peers` null: all hosts run in this process.
struct Company {
  Turn& turn;
  Peers* peers = nullptr;
};

/// Runs the trace warmup + repeat times, each on devices opened anew; what is reported is all that was repeated, files hold the first of
/// them. Throws UserError for what a trace asks and real verbs cannot do, before the run.
Outcome run(const program::Trace& trace, const Options& options, const Ground& ground, Files files, const Company& company);

}  // namespace mtsim::replay

// One measurement of the model's own speed, printed as bare numbers for the script that makes a table of many.
//   mtsim_bench simulate CONFIG [TRACE] [PATH=VALUE]...   -> operations, wall seconds, CPU seconds, timed events, kernel events,
//                                                            MiB of memory that the process had at most
//   mtsim_bench parse TRACE                               -> lines, wall seconds, CPU seconds
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <systemc>
#include <vector>

#include "base/config.h"
#include "base/error.h"
#include "program/trace_reader.h"
#include "system/simulation.h"

namespace {

using namespace mtsim;
/// Wall and CPU time since it was made.
class Stopwatch {
 public:
  std::string show() const {
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - wall_;
    return fmt::format("{:.6f} {:.6f}", wall.count(), static_cast<double>(std::clock() - cpu_) / CLOCKS_PER_SEC);
  }

 private:
  std::chrono::steady_clock::time_point wall_ = std::chrono::steady_clock::now();
  std::clock_t cpu_ = std::clock();
};

/// Resident memory at most so far, in MiB.
long most_memory() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss / 1024;
}

/// Work requests and registrations within the measured window.
std::uint64_t operations(const results::Report& report) {
  std::uint64_t sum = report.registration.reg_mr.calls;
  for (const results::OperationStats& opcode : report.operations) sum += opcode.completed;
  return sum;
}

/// Only the run is timed: reading the configuration and building the system are the same for a short run as for a long one.
int simulate(const std::string& path, const std::optional<std::string>& trace, const std::vector<std::string>& sets) {
  const Config config = Config::load(path, sets);
  const system::Plan plan = system::make_plan(config, trace, program::ReplayTime::asap);
  system::Simulation simulation(plan);
  const Stopwatch watch;
  simulation.run();
  const std::string time = watch.show();
  const results::Report report = simulation.report();
  // A rate of failing requests would say nothing.
  if (report.unexpected_total != 0 || !simulation.stuck().empty()) throw std::runtime_error(path + ": the run went wrong");
  std::cout << fmt::format("{} {} {} {} {}\n", operations(report), time, simulation.scheduler().timed_events(),
                           simulation.scheduler().kernel_events(), most_memory());
  return 0;
}

int parse(const std::string& path) {
  const Stopwatch watch;
  const auto trace = program::open_trace(path);
  std::cout << fmt::format("{} {}\n", trace->lines(), watch.show());
  return 0;
}

int execute(std::vector<std::string> words) {
  if (words.size() == 2 && words[0] == "parse") return parse(words[1]);
  if (words.size() >= 2 && words[0] == "simulate") {
    std::optional<std::string> trace;
    auto sets = words.begin() + 2;
    if (sets != words.end() && sets->find('=') == std::string::npos) trace = *sets++;
    return simulate(words[1], trace, {sets, words.end()});
  }
  std::cerr << "usage: mtsim_bench simulate CONFIG [TRACE] [PATH=VALUE]... | parse TRACE\n";
  return 2;
}

}  // namespace

int sc_main(int, char**) { return 0; }

int main(int argc, char** argv) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  try {
    return execute({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "mtsim_bench: " << error.what() << '\n';
    return 1;
  }
}

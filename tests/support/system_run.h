// A whole simulation in the process of the test: from a configuration and perhaps a trace to a report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/config.h"
#include "results/json.h"
#include "support/fresh_systemc.h"
#include "system/simulation.h"

namespace mtsim::test {

struct SystemRun {
  results::Report report;
  std::vector<std::string> stuck;
  /// The report as JSON, without what differs from machine to machine.
  std::string json() const {
    results::JsonOptions options;
    options.machine = false;
    return results::to_json(report, options);
  }
};

inline SystemRun run_system(const std::vector<std::string>& sets, const std::optional<std::string>& trace = {},
                            program::ReplayTime time = program::ReplayTime::asap) {
  const FreshSystemC context;
  const system::Plan plan = system::make_plan(Config::load("configs/base.yaml", sets), trace, time);
  system::Simulation simulation(plan);
  simulation.run();
  return {simulation.report(), simulation.stuck()};
}

}  // namespace mtsim::test

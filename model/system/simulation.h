// Builds the system that a configuration and a program describe, runs it, and says what came out.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/scheduler.h"
#include "program/actors.h"
#include "results/report.h"
#include "system/hazard_log.h"
#include "system/meeting.h"
#include "system/plan.h"
#include "system/run_files.h"

namespace mtsim::fabric {
class Switch;
}

namespace mtsim::system {

class Host;
class Occupancy;
class Recorders;

class Simulation {
 public:
  /// One SystemC kernel a process: only one Simulation can be elaborated in it. `plan` and what `recording` points at must outlive it.
  explicit Simulation(const Plan& plan, const Recording& recording = {});
  ~Simulation();

  struct Heartbeat {
    Time simulated;
    std::uint64_t operations;
  };
  /// Runs to the end, calling `beat` now and then. Stops early, with a partial report, after request_stop().
  void run(const std::function<void(const Heartbeat&)>& beat = {});
  void request_stop() { scheduler_->request_stop(); }

  /// Counts of the measured window: between the program's start and end barriers, or everything.
  results::Report report() const;
  /// What to tell the user of a run that did not end: why, where actors stand, and what the NICs hold. Empty after a complete run.
  std::vector<std::string> stuck() const;

  const engine::Scheduler& scheduler() const { return *scheduler_; }
  std::uint64_t operations() const { return actors_->operations_begun(); }
  const std::vector<std::unique_ptr<Host>>& hosts() const { return hosts_; }

 private:
  /// What to tell of hosts whose process the kernel ended.
  std::vector<std::string> killed() const;
  std::vector<MeasuringMeeting::Watch> watches();
  /// A phase of the program, and how things stood when it last began.
  struct TimedPhase {
    results::PhaseStats stats;
    Time begun;
    Bytes registered;
  };
  void begin_phase(TimedPhase& phase) const;
  void end_phase(TimedPhase& phase) const;
  /// Bytes of all memory regions registered or deregistered in the window so far.
  Bytes registered() const;
  /// Of NICs that met a page on demand which they do not have.
  std::vector<std::string> page_faults() const;
  void begin_window();
  void end_window();
  results::Report collect() const;

  const Plan& plan_;
  std::unique_ptr<engine::Scheduler> scheduler_;
  std::unique_ptr<fabric::Switch> switch_;
  HazardLog hazards_;
  std::vector<std::unique_ptr<Host>> hosts_;  ///< in the order of their names, which is that of their ports
  std::vector<std::uint32_t> port_of_;        ///< by the program's hosts
  std::unique_ptr<MeasuringMeeting> meeting_;
  std::vector<TimedPhase> phases_;
  program::Tally tally_;
  std::unique_ptr<Recorders> recorders_;
  std::unique_ptr<program::Actors> actors_;
  std::unique_ptr<Occupancy> occupancy_;     ///< null: not measured
  std::optional<results::Report> at_start_;  ///< what had been counted when the measured window began
  std::optional<results::Report> at_end_;    ///< and when it ended
};

}  // namespace mtsim::system

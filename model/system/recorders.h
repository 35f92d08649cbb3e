// What stands between a simulation and the files that it writes while it runs.
#pragma once

#include <memory>
#include <optional>

#include "system/operations_recorder.h"
#include "system/qp_names.h"
#include "system/run_files.h"
#include "system/timeline_recorder.h"

namespace mtsim::system {

class Host;

/// Made before the program's actors, since it watches them. Without anything to record it watches nothing.
class Recorders {
 public:
  /// `hosts` in the order of their ports, `port_of` by the program's hosts. `observer` is whom the actors report to. All must outlive this.
  Recorders(const Recording& recording, const program::Program& program, const std::vector<std::unique_ptr<Host>>& hosts,
            const std::vector<std::uint32_t>& port_of, fabric::Switch& network, program::Observer& observer);

  /// Whom the actors report to now.
  program::Observer& observer() { return observer_; }
  /// What the actors of that host call.
  verbs::Device& device(std::uint32_t port);
  /// Between elaboration and the first step, and after the last.
  void begin();
  void finish();
  /// What ends from now on lies within the measured window, or no longer.
  void measure(bool on);

 private:
  const std::vector<std::unique_ptr<Host>>& hosts_;
  std::optional<QpNames> qps_;
  program::Observer& observer_;
  std::optional<OperationsRecorder> operations_;
  std::optional<TimelineRecorder> timeline_;
};

}  // namespace mtsim::system

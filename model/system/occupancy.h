// How busy the units of a system are over time: a point every so often, and how often follows from the length of the run, so that there
// are never more than a hundred or so.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/scheduler.h"
#include "results/report.h"

namespace mtsim::fabric {
class Switch;
}

namespace mtsim::system {

class Host;

class Occupancy {
 public:
  /// Between two of them: what is in use on average, exactly. The step doubles, and every other point goes, when there are more.
  static constexpr std::size_t most_points = 128;

  /// All must outlive this.
  Occupancy(engine::Scheduler& scheduler, const std::vector<std::unique_ptr<Host>>& hosts, const fabric::Switch& network);

  /// Forgets what was and begins anew, from now on.
  void restart();
  /// Nothing from now on.
  void stop();
  results::Occupancy collect() const;

 private:
  struct Unit {
    std::string name;
    std::uint64_t capacity = 0;
    /// Unit-time in use up to now in picoseconds; of a level how many there are.
    std::function<std::int64_t()> read;
    bool level = false;
  };
  void add_host(Host& host);
  void add_busy(std::string name, std::uint64_t capacity, std::function<Time()> busy);
  void add_level(std::string name, std::uint64_t capacity, std::function<std::uint64_t()> level);
  Time sample(Time now);
  void note(Time now);
  void thin();

  engine::Scheduler& scheduler_;
  std::vector<Unit> units_;
  Time from_, step_;
  std::vector<std::int64_t> first_;  ///< by unit, when it began
  std::vector<Time> at_;
  std::vector<std::vector<std::int64_t>> read_;  ///< by point and unit
};

}  // namespace mtsim::system

// When look-ups of a cache begin: its banks and ports, and whether a miss keeps the next look-up out. Time only; a cache without such
// limits has none of these.
//
// Order: a look-up takes its beginning when the Walker comes to it, which for one that hits on its way is the moment at which it enters the
// first cache; it is the earliest at or after its arrival at which a port of its bank is free, between those that others have taken
// already. In a blocking cache the look-ups that arrive after one that misses, until its line has come, look again one after the other in
// order of arrival; of these each that misses keeps the rest waiting in turn.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/scheduler.h"
#include "engine/semaphore.h"
#include "nic/cache_params.h"

namespace mtsim::nic {

class CachePipe {
 public:
  CachePipe(engine::Scheduler& scheduler, Clock clock, const CacheParams& params);

  /// Whether it limits anything at all.
  static bool needed(const CacheParams& params) { return params.interval > Time() || params.on_miss == OnMiss::stall; }

  /// When a look-up of line `tag` begins that arrives at `at`: that place is its own from now on.
  Time enter(std::uint64_t tag, Time at);
  /// Look-ups and their waits for a port.
  const engine::Usage& port_usage() const { return port_usage_; }

  bool blocks() const { return blocks_; }
  /// Whether a look-up that arrives at `at` must wait for `turn()`.
  bool closed(Time at) const { return blocks_ && at >= closed_since_ && (turn_.in_use() != 0 || turn_.has_waiters()); }
  /// A look-up has missed at `at`: nobody comes in until it gives `turn()` back. False when another one has it: it must wait for that.
  bool close(Time at);
  /// One that has waited for its turn keeps it.
  void keep(Time at) { closed_since_ = at; }
  engine::Semaphore& turn() { return turn_; }
  const engine::Semaphore& turn() const { return turn_; }

 private:
  /// Beginnings that were taken and are not over, in order.
  using Port = std::vector<Time>;
  /// The first beginning that is free from `at` on.
  Time first_free(const Port& port, Time at) const;

  engine::Scheduler& scheduler_;
  Time interval_;
  std::uint64_t banks_;
  std::size_t ports_;
  bool blocks_;
  std::vector<Port> taken_;  ///< by bank, then by port
  engine::Usage port_usage_;
  engine::Semaphore turn_;
  Time closed_since_;
};

}  // namespace mtsim::nic

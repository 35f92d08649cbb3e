// What happens only if something else does not (a retransmission timer). A Timer fires once armed; a Deadline may be put off as often as
// one likes for the price of a store, since its owner is asked again when its moment comes. One that is no longer meant passes without
// trace: it costs no simulated time, so a run does not last until its last time-out.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/timer.h"

namespace mtsim::engine {

struct Deadline {
  static constexpr Time never{INT64_MAX};

  Order order;  ///< among deadlines of one picosecond; all come after the timers of it
  /// When it is due as things stand: not before the moment for which it is watched, or `never`. Must change nothing.
  Time (*due)(Deadline&) = nullptr;
  void (*expire)(Deadline&) = nullptr;
  std::uint32_t watched = 0;  ///< how often: watched twice, it is asked at both moments, and expires at the first at which it is due
};

/// The deadlines of a scheduler, by time.
class Deadlines {
 public:
  void watch(Deadline& deadline, Time when);
  /// When the next is due at the earliest; `never` if none is watched.
  Time next() const { return heap_.empty() ? Deadline::never : heap_.front().when; }
  /// The earliest is at its moment: returns it if it is still meant, else drops it or puts it off.
  Deadline* take();
  /// Drops and puts off until the earliest is really due at next().
  void settle();

 private:
  struct Entry {
    Time when;
    Order order;
    std::uint64_t serial;
    Deadline* deadline;
  };
  static bool later(const Entry& a, const Entry& b);
  Deadline& pop();

  std::vector<Entry> heap_;
  std::uint64_t serial_ = 0;
};

}  // namespace mtsim::engine

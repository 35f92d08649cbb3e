// A FIFO server: one customer at a time, in order of arrival. It answers "when"; whoever asks waits, or does not.
#pragma once

#include "base/timeline.h"
#include "engine/usage.h"

namespace mtsim::engine {

class Server {
 public:
  struct Booking {
    Time start, end;
  };

  /// Books `service` for a request that arrives `now`; calls must come in order of time.
  Booking book(Time now, Time service) {
    const Time start = std::max(now, free_);
    free_ = start + service;
    ++usage_.requests;
    usage_.busy += service;
    usage_.wait(start - now);
    if (row_) [[unlikely]]
      draw_last(start);
    return {start, free_};
  }

  Time free_at() const { return free_; }
  const Usage& usage() const { return usage_; }
  /// Draws each booking as a span called `what` from now on. Whoever may look at a server may draw it: that changes nothing in it.
  void draw(const TimelineRow& row, const char* what) const {
    row_ = row;
    what_ = what;
  }

 private:
  /// Apart and cold: a booking is inlined into many places.
  [[gnu::cold, gnu::noinline]] void draw_last(Time start) const { row_.span(what_, start, free_); }

  Time free_;
  Usage usage_;
  mutable TimelineRow row_;
  mutable const char* what_ = "";
};

/// Usage without the service that is booked for later than `now`. Bookings follow each other without a gap from `now` on.
inline Usage usage_up_to(const Server& server, Time now) {
  Usage usage = server.usage();
  if (server.free_at() > now) usage.busy -= server.free_at() - now;
  return usage;
}

}  // namespace mtsim::engine

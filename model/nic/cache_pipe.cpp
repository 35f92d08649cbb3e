#include "nic/cache_pipe.h"

#include <algorithm>

namespace mtsim::nic {

CachePipe::CachePipe(engine::Scheduler& scheduler, Clock clock, const CacheParams& params)
    : scheduler_(scheduler),
      interval_(clock.edge(params.interval)),
      banks_(params.banks),
      ports_(params.ports),
      blocks_(params.on_miss == OnMiss::stall),
      taken_(banks_ * ports_),
      turn_(scheduler, 1) {}

Time CachePipe::first_free(const Port& port, Time at) const {
  for (const Time begun : port) {
    if (begun + interval_ <= at) continue;
    if (begun >= at + interval_) break;
    at = begun + interval_;
  }
  return at;
}

Time CachePipe::enter(std::uint64_t tag, Time at) {
  if (interval_ == Time()) return at;
  Port* best = nullptr;
  Time begins;
  for (std::size_t i = 0; i < ports_; ++i) {
    Port& port = taken_[tag % banks_ * ports_ + i];
    const Time now = scheduler_.now();
    const auto over = std::find_if(port.begin(), port.end(), [&](Time begun) { return begun + interval_ > now; });
    port.erase(port.begin(), over);
    const Time free = first_free(port, at);
    if (best != nullptr && free >= begins) continue;
    best = &port;
    begins = free;
  }
  ++port_usage_.requests;
  port_usage_.wait(begins - at);
  best->insert(std::upper_bound(best->begin(), best->end(), begins), begins);
  return begins;
}

bool CachePipe::close(Time at) {
  if (turn_.in_use() != 0 || turn_.has_waiters()) return false;
  // Nobody waits, so that this does not suspend.
  static_cast<void>(turn_.take().await_ready());
  closed_since_ = at;
  return true;
}

}  // namespace mtsim::nic

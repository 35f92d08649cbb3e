#include "engine/scheduler.h"

#include <algorithm>

namespace mtsim::engine {
namespace {

sc_core::sc_time to_kernel(Time t) { return sc_core::sc_time::from_value(static_cast<std::uint64_t>(t.raw)); }
Time from_kernel(const sc_core::sc_time& t) { return Time(static_cast<std::int64_t>(t.value())); }

bool has_other_process(const std::vector<sc_core::sc_object*>& objects, const sc_core::sc_object* own) {
  return std::any_of(objects.begin(), objects.end(), [own](sc_core::sc_object* object) {
    const bool process = dynamic_cast<sc_core::sc_process_b*>(object) != nullptr && object->get_parent_object() != own;
    return process || has_other_process(object->get_child_objects(), own);
  });
}

}  // namespace

Scheduler::Scheduler(sc_core::sc_module_name module_name) : sc_module(module_name) {
  // from_value and value() count in the kernel's resolution: the model's times are picoseconds.
  sc_assert(sc_core::sc_get_time_resolution() == sc_core::sc_time(1, sc_core::SC_PS));
  SC_METHOD(drain);
  sensitive << due_;
}

Scheduler::~Scheduler() = default;

void Scheduler::start_of_simulation() { alone_ = !has_other_process(sc_core::sc_get_top_level_objects(), this); }

void Scheduler::catch_up() { now_ = std::max(now_, from_kernel(sc_core::sc_time_stamp())); }

void Scheduler::wake_kernel() {
  catch_up();
  const Time timer = wheel_.size() != 0 ? wheel_.earliest() : Deadline::never;
  const Time at = std::max(std::min(timer, next_deadline_), now_);
  due_.notify(to_kernel(at) - sc_core::sc_time_stamp());
}

Time Scheduler::horizon() const {
  if (strict_) return from_kernel(sc_core::sc_time_stamp());
  if (sc_core::sc_pending_activity_at_current_time()) return from_kernel(sc_core::sc_time_stamp());
  if (!sc_core::sc_pending_activity_at_future_time()) return end_;
  // Strictly before the next foreign activity.
  const Time foreign = from_kernel(sc_core::sc_time_stamp() + sc_core::sc_time_to_pending_activity()) - ps(1);
  return std::min(foreign, end_);
}

bool Scheduler::serve(unsigned timers) {
  for (; timers != 0 && !stopped(); --timers) {
    // Asked before the wheel turns: a foreign process that the model has just woken may still arm a timer for any time from then on.
    if (!alone_) limit_ = std::max(horizon(), now_);
    Timer* timer = wheel_.take(std::min(limit_, bound_));
    if (timer == nullptr) {
      if (!serve_bound()) return false;
      continue;
    }
    now_ = timer->when;
    ++timed_events_;
    timer->fire(*timer);
  }
  return !stopped();
}

bool Scheduler::serve_bound() {
  if (next_sample_ < next_deadline_) {
    const Time timer = wheel_.size() != 0 ? wheel_.earliest() : Deadline::never;
    if (timer <= limit_ && timer < next_deadline_) {
      now_ = std::max(now_, next_sample_);
      next_sample_ = sampler_(now_);
      set_bound();
      return true;
    }
  }
  if (next_deadline_ == Deadline::never || next_deadline_ > limit_) return false;
  serve_deadline();
  return true;
}

void Scheduler::serve_deadline() {
  const Time when = next_deadline_;
  Deadline* deadline = deadlines_.take();
  next_deadline_ = deadlines_.next();
  set_bound();
  if (deadline == nullptr) return;
  now_ = when;
  ++timed_events_;
  deadline->expire(*deadline);
}

void Scheduler::drain() {
  ++kernel_events_;
  catch_up();
  draining_ = true;
  limit_ = std::max(horizon(), now_);
  while (serve(4096))
    if (heartbeat_ && (++strides_ & 15) == 0) heartbeat_();
  draining_ = false;
  if (stopped()) return;
  // The kernel must not be sent to a moment that has no meaning any more: its time would count.
  deadlines_.settle();
  next_deadline_ = deadlines_.next();
  set_bound();
  const Time timer = wheel_.size() != 0 ? wheel_.earliest() : Deadline::never;
  if (std::min(timer, next_deadline_) <= std::min(end_, Deadline::never - ps(1))) wake_kernel();
}

}  // namespace mtsim::engine

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
  const Time at = std::max(wheel_.earliest(), now_);
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

void Scheduler::drain() {
  ++kernel_events_;
  catch_up();
  draining_ = true;
  // Foreign processes can become active only by what the model itself does while it drains: that shows in horizon(), which is cheap but
  // not free, so it is asked again before each busy picosecond rather than before each timer. It is asked before the wheel turns: what a
  // process then does may lie before what the wheel would have turned to.
  Time limit = std::max(horizon(), now_);
  while (!stopped()) {
    if (!alone_ && wheel_.size() != 0 && wheel_.earliest() > now_) limit = std::max(horizon(), now_);
    Timer* timer = wheel_.next(limit);
    if (timer == nullptr) break;
    now_ = timer->when;
    wheel_.pop();
    if ((++timed_events_ & 0xffff) == 0 && heartbeat_) heartbeat_();
    timer->fire(*timer);
  }
  draining_ = false;
  if (wheel_.size() != 0 && !stopped() && wheel_.earliest() <= end_) wake_kernel();
}

}  // namespace mtsim::engine

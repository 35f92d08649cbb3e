// The one scheduler of a model: a timing wheel behind one sc_event and one SC_METHOD. It runs ahead of the SystemC kernel up to the
// kernel's next foreign activity, so that a timed step of the model costs tens of nanoseconds and foreign SystemC processes still see
// exact order.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <systemc>

#include "base/units.h"
#include "engine/deadline.h"
#include "engine/flow.h"
#include "engine/wheel.h"

namespace mtsim::engine {

class Scheduler : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Scheduler);
  explicit Scheduler(sc_core::sc_module_name name);
  ~Scheduler() override;

  /// Simulated time of the model. Runs ahead of sc_time_stamp() inside the model; a call from a foreign process moves it up first.
  Time now() const { return now_; }

  /// Arms `timer`: `fire` is called at `when`, which must not lie in the past. A timer is armed at most once at a time.
  void arm(Timer& timer, Time when) {
    timer.when = when;
    wheel_.push(timer);
    if (!draining_) [[unlikely]]
      wake_kernel();
  }

  /// Asks `deadline` at `when`, which must not lie in the past.
  void watch(Deadline& deadline, Time when) {
    deadlines_.watch(deadline, when);
    next_deadline_ = deadlines_.next();
    set_bound();
    if (!draining_) [[unlikely]]
      wake_kernel();
  }

  /// A call into the model from a foreign SystemC process begins with this.
  void catch_up();

  /// Takes ownership of a flow and runs it to its first wait.
  void spawn(Flow flow) { flows_.adopt(std::move(flow)); }

  /// Nothing later than this is simulated.
  void set_end(Time end) { end_ = end; }
  /// With `strict`, the kernel's time follows the model's at every busy picosecond (for waveforms and foreign models that call in).
  void set_strict(bool strict) { strict_ = strict; }
  /// `beat` is called every few ten thousand steps: for progress, not for the model.
  void set_heartbeat(std::function<void()> beat) { heartbeat_ = std::move(beat); }
  /// `sampler` is called at `first` and then at the times that it answers, as far as something happens after them: it looks, changes
  /// nothing, and a run is no longer for it. It may come late, at the time that it is told.
  void set_sampler(Time first, std::function<Time(Time)> sampler) {
    next_sample_ = first;
    sampler_ = std::move(sampler);
    set_bound();
  }
  /// Asks a run to stop after the current step; may be called from a signal handler.
  void request_stop() { stop_.store(true, std::memory_order_relaxed); }
  bool stopped() const { return stop_.load(std::memory_order_relaxed); }
  /// True when nothing is left to happen.
  bool idle() const { return wheel_.size() == 0 && next_deadline_ == Deadline::never; }

  std::uint64_t timed_events() const { return timed_events_; }
  std::uint64_t kernel_events() const { return kernel_events_; }

 private:
  void start_of_simulation() override;
  void drain();
  /// Serves up to so many timers; false when none is left that may be served now. Foreign processes can become active only by what the
  /// model itself does: that shows in horizon(), which is asked again before each busy picosecond when there are any.
  bool serve(unsigned timers);
  /// No timer lies before the bound. False: nothing that may be served now.
  bool serve_bound();
  /// The earliest deadline's moment has come, and no timer lies before it.
  void serve_deadline();
  void set_bound() { bound_ = std::min(next_deadline_, next_sample_); }
  void wake_kernel();
  /// The last picosecond that may be simulated before the kernel must have its turn.
  Time horizon() const;

  Wheel wheel_;
  Deadlines deadlines_;
  Time next_deadline_ = Deadline::never;
  Time next_sample_ = Deadline::never;
  Time bound_ = Deadline::never;  ///< the earlier of the two
  Flows flows_;
  sc_core::sc_event due_;
  Time now_;
  Time end_{INT64_MAX};
  Time limit_;  ///< nothing later is served before the kernel has had its turn
  unsigned strides_ = 0;
  bool draining_ = false;
  bool strict_ = false;
  bool alone_ = false;  ///< no process but ours exists: nothing foreign can happen while the model runs
  std::atomic<bool> stop_{false};
  std::function<void()> heartbeat_;
  std::function<Time(Time)> sampler_;
  std::uint64_t timed_events_ = 0;
  std::uint64_t kernel_events_ = 0;
};

/// `co_await Until(scheduler, t, order)`: goes on at `t`, at once when that is now.
class Until : Timer {
 public:
  Until(Scheduler& scheduler, Time t, Order by) : scheduler_(scheduler) {
    when = t;
    order = by;
  }
  bool await_ready() const { return when <= scheduler_.now(); }
  void await_suspend(std::coroutine_handle<> waiter) {
    waiter_ = waiter;
    fire = [](Timer& t) { static_cast<Until&>(t).waiter_.resume(); };
    scheduler_.arm(*this, when);
  }
  void await_resume() const {}

 private:
  Scheduler& scheduler_;
  std::coroutine_handle<> waiter_;
};

}  // namespace mtsim::engine

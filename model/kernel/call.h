// One reg_mr or dereg_mr under way, or what the driver does besides: whose thread it runs on, and a stopwatch that charges every picosecond
// to a step.
#pragma once

#include <optional>

#include "engine/scheduler.h"
#include "kernel/kernel_params.h"
#include "ports/cpu.h"
#include "ports/kernel.h"

namespace mtsim::kernel {

/// Is told of each lap of a call besides its end: for a timeline.
class LapObserver : public ports::RegistrationObserver {
 public:
  virtual void lap(verbs::Thread thread, ports::RegistrationStep step, Time begin, Time end) = 0;

 protected:
  ~LapObserver() = default;
};

class Call {
 public:
  using Step = ports::RegistrationStep;

  Call(engine::Scheduler& scheduler, ports::Cpus& cpus, const KernelParams& params, verbs::Thread thread,
       ports::RegistrationRecord::Call kind, LapObserver* laps = nullptr)
      : scheduler_(scheduler), cpus_(cpus), params_(params), thread_(thread), last_(scheduler.now()), laps_(laps) {
    record_.call = kind;
    record_.begin = last_;
  }
  /// Work that a worker of the kernel does, on behalf of `thread`: it takes its time, but none of a CPU's that threads run on.
  static Call of_worker(engine::Scheduler& scheduler, ports::Cpus& cpus, const KernelParams& params, verbs::Thread thread,
                        ports::RegistrationRecord::Call kind, engine::Order order) {
    return {scheduler, cpus, params, thread, kind, order};
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  class StepRun {
   public:
    StepRun(Call& call, Step step, ports::Work work, Time span) : call_(call), step_(step), run_(call.cpus_, call.thread_, work, span) {
      if (call.worker_) pause_.emplace(call.scheduler_, call.scheduler_.now() + span, *call.worker_);
    }
    bool await_ready() const { return pause_ ? pause_->await_ready() : run_.await_ready(); }
    void await_suspend(std::coroutine_handle<> waiter) {
      if (pause_) pause_->await_suspend(waiter);
      else run_.await_suspend(waiter);
    }
    void await_resume() const { call_.lap(step_); }

   private:
    Call& call_;
    Step step_;
    ports::Cpus::Run run_;
    std::optional<engine::Until> pause_;  ///< a worker's
  };
  /// `co_await`: the CPU works for `span`; the time, that of waiting for a CPU included, goes to `step`.
  StepRun work(Step step, ports::Work kind, Time span) { return StepRun(*this, step, kind, span); }

  /// The thread sleeps until the NIC has answered; `co_await wake_up()` must follow.
  void sleep() {
    if (!worker_) cpus_.block(thread_);
  }
  /// The NIC has answered: its interrupt, and the way back onto a CPU.
  StepRun wake_up() {
    lap(Step::wait);
    return work(Step::wake_up, ports::Work::interrupt, params_.interrupt + params_.wake_up);
  }

  /// What has passed since the last lap goes to `step`.
  void lap(Step step) {
    record_.cost.steps[unsigned(step)] += scheduler_.now() - last_;
    if (laps_ != nullptr) [[unlikely]]
      laps_->lap(thread_, step, last_, scheduler_.now());
    last_ = scheduler_.now();
  }
  verbs::Thread thread() const { return thread_; }
  ports::RegistrationCost& cost() { return record_.cost; }
  /// Ends the call; all of its time has been charged.
  const ports::RegistrationRecord& finish(int error, Bytes length) {
    record_.error = error;
    record_.length = length;
    record_.end = last_;
    return record_;
  }

 private:
  Call(engine::Scheduler& scheduler, ports::Cpus& cpus, const KernelParams& params, verbs::Thread thread,
       ports::RegistrationRecord::Call kind, engine::Order order)
      : Call(scheduler, cpus, params, thread, kind) {
    worker_ = order;
  }

  engine::Scheduler& scheduler_;
  ports::Cpus& cpus_;
  const KernelParams& params_;
  verbs::Thread thread_;
  Time last_;
  LapObserver* laps_;
  std::optional<engine::Order> worker_;  ///< by which a worker's steps are ordered
  ports::RegistrationRecord record_;
};

}  // namespace mtsim::kernel

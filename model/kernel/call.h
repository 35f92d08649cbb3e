// One reg_mr or dereg_mr under way: whose thread it runs on, and a stopwatch that charges every picosecond to a step.
#pragma once

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

  Call(const engine::Scheduler& scheduler, ports::Cpus& cpus, const KernelParams& params, verbs::Thread thread,
       ports::RegistrationRecord::Call kind, LapObserver* laps = nullptr)
      : scheduler_(scheduler), cpus_(cpus), params_(params), thread_(thread), last_(scheduler.now()), laps_(laps) {
    record_.call = kind;
    record_.begin = last_;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  class StepRun : public ports::Cpus::Run {
   public:
    StepRun(Call& call, Step step, ports::Work work, Time span) : Run(call.cpus_, call.thread_, work, span), call_(call), step_(step) {}
    void await_resume() const { call_.lap(step_); }

   private:
    Call& call_;
    Step step_;
  };
  /// `co_await`: the CPU works for `span`; the time, that of waiting for a CPU included, goes to `step`.
  StepRun work(Step step, ports::Work kind, Time span) { return StepRun(*this, step, kind, span); }

  /// The thread sleeps until the NIC has answered; `co_await wake_up()` must follow.
  void sleep() { cpus_.block(thread_); }
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
  const engine::Scheduler& scheduler_;
  ports::Cpus& cpus_;
  const KernelParams& params_;
  verbs::Thread thread_;
  Time last_;
  LapObserver* laps_;
  ports::RegistrationRecord record_;
};

}  // namespace mtsim::kernel

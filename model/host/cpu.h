// The CPUs of one host and the threads that share them.
//
// CPUs are alike: a thread takes any. Threads queue in order of arrival, those of one picosecond by index. Nothing preempts a thread within
// a call; between calls one that has used up its quantum lets the others go first. A spinning thread gives way at once. A wake-up that
// finds no CPU free queues like any other: interrupts do not preempt either.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/parameter.h"
#include "engine/scheduler.h"
#include "engine/usage.h"
#include "host/cpu_rows.h"
#include "ports/cpu.h"

namespace mtsim::host {

struct CpuParams {
  Time quantum;
  static void declare(Declaration<CpuParams>& d);
};

class Cpus : public sc_core::sc_module, public ports::Cpus {
 public:
  /// `host_rank` orders hosts within a picosecond (ports/rank.h).
  Cpus(sc_core::sc_module_name name, engine::Scheduler& scheduler, const CpuParams& params, std::uint32_t cpus, std::uint32_t threads,
       std::uint32_t host_rank);

  void notice(verbs::Thread thread) override;
  void boundary(verbs::Thread thread) override;
  void block(verbs::Thread thread) override;

  std::uint32_t cpus() const { return cpus_; }
  std::uint32_t threads() const override { return static_cast<std::uint32_t>(threads_.size()); }
  /// Up to now, work under way included.
  ports::CpuTimes times() const;
  /// Waits of threads for a CPU; `most` is the longest queue. `busy` is CPU time without polling.
  engine::Usage usage() const;

  /// Draws what each CPU does from now on, before which nothing must have run. `thread_names` by index; they need no escapes.
  void draw(Timeline& timeline, const std::string& process, std::vector<std::string> thread_names);
  /// Draws what is under way, up to now: at the end of a run.
  void draw_rest() const;

 protected:
  void start(verbs::Thread thread, ports::Work work, Time span, std::coroutine_handle<> waiter) override;
  void start_spin(verbs::Thread thread, Time turn, std::coroutine_handle<> waiter) override;

 private:
  enum class State : std::uint8_t {
    blocked,
    ready,     ///< in the queue
    holding,   ///< has a CPU, between two pieces of work of the same picosecond
    working,   ///< its timer is armed
    spinning,  ///< has a CPU and gives it to anyone
    parked,    ///< would spin but has no CPU
  };
  struct ThreadState : engine::Timer {
    Cpus* owner = nullptr;
    verbs::Thread index = 0;
    State state = State::blocked;
    ports::Work work = ports::Work::user;
    Time span;      ///< of the work; of a turn while it spins
    Time since;     ///< when it began to work, to spin or to queue
    Time on_since;  ///< when it got its CPU
    std::coroutine_handle<> waiter;
  };

  void want_cpu(ThreadState& thread);
  void enqueue(ThreadState& thread);
  void begin(ThreadState& thread);
  void finish(ThreadState& thread);
  void take_cpu(ThreadState& thread);
  void release_cpu(const ThreadState& thread);
  void gave_cpu(const ThreadState& thread);
  void evict_spinner();

  engine::Scheduler& scheduler_;
  CpuParams params_;
  std::uint32_t cpus_, free_;
  std::uint32_t spinning_ = 0;
  std::vector<ThreadState> threads_;
  std::deque<ThreadState*> queue_;
  ports::CpuTimes times_;
  engine::Usage usage_;
  std::unique_ptr<CpuRows> rows_;  ///< null: nobody draws
};

}  // namespace mtsim::host

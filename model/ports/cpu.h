// The CPUs of a host, seen by the code that runs on them: the provider library and the kernel.
#pragma once

#include <array>
#include <coroutine>
#include <cstdint>
#include <systemc>

#include "base/units.h"
#include "verbs/device.h"

namespace mtsim::ports {

/// What a CPU is busy with. Whatever is left of its time is idle.
enum class Work : std::uint8_t {
  user,          ///< the program and the provider library
  compute,       ///< what a program calculates
  polling,       ///< turns of a polling loop that find nothing
  syscall,       ///< system calls other than reg_mr and dereg_mr
  registration,  ///< entry, checks and bookkeeping of reg_mr and dereg_mr
  fault,         ///< page faults, wherever they happen
  pin,
  sg,
  dma_map,  ///< and unmapping
  page_size,
  key,
  table,  ///< posting what writes the translation table, or writing it
  unpin,
  interrupt,  ///< the interrupt that ends a wait, and waking up
};
inline constexpr std::array work_names{"user", "compute", "polling",   "syscall", "registration", "fault", "pin",
                                       "sg",   "dma_map", "page_size", "key",     "table",        "unpin", "interrupt"};
inline constexpr unsigned work_count = work_names.size();
static_assert(work_count == unsigned(Work::interrupt) + 1);

/// How the CPUs of a host spent their time since the start; the parts add up to CPUs x time exactly.
struct CpuTimes {
  std::array<Time, work_count> spent{};
  Time idle;
  Time& operator[](Work work) { return spent[unsigned(work)]; }
  const Time& operator[](Work work) const { return spent[unsigned(work)]; }
};

/// A thread either holds a CPU, waits for one, or is blocked. Whoever lets it wait for anything but a CPU calls `block` first: a CPU that
/// is held does work all the time.
class Cpus : public virtual sc_core::sc_interface {
 public:
  class Run {
   public:
    Run(Cpus& cpus, verbs::Thread thread, Work work, Time span) : cpus_(cpus), thread_(thread), work_(work), span_(span) {}
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> waiter) { cpus_.start(thread_, work_, span_, waiter); }
    void await_resume() const {}

   private:
    Cpus& cpus_;
    verbs::Thread thread_;
    Work work_;
    Time span_;
  };
  class Spin {
   public:
    Spin(Cpus& cpus, verbs::Thread thread, Time turn) : cpus_(cpus), thread_(thread), turn_(turn) {}
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> waiter) { cpus_.start_spin(thread_, turn_, waiter); }
    void await_resume() const {}

   private:
    Cpus& cpus_;
    verbs::Thread thread_;
    Time turn_;
  };

  /// `co_await`: the thread works for `span` (0 is fine) without being preempted, after it got a CPU if it has none.
  Run run(verbs::Thread thread, Work work, Time span) { return Run(*this, thread, work, span); }
  /// `co_await`: the thread repeats a loop of `turn` (above 0), and goes on at the end of the turn in which `notice` is called. It gives
  /// its CPU to any thread that wants to work, and is ready for one again when `notice` is called.
  Spin spin(verbs::Thread thread, Time turn) { return Spin(*this, thread, turn); }
  /// What the thread spins for has come. Only for a thread that spins.
  virtual void notice(verbs::Thread thread) = 0;

  /// Threads that there are.
  virtual std::uint32_t threads() const = 0;
  /// The thread starts a call: if it has worked longer than the quantum and others wait for a CPU, it goes behind them.
  virtual void boundary(verbs::Thread thread) = 0;
  /// The thread has nothing to run for now. No effect if it holds no CPU.
  virtual void block(verbs::Thread thread) = 0;

 protected:
  virtual void start(verbs::Thread thread, Work work, Time span, std::coroutine_handle<> waiter) = 0;
  virtual void start_spin(verbs::Thread thread, Time turn, std::coroutine_handle<> waiter) = 0;
};

}  // namespace mtsim::ports

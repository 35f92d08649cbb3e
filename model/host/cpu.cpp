#include "host/cpu.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "base/sections.h"
#include "ports/rank.h"

namespace mtsim::host {
namespace {

const Sections::Entrant<CpuParams> declared;

}  // namespace

void CpuParams::declare(Declaration<CpuParams>& d) {
  d.section("host.cpu", "The CPUs of a host.");
  d.field("quantum", &CpuParams::quantum)
      .standard("3ms")
      .range("1us", "1s")
      .means("How long a thread may run on while others wait for a CPU; looked at when it starts a call.")
      .source("Linux 6.12 kernel/sched/fair.c: base slice 0.75 ms, times 4 on 8 CPUs or more");
}

Cpus::Cpus(sc_core::sc_module_name module_name, engine::Scheduler& scheduler, const CpuParams& params, std::uint32_t cpus,
           std::uint32_t threads, std::uint32_t host_rank)
    : sc_module(module_name), scheduler_(scheduler), params_(params), cpus_(cpus), free_(cpus), threads_(threads) {
  for (std::uint32_t i = 0; i < threads; ++i) {
    ThreadState& thread = threads_[i];
    thread.owner = this;
    thread.index = i;
    thread.order = ports::order(host_rank, ports::Unit::cpu, i);
    thread.fire = [](engine::Timer& timer) {
      auto& fired = static_cast<ThreadState&>(timer);
      fired.owner->finish(fired);
    };
  }
}

void Cpus::start(verbs::Thread index, ports::Work work, Time span, std::coroutine_handle<> waiter) {
  ThreadState& thread = threads_[index];
  thread.work = work;
  thread.span = span;
  thread.waiter = waiter;
  if (thread.state == State::holding) [[likely]]
    begin(thread);
  else want_cpu(thread);
}

void Cpus::begin(ThreadState& thread) {
  thread.state = State::working;
  thread.since = scheduler_.now();
  scheduler_.arm(thread, scheduler_.now() + thread.span);
}

void Cpus::finish(ThreadState& thread) {
  times_[thread.work] += scheduler_.now() - thread.since;
  if (rows_) [[unlikely]]
    rows_->worked(thread.index, thread.work, thread.since, scheduler_.now());
  thread.state = State::holding;
  thread.waiter.resume();
}

void Cpus::want_cpu(ThreadState& thread) {
  assert(thread.state == State::blocked || thread.state == State::parked);
  ++usage_.requests;
  if (free_ == 0 && spinning_ > 0) evict_spinner();
  if (free_ == 0) return enqueue(thread);
  take_cpu(thread);
  begin(thread);
}

void Cpus::enqueue(ThreadState& thread) {
  thread.state = State::ready;
  thread.since = scheduler_.now();
  auto at = queue_.end();
  while (at != queue_.begin() && (*std::prev(at))->since == thread.since && (*std::prev(at))->index > thread.index) --at;
  queue_.insert(at, &thread);
  usage_.most = std::max<std::uint64_t>(usage_.most, queue_.size());
}

void Cpus::take_cpu(ThreadState& thread) {
  --free_;
  thread.on_since = scheduler_.now();
  if (rows_) [[unlikely]]
    rows_->took(thread.index);
}

void Cpus::gave_cpu(const ThreadState& thread) {
  ++free_;
  if (rows_) [[unlikely]]
    rows_->gave(thread.index);
}

void Cpus::release_cpu(const ThreadState& thread) {
  gave_cpu(thread);
  if (queue_.empty()) return;
  ThreadState& next = *queue_.front();
  queue_.pop_front();
  usage_.wait(scheduler_.now() - next.since);
  take_cpu(next);
  begin(next);
}

void Cpus::block(verbs::Thread index) {
  ThreadState& thread = threads_[index];
  if (thread.state != State::holding) return;
  thread.state = State::blocked;
  release_cpu(thread);
}

void Cpus::boundary(verbs::Thread index) {
  const ThreadState& thread = threads_[index];
  if (queue_.empty() || thread.state != State::holding) [[likely]]
    return;
  if (scheduler_.now() - thread.on_since > params_.quantum) block(index);
}

void Cpus::start_spin(verbs::Thread index, Time turn, std::coroutine_handle<> waiter) {
  ThreadState& thread = threads_[index];
  thread.work = ports::Work::polling;
  thread.span = turn;
  thread.waiter = waiter;
  if (thread.state == State::holding && !queue_.empty()) block(index);
  if (thread.state == State::blocked && free_ > 0) {
    take_cpu(thread);
    thread.state = State::holding;
  }
  if (thread.state != State::holding) {
    thread.state = State::parked;
    return;
  }
  thread.state = State::spinning;
  thread.since = scheduler_.now();
  ++spinning_;
}

void Cpus::notice(verbs::Thread index) {
  ThreadState& thread = threads_[index];
  if (thread.state == State::parked) return want_cpu(thread);
  assert(thread.state == State::spinning);
  // It looks again when its turn of the loop ends. `since` stays: all of it is polling.
  --spinning_;
  thread.state = State::working;
  const std::int64_t turns = (scheduler_.now() - thread.since).raw + thread.span.raw - 1;
  scheduler_.arm(thread, thread.since + thread.span * (turns / thread.span.raw));
}

void Cpus::evict_spinner() {
  ThreadState* longest = nullptr;
  for (ThreadState& thread : threads_)
    if (thread.state == State::spinning && (longest == nullptr || thread.since < longest->since)) longest = &thread;
  times_[ports::Work::polling] += scheduler_.now() - longest->since;
  if (rows_) [[unlikely]]
    rows_->worked(longest->index, longest->work, longest->since, scheduler_.now());
  longest->state = State::parked;
  --spinning_;
  gave_cpu(*longest);
}

void Cpus::draw(Timeline& timeline, const std::string& process, std::vector<std::string> thread_names) {
  rows_ = std::make_unique<CpuRows>(timeline, process, cpus_, std::move(thread_names));
}

void Cpus::draw_rest() const {
  for (const ThreadState& thread : threads_)
    if (thread.state == State::working || thread.state == State::spinning)
      rows_->worked(thread.index, thread.work, thread.since, scheduler_.now());
}

ports::CpuTimes Cpus::times() const {
  ports::CpuTimes times = times_;
  for (const ThreadState& thread : threads_)
    if (thread.state == State::working || thread.state == State::spinning) times[thread.work] += scheduler_.now() - thread.since;
  const Time busy = std::accumulate(times.spent.begin(), times.spent.end(), Time());
  times.idle = scheduler_.now() * std::int64_t(cpus_) - busy;
  return times;
}

engine::Usage Cpus::usage() const {
  engine::Usage usage = usage_;
  const ports::CpuTimes spent = times();
  usage.busy = std::accumulate(spent.spent.begin(), spent.spent.end(), Time()) - spent[ports::Work::polling];
  return usage;
}

}  // namespace mtsim::host

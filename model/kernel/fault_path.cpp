#include "kernel/fault_path.h"

#include <algorithm>

namespace mtsim::kernel {
namespace {

constexpr std::uint64_t stretches_of_a_batch = 16;

/// The i-th of so many parts of a span, which add up to it.
Time part(Time span, std::uint64_t i, std::uint64_t parts) {
  const auto n = static_cast<std::int64_t>(parts);
  return Time(span.raw / n + (static_cast<std::int64_t>(i) < span.raw % n ? 1 : 0));
}

}  // namespace

engine::Task<int> FaultPath::by_kernel(verbs::Thread thread, Work work, Call* call) {
  return in_pieces(thread, work, work.batches, true, call);
}

engine::Task<int> FaultPath::by_cpu(verbs::Thread thread, Work work) {
  const bool locks = params_.fault_lock == FaultLock::mmap;
  return in_pieces(thread, work, work.batches * (locks ? stretches_of_a_batch : 1), locks, nullptr);
}

engine::Task<int> FaultPath::in_pieces(verbs::Thread thread, Work work, std::uint64_t pieces, bool locks, Call* call) {
  using Mode = SharedState::Mode;
  SharedState& shared = processes_.of(thread).shared;
  const Time common = params_.shared_fault_time(work.faults);
  const Time own = params_.fault_time(work.faults) + params_.reclaim_time(work.reclaimed) - common;
  // One page of 1 GiB is one fault for all of its batches. A thread by itself meets nobody between two pieces.
  const std::uint64_t n = cpus_.threads() == 1 ? 1 : std::clamp<std::uint64_t>(pieces, 1, std::max<std::uint64_t>(work.faults.faults(), 1));
  for (std::uint64_t i = 0; i < n; ++i) {
    Time span = part(own, i, n);
    const Time asked = scheduler_.now();
    if (locks) {
      co_await shared.lock_mmap(cpus_, thread, Mode::read);
      if (call != nullptr) call->lap(Call::Step::lock);
      span += shared.count_mmap_lock(thread, scheduler_.now(), params_.line_transfer);
    }
    // The CPU spins where it waits for the others' faults.
    const engine::Server::Booking passed = processes_.page_allocator.book(scheduler_.now(), part(common, i, n));
    if (call != nullptr) {
      call->cost().queued += passed.start - asked;
      call->cost().shared_faults += passed.end - passed.start;
    }
    span += passed.end - scheduler_.now();
    co_await cpus_.run(thread, ports::Work::fault, span);
    if (call != nullptr) call->lap(Call::Step::fault);
    if (locks) shared.mmap_lock.give(Mode::read);
  }
  co_return 0;
}

}  // namespace mtsim::kernel

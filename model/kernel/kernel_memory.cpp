// System calls on the process's memory. What they change is taken first from the device, where it has it on demand.
#include <algorithm>
#include <utility>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/memory_pressure.h"

namespace mtsim::kernel {
namespace {

using Mode = SharedState::Mode;

/// madvise_need_mmap_write; move_pages reads mappings, too.
Mode mode_of(verbs::Advice advice) {
  switch (advice) {
    case verbs::Advice::dontneed:
    case verbs::Advice::pageout:
    case verbs::Advice::migrate:
      return Mode::read;
    case verbs::Advice::dontfork:
    case verbs::Advice::dofork:
    case verbs::Advice::hugepage:
      return Mode::write;
  }
  return Mode::write;
}

/// Whole pages, from the one that holds the address on.
std::pair<std::uint64_t, std::uint64_t> pages_of(Va address, Bytes length) {
  const std::uint64_t first = address.raw / page_bytes.raw;
  return {first, first + ceil_div(length.raw, page_bytes.raw)};
}

}  // namespace

engine::Task<int> Kernel::begin_invalidation(verbs::Thread thread, const std::vector<PageRange>& ranges) {
  for (const auto& device : devices_) {
    OdpPath& on_demand = device->reg_path().on_demand();
    if (on_demand.idle()) continue;
    for (const auto& [first, end] : ranges) co_await on_demand.begin_invalidation(thread, first, end);
  }
  co_return 0;
}

void Kernel::end_invalidation(verbs::Thread thread, const std::vector<PageRange>& ranges) {
  for (const auto& device : devices_)
    for (const auto& [first, end] : ranges) device->reg_path().on_demand().end_invalidation(thread, first, end);
}

engine::Task<int> Kernel::pay_for_taken(verbs::Thread thread) {
  for (const auto& device : devices_) co_await device->reg_path().on_demand().pay_for_taken(thread);
  co_return 0;
}

Kernel::Answer Kernel::mmap(verbs::Thread thread, verbs::MmapRequest request) {
  Process& process = processes_.of(thread);
  co_await system_call(thread, Time());
  co_await process.shared.lock_mmap(*cpus[0], thread, Mode::write);
  co_await work_locked(thread, params_.mmap);
  const MapReply made = process.memory.mmap(request);
  process.shared.mmap_lock.give(Mode::write);
  // mm_populate
  if (made.faults.faults() != 0) co_await fault_path_->by_kernel(thread, {made.faults, made.reclaimed, made.batches}, nullptr);
  note_pressure(processes_, frames_, scheduler_, made.faults, made.reclaimed);
  co_await pay_for_taken(thread);
  verbs::Reply reply;
  reply.error = made.error;
  reply.value = made.address.raw;
  co_return reply;
}

/// do_vmi_align_munmap: pages are freed when the mappings are gone already, under the lock for reading.
Kernel::Answer Kernel::munmap(verbs::Thread thread, Va address, Bytes length) {
  Process& process = processes_.of(thread);
  co_await system_call(thread, Time());
  co_await process.shared.lock_mmap(*cpus[0], thread, Mode::write);
  co_await work_locked(thread, params_.munmap);
  std::vector<PageRange> ranges;
  if (process.memory.check_munmap(address, length) == 0) ranges.push_back(pages_of(address, length));
  co_await begin_invalidation(thread, ranges);
  const UnmapReply gone = process.memory.munmap(address, length);
  end_invalidation(thread, ranges);
  note_memory(processes_, frames_, scheduler_.now());
  process.shared.mmap_lock.downgrade();
  const auto leaves = static_cast<std::int64_t>(gone.unmapped.folios);
  if (leaves != 0) co_await cpus->run(thread, ports::Work::syscall, params_.unmap_page * leaves);
  process.shared.mmap_lock.give(Mode::read);
  verbs::Reply reply;
  reply.error = gone.error;
  co_return reply;
}

Kernel::Answer Kernel::touch(verbs::Thread thread, Va address, Bytes length, bool write) {
  const auto pages = static_cast<std::int64_t>(pages_spanned(address.raw, length).raw);
  co_await cpus->run(thread, ports::Work::user, params_.touch_page * pages);
  Process& process = processes_.of(thread);
  const FaultReply touched = process.memory.fault_in(address, length, write);
  if (write && processes_.watch != nullptr) [[unlikely]]
    processes_.watch->written(process.memory, address, length);
  if (touched.faults.faults() != 0) co_await fault_path_->by_cpu(thread, {touched.faults, touched.reclaimed, touched.batches});
  note_pressure(processes_, frames_, scheduler_, touched.faults, touched.reclaimed);
  co_await pay_for_taken(thread);
  verbs::Reply reply;
  reply.error = touched.error;
  co_return reply;
}

Kernel::Answer Kernel::mprotect(verbs::Thread thread, Va address, Bytes length, bool readable, bool writable) {
  Process& process = processes_.of(thread);
  co_await system_call(thread, Time());
  co_await process.shared.lock_mmap(*cpus[0], thread, Mode::write);
  co_await work_locked(thread, params_.mprotect);
  const std::vector<PageRange> ranges = process.memory.protected_anew(address, length, readable, writable);
  co_await begin_invalidation(thread, ranges);
  const ProtectReply changed = process.memory.mprotect(address, length, readable, writable);
  end_invalidation(thread, ranges);
  const auto leaves = static_cast<std::int64_t>(changed.leaves);
  if (leaves != 0) co_await cpus->run(thread, ports::Work::syscall, params_.protect_page * leaves);
  process.shared.mmap_lock.give(Mode::write);
  verbs::Reply reply;
  reply.error = changed.error;
  co_return reply;
}

/// What the system does behind the program's back (pageout, migrate) is done at the expense of the thread that the program names.
Kernel::Answer Kernel::madvise(verbs::Thread thread, Va address, Bytes length, verbs::Advice advice) {
  Process& process = processes_.of(thread);
  const Mode mode = mode_of(advice);
  co_await system_call(thread, Time());
  co_await process.shared.lock_mmap(*cpus[0], thread, mode);
  co_await work_locked(thread, params_.madvise);
  // Pageout and migration tell of each page as they come to it (AddressSpace::tell).
  std::vector<PageRange> ranges;
  if (advice == verbs::Advice::dontneed && address.raw % page_bytes.raw == 0) ranges.push_back(pages_of(address, length));
  co_await begin_invalidation(thread, ranges);
  const AdviseReply done = process.memory.madvise(address, length, advice);
  end_invalidation(thread, ranges);
  co_await pay_for_taken(thread);
  const Time pages = params_.unmap_page * static_cast<std::int64_t>(done.dropped) +
                     params_.swap_out * static_cast<std::int64_t>(done.swapped_out) +
                     params_.migrate_page * static_cast<std::int64_t>(done.migrated);
  processes_.pressure.swapped_out += done.swapped_out;
  processes_.pressure.migrated += done.migrated;
  note_memory(processes_, frames_, scheduler_.now());
  if (pages.raw != 0) co_await cpus->run(thread, ports::Work::syscall, pages);
  process.shared.mmap_lock.give(mode);
  verbs::Reply reply;
  reply.error = done.error;
  co_return reply;
}

/// kernel_clone, dup_mmap
Kernel::Answer Kernel::fork(verbs::Thread thread, verbs::ForkRequest request) {
  Process& parent = processes_.of(thread);
  co_await system_call(thread, Time());
  co_await parent.shared.lock_mmap(*cpus[0], thread, Mode::write);
  co_await work_locked(thread, params_.fork);
  // copy_page_range: what becomes shared until it is written is protected anew.
  const std::vector<PageRange> ranges = parent.memory.private_ranges();
  co_await begin_invalidation(thread, ranges);
  ForkReply made = parent.memory.fork(params_.copy_on_fork);
  end_invalidation(thread, ranges);
  if (made.error == 0) processes_.add(scheduler_, parent, std::string(request.child), std::move(made.child), request.threads);
  co_await cpus->run(thread, ports::Work::syscall, params_.fork_time(made) + params_.reclaim_time(made.reclaimed));
  parent.shared.mmap_lock.give(Mode::write);
  note_pressure(processes_, frames_, scheduler_, {}, made.reclaimed);
  verbs::Reply reply;
  reply.error = made.error;
  co_return reply;
}

Kernel::Answer Kernel::set_memlock(verbs::Thread thread, Bytes limit) {
  co_await system_call(thread, Time());
  processes_.of(thread).memlock.set_limit(limit);
  co_return verbs::Reply();
}

Kernel::Answer Kernel::set_cap_ipc_lock(verbs::Thread thread, bool on) {
  co_await system_call(thread, Time());
  processes_.of(thread).memlock.set_capable(on);
  co_return verbs::Reply();
}

}  // namespace mtsim::kernel

// System calls on the process's memory.
#include <algorithm>

#include "kernel/kernel.h"
#include "kernel/memory_pressure.h"

namespace mtsim::kernel {

Kernel::Answer Kernel::mmap(verbs::Thread thread, verbs::MmapRequest request) {
  co_await system_call(thread, params_.mmap);
  const MapReply made = processes_.of(thread).memory.mmap(request);
  if (made.faults.faults() != 0)
    co_await cpus->run(thread, ports::Work::fault, params_.fault_time(made.faults) + params_.reclaim_time(made.reclaimed));
  note_pressure(processes_, frames_, scheduler_, made.faults, made.reclaimed);
  verbs::Reply reply;
  reply.error = made.error;
  reply.value = made.address.raw;
  co_return reply;
}

Kernel::Answer Kernel::munmap(verbs::Thread thread, Va address, Bytes length) {
  co_await system_call(thread, params_.munmap);
  const UnmapReply gone = processes_.of(thread).memory.munmap(address, length);
  const auto leaves = static_cast<std::int64_t>(gone.unmapped.folios);
  if (leaves != 0) co_await cpus->run(thread, ports::Work::syscall, params_.unmap_page * leaves);
  verbs::Reply reply;
  reply.error = gone.error;
  co_return reply;
}

Kernel::Answer Kernel::touch(verbs::Thread thread, Va address, Bytes length, bool write) {
  const auto pages = static_cast<std::int64_t>(pages_spanned(address.raw, length).raw);
  co_await cpus->run(thread, ports::Work::user, params_.touch_page * pages);
  const FaultReply touched = processes_.of(thread).memory.fault_in(address, length, write);
  if (touched.faults.faults() != 0)
    co_await cpus->run(thread, ports::Work::fault, params_.fault_time(touched.faults) + params_.reclaim_time(touched.reclaimed));
  note_pressure(processes_, frames_, scheduler_, touched.faults, touched.reclaimed);
  verbs::Reply reply;
  reply.error = touched.error;
  co_return reply;
}

Kernel::Answer Kernel::mprotect(verbs::Thread thread, Va address, Bytes length, bool readable, bool writable) {
  co_await system_call(thread, params_.mprotect);
  const ProtectReply changed = processes_.of(thread).memory.mprotect(address, length, readable, writable);
  const auto leaves = static_cast<std::int64_t>(changed.leaves);
  if (leaves != 0) co_await cpus->run(thread, ports::Work::syscall, params_.protect_page * leaves);
  verbs::Reply reply;
  reply.error = changed.error;
  co_return reply;
}

/// What the system does behind the program's back (pageout, migrate) is done at the expense of the thread that the program names.
Kernel::Answer Kernel::madvise(verbs::Thread thread, Va address, Bytes length, verbs::Advice advice) {
  co_await system_call(thread, params_.madvise);
  const AdviseReply done = processes_.of(thread).memory.madvise(address, length, advice);
  const Time pages = params_.unmap_page * static_cast<std::int64_t>(done.dropped) +
                     params_.swap_out * static_cast<std::int64_t>(done.swapped_out) +
                     params_.migrate_page * static_cast<std::int64_t>(done.migrated);
  processes_.pressure.swapped_out += done.swapped_out;
  processes_.pressure.migrated += done.migrated;
  if (pages.raw != 0) co_await cpus->run(thread, ports::Work::syscall, pages);
  verbs::Reply reply;
  reply.error = done.error;
  co_return reply;
}

/// kernel_clone, dup_mm
Kernel::Answer Kernel::fork(verbs::Thread thread, verbs::ForkRequest request) {
  co_await system_call(thread, params_.fork);
  const Process& parent = processes_.of(thread);
  ForkReply made = parent.memory.fork(params_.copy_on_fork);
  if (made.error == 0) processes_.add(parent, std::string(request.child), std::move(made.child), request.threads);
  co_await cpus->run(thread, ports::Work::syscall, params_.fork_time(made) + params_.reclaim_time(made.reclaimed));
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

// System calls on the process's memory. What they change is taken first from the device, where it has it on demand.
#include <algorithm>
#include <utility>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/memory_pressure.h"

namespace mtsim::kernel {
namespace {

/// Whole pages, from the one that holds the address on.
std::pair<std::uint64_t, std::uint64_t> pages_of(Va address, Bytes length) {
  const std::uint64_t first = address.raw / page_bytes.raw;
  return {first, first + ceil_div(length.raw, page_bytes.raw)};
}

}  // namespace

engine::Task<bool> Kernel::begin_invalidation(verbs::Thread thread, const std::vector<PageRange>& ranges) {
  OdpPath& on_demand = reg_path_->on_demand();
  if (on_demand.idle()) co_return false;
  for (const auto& [first, end] : ranges) co_await on_demand.begin_invalidation(thread, first, end);
  co_return true;
}

void Kernel::end_invalidation(const std::vector<PageRange>& ranges) {
  for (const auto& [first, end] : ranges) reg_path_->on_demand().end_invalidation(first, end);
}

Kernel::Answer Kernel::mmap(verbs::Thread thread, verbs::MmapRequest request) {
  co_await system_call(thread, params_.mmap);
  const MapReply made = process_.memory.mmap(request);
  if (made.faults.faults() != 0)
    co_await cpus->run(thread, ports::Work::fault, params_.fault_time(made.faults) + params_.reclaim_time(made.reclaimed));
  note_pressure(process_, frames_, scheduler_, made.faults, made.reclaimed);
  co_await reg_path_->on_demand().pay_for_taken(thread);
  verbs::Reply reply;
  reply.error = made.error;
  reply.value = made.address.raw;
  co_return reply;
}

Kernel::Answer Kernel::munmap(verbs::Thread thread, Va address, Bytes length) {
  co_await system_call(thread, params_.munmap);
  std::vector<PageRange> ranges;
  if (process_.memory.check_munmap(address, length) == 0) ranges.push_back(pages_of(address, length));
  const bool told = co_await begin_invalidation(thread, ranges);
  const UnmapReply gone = process_.memory.munmap(address, length);
  if (told) end_invalidation(ranges);
  const auto leaves = static_cast<std::int64_t>(gone.unmapped.folios);
  if (leaves != 0) co_await cpus->run(thread, ports::Work::syscall, params_.unmap_page * leaves);
  verbs::Reply reply;
  reply.error = gone.error;
  co_return reply;
}

Kernel::Answer Kernel::touch(verbs::Thread thread, Va address, Bytes length, bool write) {
  const auto pages = static_cast<std::int64_t>(pages_spanned(address.raw, length).raw);
  co_await cpus->run(thread, ports::Work::user, params_.touch_page * pages);
  const FaultReply touched = process_.memory.fault_in(address, length, write);
  if (touched.faults.faults() != 0)
    co_await cpus->run(thread, ports::Work::fault, params_.fault_time(touched.faults) + params_.reclaim_time(touched.reclaimed));
  note_pressure(process_, frames_, scheduler_, touched.faults, touched.reclaimed);
  co_await reg_path_->on_demand().pay_for_taken(thread);
  verbs::Reply reply;
  reply.error = touched.error;
  co_return reply;
}

Kernel::Answer Kernel::mprotect(verbs::Thread thread, Va address, Bytes length, bool readable, bool writable) {
  co_await system_call(thread, params_.mprotect);
  const std::vector<PageRange> ranges = process_.memory.protected_anew(address, length, readable, writable);
  const bool told = co_await begin_invalidation(thread, ranges);
  const ProtectReply changed = process_.memory.mprotect(address, length, readable, writable);
  if (told) end_invalidation(ranges);
  const auto leaves = static_cast<std::int64_t>(changed.leaves);
  if (leaves != 0) co_await cpus->run(thread, ports::Work::syscall, params_.protect_page * leaves);
  verbs::Reply reply;
  reply.error = changed.error;
  co_return reply;
}

/// What the system does behind the program's back (pageout, migrate) is done at the expense of the thread that the program names.
Kernel::Answer Kernel::madvise(verbs::Thread thread, Va address, Bytes length, verbs::Advice advice) {
  co_await system_call(thread, params_.madvise);
  // Pageout and migration tell of each page as they come to it (AddressSpace::set_watcher).
  std::vector<PageRange> ranges;
  if (advice == verbs::Advice::dontneed && address.raw % page_bytes.raw == 0) ranges.push_back(pages_of(address, length));
  const bool told = co_await begin_invalidation(thread, ranges);
  const AdviseReply done = process_.memory.madvise(address, length, advice);
  if (told) end_invalidation(ranges);
  co_await reg_path_->on_demand().pay_for_taken(thread);
  const Time pages = params_.unmap_page * static_cast<std::int64_t>(done.dropped) +
                     params_.swap_out * static_cast<std::int64_t>(done.swapped_out) +
                     params_.migrate_page * static_cast<std::int64_t>(done.migrated);
  process_.pressure.swapped_out += done.swapped_out;
  process_.pressure.migrated += done.migrated;
  if (pages.raw != 0) co_await cpus->run(thread, ports::Work::syscall, pages);
  verbs::Reply reply;
  reply.error = done.error;
  co_return reply;
}

Kernel::Answer Kernel::set_memlock(verbs::Thread thread, Bytes limit) {
  co_await system_call(thread, Time());
  process_.memlock.set_limit(limit);
  co_return verbs::Reply();
}

Kernel::Answer Kernel::set_cap_ipc_lock(verbs::Thread thread, bool on) {
  co_await system_call(thread, Time());
  process_.memlock.set_capable(on);
  co_return verbs::Reply();
}

}  // namespace mtsim::kernel

// System calls on the process's memory.
#include <algorithm>

#include "kernel/kernel.h"

namespace mtsim::kernel {

Kernel::Answer Kernel::mmap(verbs::Thread thread, verbs::MmapRequest request) {
  co_await system_call(thread, params_.mmap);
  const MapReply made = process_.memory.mmap(request);
  if (made.faults.faults() != 0) co_await cpus->run(thread, ports::Work::fault, params_.fault_time(made.faults));
  verbs::Reply reply;
  reply.error = made.error;
  reply.value = made.address.raw;
  co_return reply;
}

Kernel::Answer Kernel::munmap(verbs::Thread thread, Va address, Bytes length) {
  co_await system_call(thread, params_.munmap);
  const UnmapReply gone = process_.memory.munmap(address, length);
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
  if (touched.faults.faults() != 0) co_await cpus->run(thread, ports::Work::fault, params_.fault_time(touched.faults));
  verbs::Reply reply;
  reply.error = touched.error;
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

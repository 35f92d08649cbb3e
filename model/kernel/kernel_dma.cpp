// Transfers that programs on the NIC make for a process: its driver hands them the addresses of an MR and starts them.
#include <cerrno>

#include "kernel/kernel.h"

namespace mtsim::kernel {
namespace {

/// A CPU writes or flushes the first `length` bytes of what lies in `frames`.
template <class Act>
void each_piece(const DmaMap& frames, Bytes length, Act act) {
  for (Bytes done; done < length;) {
    const DmaRun run = frames.at(done);
    const Bytes piece = std::min(run.length, length - done);
    act(run.start, piece);
    done += piece;
  }
}

}  // namespace

Kernel::Answer Kernel::dma(verbs::Thread thread, verbs::DmaRequest request) {
  verbs::Reply reply;
  co_await system_call(thread, Time());
  const RegPath& mrs = of_mr(request.mr).reg_path();
  const auto region = mrs.memory_of(request.mr);
  if (!region) {
    reply.error = mrs.is_on_demand(request.mr) ? EOPNOTSUPP : EINVAL;
    co_return reply;
  }
  if (request.window.raw == 0) request.window = region->device->length();
  if (request.length.raw == 0 || request.length > request.window || request.window > region->device->length() || request.count == 0) {
    reply.error = EINVAL;
    co_return reply;
  }
  if (request.cache == verbs::DmaRequest::Cache::warm)
    each_piece(*region->frames, request.window, [&](Pa at, Bytes length) { memory->cpu_writes(at, length); });
  if (request.cache == verbs::DmaRequest::Cache::cold)
    each_piece(*region->frames, request.window, [&](Pa at, Bytes length) { memory->cpu_flushes(at, length); });
  cpus->block(thread);
  co_await transfers[static_cast<int>(request.mr % devices_.size())]->transfer(request, *region->device);
  reply.value = request.count;
  co_return reply;
}

}  // namespace mtsim::kernel

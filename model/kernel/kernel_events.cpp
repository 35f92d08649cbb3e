// What a process asks the kernel of its devices: asynchronous events and the state of a QP.
#include <cerrno>

#include "kernel/kernel.h"

namespace mtsim::kernel {

void Kernel::raised(verbs::Event event, std::uint32_t) { events_.add(event); }

/// read() of the file of asynchronous events. The interrupt of an event for which nobody waits takes no CPU's time, as those of the
/// kernel's workers do not.
Kernel::Answer Kernel::next_event(verbs::Thread thread) {
  co_await system_call(thread, Time());
  const bool waits = events_.empty();
  if (waits) cpus->block(thread);
  const verbs::Event event = co_await events_.take();
  if (waits) co_await cpus->run(thread, ports::Work::interrupt, params_.interrupt + params_.wake_up);
  verbs::Reply reply;
  reply.value = static_cast<std::uint64_t>(event);
  co_return reply;
}

/// mlx5_ib_query_qp: what the device answers, where there is one.
Kernel::Answer Kernel::query_qp(verbs::Thread thread, verbs::Handle qp) {
  co_await system_call(thread, Time());
  verbs::Reply reply;
  if (first().qps.find(qp) == nullptr) {
    reply.error = EINVAL;
    co_return reply;
  }
  co_await first().query(thread);
  // It may have gone meanwhile.
  const Qp* found = first().qps.find(qp);
  reply.error = found == nullptr ? EINVAL : 0;
  if (found != nullptr) reply.value = static_cast<std::uint64_t>(queue_pairs->state(found->qpn));
  co_return reply;
}

}  // namespace mtsim::kernel

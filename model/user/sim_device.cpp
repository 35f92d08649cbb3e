#include "user/sim_device.h"

#include <algorithm>
#include <cerrno>

#include "ports/rank.h"

namespace mtsim::user {

using verbs::Caller;
using verbs::Handle;
using verbs::Progress;
using verbs::Reply;
using verbs::Thread;

SimDevice::SimDevice(sc_core::sc_module_name module_name, engine::Scheduler& scheduler, const ProviderParams& params, std::uint32_t threads,
                     std::uint32_t host_rank)
    : sc_module(module_name),
      scheduler_(scheduler),
      params_(params),
      host_rank_(host_rank),
      in_call_(threads),
      library_of_(threads, &libraries_.front()) {}

const std::set<std::string>& SimDevice::carried_out() {
  static const std::set<std::string> words{
      "advise_mr",
      "alloc_pd",
      "alloc_mw",
      "alloc_pd dev=",
      "barrier",
      "bind_mw",
      "cap_ipc_lock",
      "compute",
      "connect",
      "copy",
      "create_cq",
      "create_qp",
      "create_qp srq=",
      "create_qp type=uc",
      "create_qp type=ud",
      "create_srq",
      "dealloc_mw",
      "dealloc_pd",
      "dereg_mr",
      "destroy_cq",
      "dma",
      "destroy_qp",
      "destroy_srq",
      "event",
      "fork",
      "fork_init",
      "madvise",
      "memlock",
      "migrate",
      "mmap",
      "mmap backing=file",
      "mmap backing=io",
      "mmap prot=",
      "mmap share=shared",
      "modify_qp",
      "mprotect",
      "munmap",
      "poll",
      "poll hazard=",
      "post_recv",
      "post_send",
      "post_send bind_mw",
      "post_send cas",
      "post_send faa",
      "post_send local_inv",
      "post_send read",
      "post_send send",
      "post_send send_imm",
      "post_send send_inv",
      "post_send write",
      "post_send write_imm",
      "post_send flags=fence",
      "post_srq",
      "query_qp",
      "reg_mr",
      "reg_mr access=ht",
      "reg_mr access=od",
      "reg_mr access=zb",
      "reg_mr implicit",
      "reg_mr iova=",
      "rereg_mr",
      "sleep",
      "swapout",
      "touch",
  };
  return words;
}

Progress SimDevice::ask_kernel(Thread thread, ports::Kernel::Answer answer, Reply& reply, Caller& caller) {
  return spawn(thread, kernel_flow(thread, std::move(answer), reply, caller));
}

engine::Flow SimDevice::kernel_flow(Thread thread, ports::Kernel::Answer answer, Reply& reply, Caller& caller) {
  reply = co_await answer;
  finish(thread, caller);
}

Progress SimDevice::mmap(Thread t, const verbs::MmapRequest& request, Reply& reply, Caller& caller) {
  return ask_kernel(t, kernel->mmap(t, request), reply, caller);
}
Progress SimDevice::munmap(Thread t, Va address, Bytes length, Reply& reply, Caller& caller) {
  return ask_kernel(t, kernel->munmap(t, address, length), reply, caller);
}
Progress SimDevice::touch(Thread t, Va address, Bytes length, bool write, Reply& reply, Caller& caller) {
  return ask_kernel(t, kernel->touch(t, address, length, write), reply, caller);
}
Progress SimDevice::set_memlock(Thread t, Bytes limit, Reply& reply, Caller& caller) {
  return ask_kernel(t, kernel->set_memlock(t, limit), reply, caller);
}
Progress SimDevice::set_cap_ipc_lock(Thread t, bool on, Reply& reply, Caller& caller) {
  return ask_kernel(t, kernel->set_cap_ipc_lock(t, on), reply, caller);
}
Progress SimDevice::alloc_pd(Thread t, std::uint32_t nic, Reply& reply, Caller& caller) {
  return ask_kernel(t, kernel->alloc_pd(t, nic), reply, caller);
}
Progress SimDevice::dealloc_pd(Thread t, Handle pd, Reply& reply, Caller& caller) {
  return ask_kernel(t, kernel->dealloc_pd(t, pd), reply, caller);
}
Progress SimDevice::compute(Thread t, Time span, Reply&, Caller& caller) {
  if (span.raw <= 0) return Progress::done;
  return spawn(t, compute_flow(t, span, caller));
}

engine::Flow SimDevice::compute_flow(Thread thread, Time span, Caller& caller) {
  co_await cpus->run(thread, ports::Work::compute, span);
  finish(thread, caller);
}

Progress SimDevice::sleep_until(Thread t, Time when, Reply&, Caller& caller) {
  if (when <= now()) return Progress::done;
  return spawn(t, sleep_flow(t, when, caller));
}

engine::Flow SimDevice::sleep_flow(Thread thread, Time when, Caller& caller) {
  cpus->block(thread);
  co_await engine::Until(scheduler_, when, ports::order(host_rank_, ports::Unit::program, thread));
  finish(thread, caller);
}

std::uint64_t SimDevice::cq_overruns() const {
  std::uint64_t sum = 0;
  for (const Cq& cq : cqs_)
    if (cq.queue) sum += cq.queue->overruns();
  return sum;
}

}  // namespace mtsim::user

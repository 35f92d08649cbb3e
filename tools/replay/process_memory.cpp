// The memory of the process, and what it may lock.
#include <sys/resource.h>

#include <cstdlib>

#include "counters.h"
#include "process_calls.h"

namespace mtsim::replay {

using program::Kind;
using verbs::Progress;

Progress Process::mmap(Thread thread, const verbs::MmapRequest& request, Reply& reply, Caller&) {
  // With the turn: two threads must not be given the same place.
  turn().check();
  Timed timed{now(), {}};
  reply.error = arena_.mmap(request, reply.value);
  timed.end = now();
  reply.handle = 1;
  called(thread, Kind::mmap, timed, {reply.error, request.length, {}, 0, {}, {}});
  return Progress::done;
}

Progress Process::munmap(Thread thread, Va address, Bytes length, Reply& reply, Caller&) {
  turn().check();
  Timed timed{now(), {}};
  reply.error = arena_.munmap(address.raw, length.raw);
  timed.end = now();
  called(thread, Kind::munmap, timed, {reply.error, length, {}, 0, {}, {}});
  return Progress::done;
}

Progress Process::touch(Thread thread, Va address, Bytes length, bool write, Reply& reply, Caller&) {
  const std::uint64_t before = faults_of_this_thread();
  const Timed timed = away(thread, [&] { reply.error = arena_.touch(address.raw, length.raw, write); });
  called(thread, Kind::touch, timed, {reply.error, length, {}, faults_of_this_thread() - before, {}, {}});
  return Progress::done;
}

Progress Process::mprotect(Thread thread, Va address, Bytes length, bool readable, bool writable, Reply& reply, Caller&) {
  return simple(thread, Kind::mprotect, reply, [&] { return arena_.mprotect(address.raw, length.raw, readable, writable); });
}

Progress Process::madvise(Thread thread, Va address, Bytes length, verbs::Advice advice, Reply& reply, Caller&) {
  const Kind kind = advice == verbs::Advice::pageout ? Kind::swapout : Kind::madvise;
  return simple(thread, kind, reply, [&] { return arena_.madvise(address.raw, length.raw, advice); });
}

Progress Process::set_memlock(Thread thread, Bytes limit, Reply& reply, Caller&) {
  return simple(thread, Kind::memlock, reply, [&] {
    rlimit now_set{};
    getrlimit(RLIMIT_MEMLOCK, &now_set);
    now_set.rlim_cur = limit.raw;
    if (now_set.rlim_max != RLIM_INFINITY && now_set.rlim_cur > now_set.rlim_max) now_set.rlim_max = now_set.rlim_cur;
    return setrlimit(RLIMIT_MEMLOCK, &now_set);
  });
}

Progress Process::set_cap_ipc_lock(Thread, bool on, Reply&, Caller&) {
  may_lock_ = on;
  return Progress::done;
}

Progress Process::fork(Thread, const verbs::ForkRequest&, Reply& reply, Caller&) {
  reply.error = EOPNOTSUPP;  // refused by name before the run: carried_out()
  return Progress::done;
}

Progress Process::fork_init(Thread thread, bool huge_pages, Reply& reply, Caller&) {
  if (huge_pages) setenv("RDMAV_HUGEPAGES_SAFE", "1", 1);
  return simple(thread, Kind::fork_init, reply, [] { return ibv_fork_init(); });
}

Progress Process::dma(Thread, const verbs::DmaRequest&, Reply& reply, Caller&) {
  reply.error = EOPNOTSUPP;  // refused by name before the run: carried_out()
  return Progress::done;
}

}  // namespace mtsim::replay

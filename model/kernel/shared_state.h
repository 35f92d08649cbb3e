// What all threads of a process change, whatever they register: here their CPUs wait for each other.
#pragma once

#include "engine/read_write_lock.h"
#include "kernel/cache_line.h"
#include "ports/cpu.h"

namespace mtsim::kernel {

struct SharedState {
  using Mode = engine::ReadWriteLock::Mode;

  explicit SharedState(engine::Scheduler& scheduler) : mmap_lock(scheduler) {}

  /// mm->mmap_lock. Granted in order of arrival: Linux lets readers past writers in the queue and makes up for it by handing the lock over.
  engine::ReadWriteLock mmap_lock;
  CacheLine mmap_count;  ///< the count within mmap_lock, which readers change, too
  CacheLine pinned_vm;   ///< mm->pinned_vm
  CacheLine mm_count;    ///< mm->mm_count: mmgrab, mmdrop

  /// `co_await`, without a wait between: the thread sleeps until it has the mmap lock.
  engine::ReadWriteLock::Take lock_mmap(ports::Cpus& cpus, verbs::Thread thread, Mode mode) {
    if (mmap_lock.must_wait(mode)) cpus.block(thread);
    return mmap_lock.take(mode);
  }
  /// How long a CPU that got the mmap lock stalls for its count: when it takes it and when it gives it back.
  Time count_mmap_lock(verbs::Thread thread, Time now, Time transfer) { return mmap_count.change(thread, now, transfer, 2); }
  /// How long a CPU stalls for the counters that ib_umem_get and ib_umem_release change.
  Time count_umem(verbs::Thread thread, Time now, Time transfer) {
    return mm_count.change(thread, now, transfer) + pinned_vm.change(thread, now, transfer);
  }
};

}  // namespace mtsim::kernel

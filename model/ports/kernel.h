// The kernel of a host, seen by the provider library of the process that runs on it: system calls and what they cost.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <systemc>

#include "base/units.h"
#include "engine/flow.h"
#include "ports/nic.h"
#include "verbs/device.h"

namespace mtsim::ports {

/// Where the time of one reg_mr or dereg_mr goes.
enum class RegistrationStep : std::uint8_t {
  syscall,  ///< entry, checks, bookkeeping; waiting for a CPU at the start
  fault,    ///< bringing in pages that were absent
  pin,
  sg,
  dma_map,  ///< or unmapping
  page_size,
  key,
  table_write,  ///< the CPU's part of it: posting the UMR work request or command, storing entries
  lock,         ///< sleeping until the mmap lock is free
  wait,         ///< queueing for the UMR queue pair or a command slot, and the NIC's work
  wake_up,      ///< the interrupt, waking up, waiting for a CPU
  unpin,
};
inline constexpr std::array registration_step_names{"syscall", "fault",       "pin",  "sg",   "dma_map", "page_size",
                                                    "key",     "table_write", "lock", "wait", "wake_up", "unpin"};
inline constexpr unsigned registration_step_count = registration_step_names.size();
static_assert(registration_step_count == unsigned(RegistrationStep::unpin) + 1);

/// What registrations cost, in time by step and in counts. Steps of one call add up to its latency exactly.
struct RegistrationCost {
  std::array<Time, registration_step_count> steps{};
  Pages pages;                      ///< N: base pages pinned (dereg_mr: unpinned)
  std::uint64_t batches = 0;        ///< B: calls of pin_user_pages
  std::uint64_t grabs = 0;          ///< references taken on folios
  std::uint64_t folios = 0;         ///< F: page table leaves touched
  std::uint64_t faults = 0;         ///< pages of any size brought in
  std::uint64_t sg_entries = 0;     ///< entries of the scatter-gather table
  std::uint64_t dma_runs = 0;       ///< R: its entries once it is mapped for DMA; less when an IOMMU joins them
  std::uint64_t iopte = 0;          ///< E: entries of the IOMMU's page table written (dereg_mr: cleared)
  std::uint64_t iova_rbtree = 0;    ///< insertions into the tree of I/O virtual addresses and removals from it
  std::uint64_t table_entries = 0;  ///< M: translation entries written
  Time queued;                      ///< of the steps: waiting for the mmap lock and for faults of other CPUs
  Time shared_faults;               ///< of the step fault: passing the page allocator
  std::uint64_t umr_requests = 0;   ///< U
  std::uint64_t commands = 0;
  std::uint64_t mailboxes = 0;  ///< Q: 512-byte blocks of command input
  Bytes list_bytes;             ///< translation lists that the NIC fetched, or that the CPU stored

  RegistrationCost& operator+=(const RegistrationCost& o);
};

/// One call, finished.
struct RegistrationRecord {
  /// `invalidation` is what the MMU notifier of on-demand paging makes another call wait for, `worker` what a worker of the kernel does.
  enum class Call : std::uint8_t { reg_mr, rereg_mr, dereg_mr, advise_mr, invalidation, worker } call = Call::reg_mr;
  int error = 0;
  Time begin, end;
  Bytes length;  ///< of the MR; 0 for a dereg_mr that found none
  RegistrationCost cost;
};

inline constexpr std::array registration_call_names{"reg_mr", "rereg_mr", "dereg_mr", "advise_mr", "odp_zap", "odp_work"};
inline constexpr unsigned registration_call_count = registration_call_names.size();
static_assert(registration_call_count == unsigned(RegistrationRecord::Call::worker) + 1);

/// Told of every reg_mr, rereg_mr and dereg_mr as it ends, and of what on-demand paging adds to them.
class RegistrationObserver {
 public:
  virtual void finished(const RegistrationRecord& record) = 0;

 protected:
  ~RegistrationObserver() = default;
};

/// Memory of the process in which a queue lies, which the kernel pins as it pins an MR's (ib_umem_get).
struct QueueMemory {
  Pages buffer;
  std::uint32_t doorbell_page = 0;  ///< number of the page with its doorbell record; queues of a process may share one
};

/// The calls of the host's processes. Each runs on the thread's CPU, which is free while the thread waits for the NIC. Errors stand in
/// the reply, as positive errno values.
class Kernel : public virtual sc_core::sc_interface {
 public:
  using Answer = engine::Task<verbs::Reply>;

  virtual Answer mmap(verbs::Thread thread, verbs::MmapRequest request) = 0;
  virtual Answer munmap(verbs::Thread thread, Va address, Bytes length) = 0;
  /// The CPU reads or writes every page of the range: no system call, but the faults are the kernel's.
  virtual Answer touch(verbs::Thread thread, Va address, Bytes length, bool write) = 0;
  virtual Answer mprotect(verbs::Thread thread, Va address, Bytes length, bool readable, bool writable) = 0;
  virtual Answer madvise(verbs::Thread thread, Va address, Bytes length, verbs::Advice advice) = 0;
  /// Whether pages that are pinned are copied to a child at fork, so that nobody need keep them from it (ibv_fork_init asks).
  virtual bool copies_pinned_pages() const = 0;
  /// Of the mapping at an address, as /proc/self/smaps tells it.
  virtual Bytes page_size_at(verbs::Thread thread, Va address) const = 0;
  /// Whether queues lie in memory of the process, where the kernel pins them; otherwise the driver has them in its own.
  virtual bool pins_queues() const = 0;
  virtual Answer fork(verbs::Thread thread, verbs::ForkRequest request) = 0;
  virtual Answer set_memlock(verbs::Thread thread, Bytes limit) = 0;
  virtual Answer set_cap_ipc_lock(verbs::Thread thread, bool on) = 0;

  /// On the NIC of that number. ENODEV: the host has fewer.
  virtual Answer alloc_pd(verbs::Thread thread, std::uint32_t nic) = 0;
  virtual Answer dealloc_pd(verbs::Thread thread, verbs::Handle pd) = 0;
  virtual Answer reg_mr(verbs::Thread thread, verbs::RegMrRequest request) = 0;
  /// The part of ibv_rereg_mr beyond the library.
  virtual Answer rereg_mr(verbs::Thread thread, verbs::ReregMrRequest request) = 0;
  virtual Answer dereg_mr(verbs::Thread thread, verbs::Handle mr) = 0;
  /// The elements of the request must live until the answer.
  virtual Answer advise_mr(verbs::Thread thread, verbs::AdviseMrRequest request) = 0;
  virtual Answer dma(verbs::Thread thread, verbs::DmaRequest request) = 0;
  /// The reply's rkey is the new window's.
  virtual Answer alloc_mw(verbs::Thread thread, verbs::Handle pd, std::uint8_t type) = 0;
  virtual Answer dealloc_mw(verbs::Thread thread, verbs::Handle mw) = 0;
  /// What the process knows of an MR (struct ibv_mr); nothing when there is none of that handle.
  struct Registered {
    verbs::Handle pd = 0;
    verbs::Access access = verbs::Access::none;
    Key lkey;
  };
  virtual std::optional<Registered> registered(verbs::Handle mr) const = 0;
  virtual Answer create_cq(verbs::Thread thread, QueueMemory queue) = 0;
  virtual Answer destroy_cq(verbs::Thread thread, verbs::Handle cq) = 0;
  virtual Answer create_srq(verbs::Thread thread, verbs::Handle pd, QueueMemory queue) = 0;
  virtual Answer destroy_srq(verbs::Thread thread, verbs::Handle srq) = 0;
  struct QpObjects {
    verbs::Handle pd = 0, send_cq = 0, recv_cq = 0, srq = 0;  ///< srq may be 0
  };
  /// The PDs of `attributes` are filled in here and an MTU of 0 becomes the link's. The reply's value is the QP number.
  virtual Answer create_qp(verbs::Thread thread, QpObjects objects, QpAttributes attributes, QueueMemory queue) = 0;
  virtual Answer destroy_qp(verbs::Thread thread, verbs::Handle qp) = 0;
  virtual Answer modify_qp(verbs::Thread thread, verbs::Handle qp, verbs::QpState state) = 0;
  virtual Answer query_qp(verbs::Thread thread, verbs::Handle qp) = 0;
  /// Ends with the next asynchronous event of the host's devices.
  virtual Answer next_event(verbs::Thread thread) = 0;
  /// Brings this QP and one of `peer`'s to RTS. The caller does the work for both sides.
  virtual Answer connect(verbs::Thread thread, verbs::Handle qp, Kernel& peer, verbs::Handle peer_qp) = 0;

  /// How packets reach a QP that may still be connected (RESET or INIT); nothing for any other.
  struct Path {
    std::uint32_t port = 0, qpn = 0;
  };
  virtual std::optional<Path> path_to(verbs::Handle qp) const = 0;
  virtual void bring_up(verbs::Handle qp, Path peer) = 0;
};

}  // namespace mtsim::ports

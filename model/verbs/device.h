// verbs::Device: what processes see of their host and its RDMA device. Programs (traces and workloads) drive it and know nothing
// else; the simulator implements it in user/, a backend on libibverbs can implement it on real hardware.
//
// Every call names the thread that makes it and takes a Caller. A call either finishes at once (`Progress::done`, reply filled in) or
// is still under way (`Progress::pending`): then the device calls `caller.resume()` exactly once, later, with the reply filled in. A
// thread has at most one call under way. Calls do not throw for what a program can do wrong: the reply carries the errno.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/units.h"
#include "verbs/event.h"
#include "verbs/types.h"
#include "verbs/window.h"

namespace mtsim::verbs {

using Handle = std::uint32_t;  ///< of a PD, MR, MW, CQ, SRQ or QP; given out by the device, never 0
using Thread = std::uint32_t;  ///< index of a thread on its host, from 0

/// What a call answered. `error` is 0 or a positive errno, whatever the sign convention of the C function.
struct Reply {
  int error = 0;
  Handle handle = 0;           ///< of the object made
  std::uint64_t value = 0;     ///< mmap: the address; create_qp: its number; post: requests accepted; poll: completions written; a
                               ///< rereg_mr that failed: its class (Rereg); query_qp: the QpState; next_event: the Event
  Key lkey, rkey;              ///< reg_mr, rereg_mr; alloc_mw, bind_mw: rkey alone
  Iova iova;                   ///< reg_mr, rereg_mr: the first address as operations see it
  std::uint32_t identity = 0;  ///< reg_mr, rereg_mr: Grant::identity
};

enum class Progress : std::uint8_t { done, pending };

/// Who waits for a call: an actor of program/.
class Caller {
 public:
  virtual void resume() = 0;

 protected:
  ~Caller() = default;
};

enum class PageKind : std::uint8_t { base_4k, huge_2m, huge_1g, thp };
enum class Backing : std::uint8_t { anonymous, file, io };

struct MmapRequest {
  Bytes length;
  PageKind page = PageKind::base_4k;
  bool readable = true, writable = true, shared = false, populate = false;
  Backing backing = Backing::anonymous;
  Bytes align;  ///< 0: the page size (2 MiB for thp)
  Bytes at;     ///< the start is `at` modulo `align`
};

/// What becomes of the pages of a range: madvise, and what the system does with memory that a program does not ask about.
enum class Advice : std::uint8_t {
  dontfork,  ///< a child does not get them
  dofork,
  dontneed,  ///< they are dropped; the next touch finds new ones
  hugepage,  ///< later faults bring in 2 MiB where they can
  pageout,   ///< those that are not pinned are swapped out
  migrate,   ///< those that are not pinned move to other frames
};

struct RegMrRequest {
  Handle pd = 0;
  Va address;
  Bytes length;
  Access access = Access::none;
  Iova iova;  ///< the address operations will use; equal to `address` unless asked otherwise
};

struct ReregMrRequest {
  Handle mr = 0;
  bool translation = false;  ///< IBV_REREG_MR_CHANGE_TRANSLATION: `address` and `length` count
  Va address;
  Bytes length;
  Handle pd = 0;  ///< IBV_REREG_MR_CHANGE_PD when it is not 0
  bool change_access = false;
  Access access = Access::none;
};

/// What advise_mr asks for (ib_uverbs_advise_mr_advice).
enum class Prefetch : std::uint8_t {
  read,      ///< bring the pages in, for reading only
  write,     ///< bring them in for all that the MR allows
  no_fault,  ///< only those that the process has in memory
};

/// How a rereg_mr failed, as ibv_rereg_mr tells it (its negative return values).
enum class Rereg : std::uint8_t {
  ok,
  input,          ///< nothing was asked of the kernel; the MR is as it was
  dont_fork_new,  ///< the new range could not be kept from children; the MR is as it was
  do_fork_old,    ///< the new MR is good, the old range could not be given back to children
  command,        ///< the kernel refused: the MR must not be used any more
  command_and_do_fork_new,
};

struct CreateSrqRequest {
  Handle pd = 0;
  std::uint32_t depth = 128, sges = 1;
};

struct CreateQpRequest {
  Handle pd = 0, send_cq = 0, recv_cq = 0;
  Handle srq = 0;  ///< 0: the QP has a receive queue of its own
  QpType type = QpType::rc;
  std::uint32_t sq_depth = 128, rq_depth = 128, send_sge = 4, recv_sge = 4, inline_bytes = 0;
  Access access = Access::none;
  bool signal_all = false;
  std::uint8_t timeout = 14, retry = 7, rnr_retry = 7, rnr_timer = 12;
  std::uint32_t rd_atomic = 16, dest_rd_atomic = 16;
  Bytes mtu;  ///< path MTU in bytes; 0: the MTU of the link
};

struct Sge {
  std::uint64_t address = 0;  ///< as the key's MR defines it; a process address when the request is inline
  std::uint32_t length = 0;
  Key lkey;
};

struct AdviseMrRequest {
  Handle pd = 0;
  Prefetch advice = Prefetch::read;
  bool flush = false;  ///< IBV_ADVISE_MR_FLAG_FLUSH: the call ends when the pages are there
  std::span<const Sge> sges;
};

/// Transfers between the device's own memory and an MR's, which a program on the device makes: what measures DMA alone.
struct DmaRequest {
  enum class Kind : std::uint8_t {
    read,        ///< of host memory
    write,       ///< each lasts until a CPU would see it
    write_read,  ///< a write, and at once a read of the same bytes, which pushes it: timed together
  };
  /// How the CPU has left the memory: as it is, just written, or taken out of the caches.
  enum class Cache : std::uint8_t { as_is, warm, cold };
  Handle mr = 0;
  Kind kind = Kind::read;
  Bytes length;             ///< of each transfer; they begin at multiples of it, rounded up to 64 B
  std::uint32_t count = 1;  ///< transfers
  std::uint32_t depth = 1;  ///< in flight at once, at most
  Bytes window;             ///< from the start of the MR; 0: all of it
  std::uint64_t seed = 0;   ///< of random places; 0: one after the other, and again from the start
  Cache cache = Cache::as_is;
  bool direct = false;  ///< by the device's processors themselves; otherwise by its DMA engine, with descriptors
};

/// ibv_bind_mw: a window of type 1. Its key changes at once, whether or not the bind succeeds later.
struct BindMwRequest {
  Handle mw = 0, qp = 0;
  Handle mr = 0;  ///< 0: none, which unbinds
  std::uint64_t wr = 0;
  Iova address;
  Bytes length;
  Access access = Access::none;
  bool signaled = true;
};

struct SendRequest {
  std::uint64_t wr = 0;
  Opcode opcode = Opcode::write;
  Send flags = Send::none;
  std::span<const Sge> sges;
  std::uint64_t remote_address = 0;
  Key rkey;  ///< send_inv, local_inv: the key to be invalidated
  std::uint32_t immediate = 0;
  std::uint64_t compare = 0, swap_or_add = 0;
  const Bind* bind = nullptr;  ///< bind_mw
  std::uint32_t meant = 0;     ///< identity of the registration that the program means by `rkey`; 0: unknown (Grant::identity)
};

struct RecvRequest {
  std::uint64_t wr = 0;
  std::span<const Sge> sges;
};

/// What has befallen data of an operation that succeeded. No device tells: the model knows.
enum class Hazard : std::uint8_t {
  none,
  stale,    ///< they were read from, or written to, memory that the program no longer has at the address
  foreign,  ///< the key has come to stand for another registration than the program means
};

struct Completion {
  std::uint64_t wr = 0;
  Status status = Status::SUCCESS;
  Opcode opcode = Opcode::write;  ///< of the request; Opcode::recv for every receive
  std::uint32_t bytes = 0;        ///< of a receive: those that came
  Hazard hazard = Hazard::none;
  bool invalidates = false;  ///< IBV_WC_WITH_INV: `invalidated` is the key that the message named
  Key invalidated{};
};

enum class Wait : std::uint8_t { spin, event };

/// A copy of the calling process: its memory, and the device as it is.
struct ForkRequest {
  std::string_view child;           ///< its name
  std::span<const Thread> threads;  ///< that run in it, none of which has made a call so far
};

class Device {
 public:
  virtual ~Device() = default;

  // Memory of the process.
  virtual Progress mmap(Thread, const MmapRequest&, Reply&, Caller&) = 0;
  virtual Progress munmap(Thread, Va, Bytes, Reply&, Caller&) = 0;
  virtual Progress touch(Thread, Va, Bytes, bool write, Reply&, Caller&) = 0;
  virtual Progress mprotect(Thread, Va, Bytes, bool readable, bool writable, Reply&, Caller&) = 0;
  virtual Progress madvise(Thread, Va, Bytes, Advice, Reply&, Caller&) = 0;
  /// RLIMIT_MEMLOCK in bytes; ~0 is unlimited.
  virtual Progress set_memlock(Thread, Bytes limit, Reply&, Caller&) = 0;
  virtual Progress set_cap_ipc_lock(Thread, bool on, Reply&, Caller&) = 0;
  /// ENOMEM: no memory for copies of pinned pages. `request` and what it points at must live until the call has finished.
  virtual Progress fork(Thread, const ForkRequest& request, Reply&, Caller&) = 0;
  /// ibv_fork_init; `huge_pages` is RDMAV_HUGEPAGES_SAFE.
  virtual Progress fork_init(Thread, bool huge_pages, Reply&, Caller&) = 0;

  // Verbs objects.
  /// On the host's NIC of that number, from 0. ENODEV: it has fewer.
  virtual Progress alloc_pd(Thread, std::uint32_t nic, Reply&, Caller&) = 0;
  virtual Progress dealloc_pd(Thread, Handle pd, Reply&, Caller&) = 0;
  virtual Progress reg_mr(Thread, const RegMrRequest&, Reply&, Caller&) = 0;
  virtual Progress rereg_mr(Thread, const ReregMrRequest&, Reply&, Caller&) = 0;
  virtual Progress dereg_mr(Thread, Handle mr, Reply&, Caller&) = 0;
  virtual Progress advise_mr(Thread, const AdviseMrRequest&, Reply&, Caller&) = 0;
  /// Until the last has ended. EINVAL: there is no such MR, or the window is not within it or too small for a transfer; EOPNOTSUPP: it is
  /// on demand.
  virtual Progress dma(Thread, const DmaRequest&, Reply&, Caller&) = 0;
  /// A window of type 1 or 2. EOPNOTSUPP: the device has none; EINVAL: no such type or PD.
  virtual Progress alloc_mw(Thread, Handle pd, std::uint8_t type, Reply&, Caller&) = 0;
  /// Nothing reaches memory through it from the end of this on.
  virtual Progress dealloc_mw(Thread, Handle mw, Reply&, Caller&) = 0;
  virtual Progress bind_mw(Thread, const BindMwRequest&, Reply&, Caller&) = 0;
  virtual Progress create_cq(Thread, std::uint32_t depth, Reply&, Caller&) = 0;
  virtual Progress destroy_cq(Thread, Handle cq, Reply&, Caller&) = 0;
  virtual Progress create_srq(Thread, const CreateSrqRequest&, Reply&, Caller&) = 0;
  virtual Progress destroy_srq(Thread, Handle srq, Reply&, Caller&) = 0;
  virtual Progress create_qp(Thread, const CreateQpRequest&, Reply&, Caller&) = 0;
  virtual Progress destroy_qp(Thread, Handle qp, Reply&, Caller&) = 0;
  /// Brings this QP and `peer_qp` of `peer` to RTS from RESET or INIT.
  virtual Progress connect(Thread, Handle qp, Device& peer, Handle peer_qp, Reply&, Caller&) = 0;
  virtual Progress modify_qp(Thread, Handle qp, QpState, Reply&, Caller&) = 0;
  /// The state that the device has the QP in.
  virtual Progress query_qp(Thread, Handle qp, Reply&, Caller&) = 0;
  /// ibv_get_async_event: the host's next one; waits for it, asleep. One that never comes is the system's watchdog's business.
  virtual Progress next_event(Thread, Reply&, Caller&) = 0;

  // Work. `requests` and what it points at must live until the call has finished. One call is one doorbell; a request that cannot be
  // posted ends the list: reply.error is its errno and reply.value the number posted before it.
  virtual Progress post_send(Thread, Handle qp, std::span<const SendRequest> requests, Reply&, Caller&) = 0;
  /// The same for receives of a QP's own queue, and of a shared one.
  virtual Progress post_recv(Thread, Handle qp, std::span<const RecvRequest> requests, Reply&, Caller&) = 0;
  virtual Progress post_srq(Thread, Handle srq, std::span<const RecvRequest> requests, Reply&, Caller&) = 0;
  /// Takes at least one and at most out.size() completions; waits, spinning or asleep, until there is one. A wait that can never end
  /// is the system's watchdog's business.
  virtual Progress poll(Thread, Handle cq, Wait, std::span<Completion> out, Reply&, Caller&) = 0;
  /// Waits `span`, then takes whatever came (reply.value may be 0). For `poll CQ idle=NS`.
  virtual Progress poll_after(Thread, Handle cq, Time span, std::span<Completion> out, Reply&, Caller&) = 0;

  // Threads.
  virtual Progress compute(Thread, Time, Reply&, Caller&) = 0;      ///< the CPU is busy that long
  virtual Progress sleep_until(Thread, Time, Reply&, Caller&) = 0;  ///< the CPU is free; at once if the time has passed
  virtual Time now() const = 0;
};

/// Where actors of any host meet, by name; and what else they share.
class Meeting {
 public:
  virtual ~Meeting() = default;
  /// Waits until `n` actors stand at barrier `name`; a barrier serves again and again. The thread's CPU is free meanwhile.
  virtual Progress arrive(Device&, Thread, std::uint32_t barrier, std::uint32_t n, Caller&) = 0;
};

}  // namespace mtsim::verbs

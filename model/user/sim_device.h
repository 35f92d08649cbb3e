// The verbs of the processes on a simulated host: each call is a flow on the calling thread's CPU that ends by resuming its caller.
//
// ibv_post_send and ibv_poll_cq are the provider library's and stay in user space; everything else goes to the kernel.
#pragma once

#include <cerrno>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/scheduler.h"
#include "ports/cpu.h"
#include "ports/kernel.h"
#include "ports/memory.h"
#include "ports/nic.h"
#include "user/completion_queue.h"
#include "user/library.h"
#include "user/provider_params.h"
#include "user/receive_queue.h"
#include "user/send_queue.h"
#include "verbs/device.h"

namespace mtsim::user {

class SimDevice : public sc_core::sc_module, public verbs::Device {
 public:
  sc_core::sc_port<ports::Cpus> cpus;
  sc_core::sc_port<ports::Kernel> kernel;
  sc_core::sc_port<ports::HostMemory> memory;
  sc_core::sc_port<ports::Doorbells> doorbells;

  SimDevice(sc_core::sc_module_name name, engine::Scheduler& scheduler, const ProviderParams& params, std::uint32_t threads,
            std::uint32_t host_rank);

  /// What a process on a simulated host can do, in the words of program::Program::uses().
  static const std::set<std::string>& carried_out();

  verbs::Progress mmap(verbs::Thread, const verbs::MmapRequest&, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress munmap(verbs::Thread, Va, Bytes, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress touch(verbs::Thread, Va, Bytes, bool write, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress mprotect(verbs::Thread, Va, Bytes, bool readable, bool writable, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress madvise(verbs::Thread, Va, Bytes, verbs::Advice, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress set_memlock(verbs::Thread, Bytes limit, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress set_cap_ipc_lock(verbs::Thread, bool on, verbs::Reply&, verbs::Caller&) override;
  /// Queues stay with the process that made them: for others, posting and polling is EFAULT, as their memory is not there.
  verbs::Progress fork(verbs::Thread, const verbs::ForkRequest&, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress fork_init(verbs::Thread, bool huge_pages, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress alloc_pd(verbs::Thread, std::uint32_t nic, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress dealloc_pd(verbs::Thread, verbs::Handle pd, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress reg_mr(verbs::Thread, const verbs::RegMrRequest&, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress rereg_mr(verbs::Thread, const verbs::ReregMrRequest&, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress dereg_mr(verbs::Thread, verbs::Handle mr, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress advise_mr(verbs::Thread, const verbs::AdviseMrRequest&, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress dma(verbs::Thread, const verbs::DmaRequest&, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress alloc_mw(verbs::Thread, verbs::Handle pd, std::uint8_t type, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress dealloc_mw(verbs::Thread, verbs::Handle mw, verbs::Reply&, verbs::Caller&) override;
  /// EINVAL also for objects that are not there.
  verbs::Progress bind_mw(verbs::Thread, const verbs::BindMwRequest&, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress create_cq(verbs::Thread, std::uint32_t depth, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress destroy_cq(verbs::Thread, verbs::Handle cq, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress create_srq(verbs::Thread, const verbs::CreateSrqRequest&, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress destroy_srq(verbs::Thread, verbs::Handle srq, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress create_qp(verbs::Thread, const verbs::CreateQpRequest&, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress destroy_qp(verbs::Thread, verbs::Handle qp, verbs::Reply&, verbs::Caller&) override;
  /// The peer must be a SimDevice too.
  verbs::Progress connect(verbs::Thread, verbs::Handle qp, verbs::Device& peer, verbs::Handle peer_qp, verbs::Reply&,
                          verbs::Caller&) override;
  verbs::Progress modify_qp(verbs::Thread, verbs::Handle qp, verbs::QpState, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress query_qp(verbs::Thread, verbs::Handle qp, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress next_event(verbs::Thread, verbs::Reply&, verbs::Caller&) override;

  verbs::Progress post_send(verbs::Thread, verbs::Handle qp, std::span<const verbs::SendRequest>, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress post_recv(verbs::Thread, verbs::Handle qp, std::span<const verbs::RecvRequest>, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress post_srq(verbs::Thread, verbs::Handle srq, std::span<const verbs::RecvRequest>, verbs::Reply&, verbs::Caller&) override;
  /// Wait::event is not modelled: EOPNOTSUPP.
  verbs::Progress poll(verbs::Thread, verbs::Handle cq, verbs::Wait, std::span<verbs::Completion> out, verbs::Reply&,
                       verbs::Caller&) override;
  verbs::Progress poll_after(verbs::Thread, verbs::Handle cq, Time span, std::span<verbs::Completion> out, verbs::Reply&,
                             verbs::Caller&) override;

  verbs::Progress compute(verbs::Thread, Time, verbs::Reply&, verbs::Caller&) override;
  verbs::Progress sleep_until(verbs::Thread, Time, verbs::Reply&, verbs::Caller&) override;
  Time now() const override { return scheduler_.now(); }

  /// Completions lost because a CQ was full, over all CQs that there were.
  std::uint64_t cq_overruns() const;

 private:
  struct Cq {
    std::shared_ptr<CompletionQueue> queue;
    Pa base;
    bool alive = false;
    QueueBuffer buffer{};
  };
  struct Qp {
    // What every post looks at lies together.
    std::uint32_t qpn = 0;
    bool alive = false;
    QueueBuffer buffer{};
    std::shared_ptr<SendQueue> sq;
    std::shared_ptr<ReceiveQueue> rq;  ///< its own, or the shared one
    bool shared_rq = false;
    std::shared_ptr<CompletionPath> send_path, receive_path;
    Pa base, receive_base;
    Bytes bytes, receive_bytes;  ///< receive_bytes is 0 with a shared queue
    Bytes send_bytes;            ///< of the send ring itself
    /// Both rings in one piece (mlx5_calc_wq_size), the page of the doorbell record apart.
    Bytes queue_bytes() const { return send_bytes + (receive_bytes.raw == 0 ? Bytes(0) : receive_bytes - page_bytes); }
    void set_up() {
      sq->set_ready(true);
      rq->set_ready(true);
    }
  };
  struct Srq {
    std::shared_ptr<ReceiveQueue> queue;
    Pa base;
    Bytes bytes;
    bool alive = false;
    QueueBuffer buffer{};
  };

  /// struct ibv_mw
  struct Mw {
    bool alive = false;
    verbs::WindowView view{};
    Key rkey{};
  };

  verbs::Progress spawn(verbs::Thread thread, engine::Flow flow) {
    in_call_[thread] = true;
    cpus->boundary(thread);
    scheduler_.spawn(std::move(flow));
    return verbs::Progress::pending;
  }
  verbs::Progress ask_kernel(verbs::Thread thread, ports::Kernel::Answer answer, verbs::Reply& reply, verbs::Caller& caller);
  /// A caller that makes no further call at once has ended, or waits for something that is not ours: its CPU is free.
  void finish(verbs::Thread thread, verbs::Caller& caller) {
    in_call_[thread] = false;
    caller.resume();
    if (!in_call_[thread]) cpus->block(thread);
  }
  /// Null for a handle that stands for nothing (any more).
  Cq* find_cq(verbs::Handle cq) { return cq < cqs_.size() && cqs_[cq].alive ? &cqs_[cq] : nullptr; }
  Qp* find_qp(verbs::Handle qp) { return qp < qp_at_.size() && qp_at_[qp] != nullptr && qp_at_[qp]->alive ? qp_at_[qp] : nullptr; }
  Srq* find_srq(verbs::Handle srq) { return srq < srqs_.size() && srqs_[srq].alive ? &srqs_[srq] : nullptr; }
  Mw* find_mw(verbs::Handle mw) { return mw < mws_.size() && mws_[mw].alive ? &mws_[mw] : nullptr; }
  std::optional<Pa> allocate(Bytes length);
  /// Lays out the rings of a QP's queues: an errno.
  int lay_out(const verbs::CreateQpRequest& request, Qp& qp);
  void release(const Qp& qp);

  Library& library_of(verbs::Thread thread) { return *library_of_[thread]; }
  /// 0; EINVAL: there is no such queue; EFAULT: it is another process's.
  template <class Queue>
  int check_use(verbs::Thread thread, const Queue* queue) {
    return queue == nullptr ? EINVAL : queue->buffer.library != &library_of(thread) ? EFAULT : 0;
  }
  engine::Task<int> map_apart(verbs::Thread, Bytes, ForkRanges::Range&);
  engine::Task<int> unmap_apart(verbs::Thread, const ForkRanges::Range&);
  /// The memory of a queue and its doorbell record: ENOMEM when they cannot be kept from children.
  engine::Task<int> allocate_queue(verbs::Thread, Bytes, QueueBuffer&);
  engine::Task<int> free_queue(verbs::Thread, const QueueBuffer&);
  engine::Flow fork_flow(verbs::Thread, verbs::ForkRequest, verbs::Reply&, verbs::Caller&);

  engine::Task<int> keep_from_children(verbs::Thread, const ForkRanges::Range&, bool keep);
  engine::Task<ForkRanges::Range> fork_range(verbs::Thread, Va, Bytes);
  engine::Flow reg_mr_flow(verbs::Thread, verbs::RegMrRequest, verbs::Reply&, verbs::Caller&);
  engine::Flow rereg_mr_flow(verbs::Thread, verbs::ReregMrRequest, verbs::Reply&, verbs::Caller&);
  engine::Flow dereg_mr_flow(verbs::Thread, verbs::Handle, verbs::Reply&, verbs::Caller&);

  engine::Flow kernel_flow(verbs::Thread, ports::Kernel::Answer, verbs::Reply&, verbs::Caller&);
  engine::Flow create_cq_flow(verbs::Thread, Cq, verbs::Reply&, verbs::Caller&);
  engine::Flow destroy_cq_flow(verbs::Thread, verbs::Handle, verbs::Reply&, verbs::Caller&);
  engine::Flow create_srq_flow(verbs::Thread, verbs::Handle pd, Srq, verbs::Reply&, verbs::Caller&);
  engine::Flow destroy_srq_flow(verbs::Thread, verbs::Handle, verbs::Reply&, verbs::Caller&);
  engine::Flow create_qp_flow(verbs::Thread, Qp, ports::Kernel::QpObjects, ports::QpAttributes, verbs::Reply&, verbs::Caller&);
  engine::Flow destroy_qp_flow(verbs::Thread, verbs::Handle, verbs::Reply&, verbs::Caller&);
  engine::Flow modify_qp_flow(verbs::Thread, verbs::Handle, verbs::QpState, verbs::Reply&, verbs::Caller&);
  engine::Flow connect_flow(verbs::Thread, verbs::Handle, SimDevice& peer, verbs::Handle peer_qp, verbs::Reply&, verbs::Caller&);
  engine::Flow alloc_mw_flow(verbs::Thread, verbs::Handle pd, std::uint8_t type, verbs::Reply&, verbs::Caller&);
  engine::Flow dealloc_mw_flow(verbs::Thread, verbs::Handle, verbs::Reply&, verbs::Caller&);
  engine::Flow bind_mw_flow(verbs::Thread, verbs::BindMwRequest, verbs::Bind, verbs::Reply&, verbs::Caller&);
  /// Into the ring and on with the doorbell, `span` of CPU time after `begin` or later.
  void submit(Qp& qp, std::span<const verbs::SendRequest> requests, Time begin, Time span, verbs::Reply& reply);
  engine::Flow post_flow(verbs::Thread, Qp&, std::span<const verbs::SendRequest>, verbs::Reply&, verbs::Caller&);
  engine::Flow receive_flow(verbs::Thread, ReceiveQueue&, std::uint32_t qpn, std::span<const verbs::RecvRequest>, verbs::Reply&,
                            verbs::Caller&);
  engine::Flow poll_flow(verbs::Thread, CompletionQueue&, std::span<verbs::Completion>, verbs::Reply&, verbs::Caller&);
  engine::Flow poll_after_flow(verbs::Thread, CompletionQueue&, Time, std::span<verbs::Completion>, verbs::Reply&, verbs::Caller&);
  engine::Flow compute_flow(verbs::Thread, Time, verbs::Caller&);
  engine::Flow sleep_flow(verbs::Thread, Time, verbs::Caller&);

  engine::Scheduler& scheduler_;
  ProviderParams params_;
  std::uint32_t host_rank_;
  std::vector<char> in_call_;         ///< by thread
  std::deque<Library> libraries_{1};  ///< one a process
  std::vector<Library*> library_of_;  ///< by thread
  // By handle; handle 0 and objects that are gone leave their places empty. Flows keep references, so places do not move.
  std::deque<Cq> cqs_{1};
  std::deque<Srq> srqs_{1};
  std::deque<Mw> mws_{1};
  std::deque<Qp> qps_{1};
  std::vector<Qp*> qp_at_;  ///< the same by handle, for every post: a deque's index costs more than the rest of the look-up
};

}  // namespace mtsim::user

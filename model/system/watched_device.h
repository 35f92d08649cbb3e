// The process of a host, with an eye on every call that a thread makes: for a timeline. Calls pass through unchanged.
#pragma once

#include <span>
#include <vector>

#include "verbs/device.h"

namespace mtsim::system {

/// A call that took time, finished or, where the run ended before it, not.
struct WatchedCall {
  verbs::Thread thread = 0;
  const char* name = "";
  Time begin, end;
  bool finished = true;
  std::uint32_t qpn = 0;                         ///< of the QP that it is about, or 0
  const verbs::Reply* reply = nullptr;           ///< never null; of an unfinished call it says nothing yet
  std::span<const verbs::SendRequest> requests;  ///< post_send: those that it was given
};

class CallWatcher {
 public:
  /// `port` is the host's on the switch.
  virtual void called(std::uint32_t port, const WatchedCall& call) = 0;

 protected:
  ~CallWatcher() = default;
};

class WatchedDevice final : public verbs::Device {
 public:
  /// `inner` and `watcher` must outlive this. Devices that connect to each other must both be watched.
  WatchedDevice(verbs::Device& inner, CallWatcher& watcher, std::uint32_t port, std::uint32_t threads);
  WatchedDevice(const WatchedDevice&) = delete;
  WatchedDevice& operator=(const WatchedDevice&) = delete;

  /// Tells of the calls that are under way: at the end of a run.
  void tell_rest();

  using Thread = verbs::Thread;
  using Handle = verbs::Handle;
  using Reply = verbs::Reply;
  using Caller = verbs::Caller;
  using Progress = verbs::Progress;
  Progress mmap(Thread t, const verbs::MmapRequest& m, Reply& r, Caller& c) override {
    return pass(t, "mmap", r, c, [&](Caller& w) { return inner_.mmap(t, m, r, w); });
  }
  Progress munmap(Thread t, Va a, Bytes n, Reply& r, Caller& c) override {
    return pass(t, "munmap", r, c, [&](Caller& w) { return inner_.munmap(t, a, n, r, w); });
  }
  Progress touch(Thread t, Va a, Bytes n, bool write, Reply& r, Caller& c) override {
    return pass(t, "touch", r, c, [&](Caller& w) { return inner_.touch(t, a, n, write, r, w); });
  }
  Progress mprotect(Thread t, Va a, Bytes n, bool readable, bool writable, Reply& r, Caller& c) override {
    return pass(t, "mprotect", r, c, [&](Caller& w) { return inner_.mprotect(t, a, n, readable, writable, r, w); });
  }
  Progress madvise(Thread t, Va a, Bytes n, verbs::Advice advice, Reply& r, Caller& c) override {
    return pass(t, "madvise", r, c, [&](Caller& w) { return inner_.madvise(t, a, n, advice, r, w); });
  }
  Progress set_memlock(Thread t, Bytes limit, Reply& r, Caller& c) override {
    return pass(t, "memlock", r, c, [&](Caller& w) { return inner_.set_memlock(t, limit, r, w); });
  }
  Progress set_cap_ipc_lock(Thread t, bool on, Reply& r, Caller& c) override {
    return pass(t, "cap_ipc_lock", r, c, [&](Caller& w) { return inner_.set_cap_ipc_lock(t, on, r, w); });
  }
  Progress fork(Thread t, const verbs::ForkRequest& f, Reply& r, Caller& c) override {
    return pass(t, "fork", r, c, [&](Caller& w) { return inner_.fork(t, f, r, w); });
  }
  Progress fork_init(Thread t, bool huge_pages, Reply& r, Caller& c) override {
    return pass(t, "fork_init", r, c, [&](Caller& w) { return inner_.fork_init(t, huge_pages, r, w); });
  }
  Progress alloc_pd(Thread t, std::uint32_t nic, Reply& r, Caller& c) override {
    return pass(t, "alloc_pd", r, c, [&](Caller& w) { return inner_.alloc_pd(t, nic, r, w); });
  }
  Progress dealloc_pd(Thread t, Handle pd, Reply& r, Caller& c) override {
    return pass(t, "dealloc_pd", r, c, [&](Caller& w) { return inner_.dealloc_pd(t, pd, r, w); });
  }
  Progress reg_mr(Thread t, const verbs::RegMrRequest& m, Reply& r, Caller& c) override {
    return pass(t, "reg_mr", r, c, [&](Caller& w) { return inner_.reg_mr(t, m, r, w); });
  }
  Progress rereg_mr(Thread t, const verbs::ReregMrRequest& m, Reply& r, Caller& c) override {
    return pass(t, "rereg_mr", r, c, [&](Caller& w) { return inner_.rereg_mr(t, m, r, w); });
  }
  Progress dereg_mr(Thread t, Handle mr, Reply& r, Caller& c) override {
    return pass(t, "dereg_mr", r, c, [&](Caller& w) { return inner_.dereg_mr(t, mr, r, w); });
  }
  Progress dma(Thread t, const verbs::DmaRequest& d, Reply& r, Caller& c) override {
    return pass(t, "dma", r, c, [&](Caller& w) { return inner_.dma(t, d, r, w); });
  }
  Progress advise_mr(Thread t, const verbs::AdviseMrRequest& m, Reply& r, Caller& c) override {
    return pass(t, "advise_mr", r, c, [&](Caller& w) { return inner_.advise_mr(t, m, r, w); });
  }
  Progress alloc_mw(Thread t, Handle pd, std::uint8_t type, Reply& r, Caller& c) override {
    return pass(t, "alloc_mw", r, c, [&](Caller& w) { return inner_.alloc_mw(t, pd, type, r, w); });
  }
  Progress dealloc_mw(Thread t, Handle mw, Reply& r, Caller& c) override {
    return pass(t, "dealloc_mw", r, c, [&](Caller& w) { return inner_.dealloc_mw(t, mw, r, w); });
  }
  Progress bind_mw(Thread t, const verbs::BindMwRequest& b, Reply& r, Caller& c) override {
    return pass(
        t, "bind_mw", r, c, [&](Caller& w) { return inner_.bind_mw(t, b, r, w); }, b.qp);
  }
  Progress create_cq(Thread t, std::uint32_t n, Reply& r, Caller& c) override {
    return pass(t, "create_cq", r, c, [&](Caller& w) { return inner_.create_cq(t, n, r, w); });
  }
  Progress destroy_cq(Thread t, Handle cq, Reply& r, Caller& c) override {
    return pass(t, "destroy_cq", r, c, [&](Caller& w) { return inner_.destroy_cq(t, cq, r, w); });
  }
  Progress create_srq(Thread t, const verbs::CreateSrqRequest& s, Reply& r, Caller& c) override {
    return pass(t, "create_srq", r, c, [&](Caller& w) { return inner_.create_srq(t, s, r, w); });
  }
  Progress destroy_srq(Thread t, Handle srq, Reply& r, Caller& c) override {
    return pass(t, "destroy_srq", r, c, [&](Caller& w) { return inner_.destroy_srq(t, srq, r, w); });
  }
  Progress create_qp(Thread t, const verbs::CreateQpRequest& q, Reply& r, Caller& c) override {
    return pass(t, create_qp_name, r, c, [&](Caller& w) { return inner_.create_qp(t, q, r, w); });
  }
  Progress destroy_qp(Thread t, Handle qp, Reply& r, Caller& c) override {
    return pass(
        t, "destroy_qp", r, c, [&](Caller& w) { return inner_.destroy_qp(t, qp, r, w); }, qp);
  }
  Progress connect(Thread t, Handle qp, verbs::Device& peer, Handle peer_qp, Reply& r, Caller& c) override {
    return pass(
        t, "connect", r, c, [&](Caller& w) { return inner_.connect(t, qp, dynamic_cast<WatchedDevice&>(peer).inner_, peer_qp, r, w); }, qp);
  }
  Progress modify_qp(Thread t, Handle qp, verbs::QpState s, Reply& r, Caller& c) override {
    return pass(
        t, s == verbs::QpState::reset ? "modify_qp reset" : "modify_qp", r, c, [&](Caller& w) { return inner_.modify_qp(t, qp, s, r, w); },
        qp);
  }
  Progress query_qp(Thread t, Handle qp, Reply& r, Caller& c) override {
    return pass(
        t, "query_qp", r, c, [&](Caller& w) { return inner_.query_qp(t, qp, r, w); }, qp);
  }
  Progress next_event(Thread t, Reply& r, Caller& c) override {
    return pass(t, "event", r, c, [&](Caller& w) { return inner_.next_event(t, r, w); });
  }
  Progress post_send(Thread t, Handle qp, std::span<const verbs::SendRequest> s, Reply& r, Caller& c) override {
    return pass(
        t, "post_send", r, c, [&](Caller& w) { return inner_.post_send(t, qp, s, r, w); }, qp, s);
  }
  Progress post_recv(Thread t, Handle qp, std::span<const verbs::RecvRequest> s, Reply& r, Caller& c) override {
    return pass(
        t, "post_recv", r, c, [&](Caller& w) { return inner_.post_recv(t, qp, s, r, w); }, qp);
  }
  Progress post_srq(Thread t, Handle srq, std::span<const verbs::RecvRequest> s, Reply& r, Caller& c) override {
    return pass(t, "post_srq", r, c, [&](Caller& w) { return inner_.post_srq(t, srq, s, r, w); });
  }
  Progress poll(Thread t, Handle cq, verbs::Wait wait, std::span<verbs::Completion> out, Reply& r, Caller& c) override {
    return pass(t, "poll", r, c, [&](Caller& w) { return inner_.poll(t, cq, wait, out, r, w); });
  }
  Progress poll_after(Thread t, Handle cq, Time span, std::span<verbs::Completion> out, Reply& r, Caller& c) override {
    return pass(t, "poll", r, c, [&](Caller& w) { return inner_.poll_after(t, cq, span, out, r, w); });
  }
  Progress compute(Thread t, Time span, Reply& r, Caller& c) override {
    return pass(t, "compute", r, c, [&](Caller& w) { return inner_.compute(t, span, r, w); });
  }
  Progress sleep_until(Thread t, Time when, Reply& r, Caller& c) override {
    return pass(t, "sleep", r, c, [&](Caller& w) { return inner_.sleep_until(t, when, r, w); });
  }
  Time now() const override { return inner_.now(); }

 private:
  static constexpr const char* create_qp_name = "create_qp";

  /// Stands in for a thread's caller: a thread has at most one call under way.
  struct Waiting final : verbs::Caller {
    WatchedDevice* device = nullptr;
    verbs::Caller* caller = nullptr;
    WatchedCall call;
    bool pending = false;
    void resume() override { device->finished(*this); }
  };

  template <class Call>
  Progress pass(Thread thread, const char* name, Reply& reply, Caller& caller, Call&& call, Handle qp = 0,
                std::span<const verbs::SendRequest> requests = {}) {
    Waiting& waiting = waiting_[thread];
    waiting.caller = &caller;
    waiting.pending = true;
    waiting.call = {thread, name, now(), {}, true, qpn(qp), &reply, requests};
    const Progress progress = call(waiting);
    // A call that takes no time is nothing to draw.
    if (progress == Progress::done) waiting.pending = false;
    return progress;
  }
  void finished(Waiting& waiting);
  std::uint32_t qpn(Handle qp) const { return qp < qpns_.size() ? qpns_[qp] : 0; }

  verbs::Device& inner_;
  CallWatcher& watcher_;
  std::uint32_t port_;
  std::vector<Waiting> waiting_;     ///< by thread
  std::vector<std::uint32_t> qpns_;  ///< by handle
};

}  // namespace mtsim::system

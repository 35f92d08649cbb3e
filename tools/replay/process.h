// One host of a trace as a process on real verbs: the other implementation of verbs::Device, beside the simulator's. Every call is the
// call of that name of libibverbs or of the system, made by the thread that the trace says, and returns when it is over: nothing is ever
// pending. What the device refuses is the answer.
//
// Threads have the turn when they come in and when they leave, and pass it for the time of the real call, but for posts: a request must be
// on record before another thread takes its completion.
#pragma once

#include <infiniband/verbs.h>

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "arena.h"
#include "connection.h"
#include "endpoint.h"
#include "handles.h"
#include "nic.h"
#include "record.h"
#include "turn.h"

namespace mtsim::replay {

class Peers;

/// What the hosts of a run share.
struct Surroundings {
  Turn& turn;
  Record& record;
  Peers* peers = nullptr;  ///< processes elsewhere, if some hosts run there
  WallClock::time_point start;
  bool sleeping_polls = false;  ///< some poll waits for events, so CQs have channels
};

class Process final : public verbs::Device, public Endpoint {
 public:
  /// `number` of `count` hosts.
  Process(Surroundings& surroundings, std::uint32_t number, std::uint32_t count, std::vector<std::unique_ptr<Nic>> nics,
          std::size_t threads);
  /// Destroys what the program has left.
  ~Process();

  /// What the backend carries out, in the words of program::Program::uses().
  static const std::set<std::string>& carried_out();

  /// Takes what lies in completion queues when the program has ended, and settles what asked for no completion.
  void finish();
  std::string where(verbs::Thread thread) const { return record().where(who(thread)); }
  /// For how long a thread has been in the call that it is in; 0 if it is in none. Needs the turn.
  WallClock::duration in_call(verbs::Thread thread) const;

  using Caller = verbs::Caller;
  using Handle = verbs::Handle;
  using Progress = verbs::Progress;
  using Reply = verbs::Reply;
  using Thread = verbs::Thread;

  Progress mmap(Thread, const verbs::MmapRequest&, Reply&, Caller&) override;
  Progress munmap(Thread, Va, Bytes, Reply&, Caller&) override;
  Progress touch(Thread, Va, Bytes, bool write, Reply&, Caller&) override;
  Progress mprotect(Thread, Va, Bytes, bool readable, bool writable, Reply&, Caller&) override;
  Progress madvise(Thread, Va, Bytes, verbs::Advice, Reply&, Caller&) override;
  Progress set_memlock(Thread, Bytes limit, Reply&, Caller&) override;
  Progress set_cap_ipc_lock(Thread, bool on, Reply&, Caller&) override;
  Progress fork(Thread, const verbs::ForkRequest&, Reply&, Caller&) override;
  Progress fork_init(Thread, bool huge_pages, Reply&, Caller&) override;

  Progress alloc_pd(Thread, std::uint32_t nic, Reply&, Caller&) override;
  Progress dealloc_pd(Thread, Handle, Reply&, Caller&) override;
  Progress reg_mr(Thread, const verbs::RegMrRequest&, Reply&, Caller&) override;
  Progress rereg_mr(Thread, const verbs::ReregMrRequest&, Reply&, Caller&) override;
  Progress dereg_mr(Thread, Handle, Reply&, Caller&) override;
  Progress advise_mr(Thread, const verbs::AdviseMrRequest&, Reply&, Caller&) override;
  Progress dma(Thread, const verbs::DmaRequest&, Reply&, Caller&) override;
  Progress alloc_mw(Thread, Handle pd, std::uint8_t type, Reply&, Caller&) override;
  Progress dealloc_mw(Thread, Handle, Reply&, Caller&) override;
  Progress bind_mw(Thread, const verbs::BindMwRequest&, Reply&, Caller&) override;
  Progress create_cq(Thread, std::uint32_t depth, Reply&, Caller&) override;
  Progress destroy_cq(Thread, Handle, Reply&, Caller&) override;
  Progress create_srq(Thread, const verbs::CreateSrqRequest&, Reply&, Caller&) override;
  Progress destroy_srq(Thread, Handle, Reply&, Caller&) override;
  Progress create_qp(Thread, const verbs::CreateQpRequest&, Reply&, Caller&) override;
  Progress destroy_qp(Thread, Handle, Reply&, Caller&) override;
  Progress connect(Thread, Handle qp, verbs::Device& peer, Handle peer_qp, Reply&, Caller&) override;
  Progress modify_qp(Thread, Handle, verbs::QpState, Reply&, Caller&) override;
  Progress query_qp(Thread, Handle, Reply&, Caller&) override;
  Progress next_event(Thread, Reply&, Caller&) override;

  Progress post_send(Thread, Handle, std::span<const verbs::SendRequest>, Reply&, Caller&) override;
  Progress post_recv(Thread, Handle, std::span<const verbs::RecvRequest>, Reply&, Caller&) override;
  Progress post_srq(Thread, Handle, std::span<const verbs::RecvRequest>, Reply&, Caller&) override;
  Progress poll(Thread, Handle cq, verbs::Wait, std::span<verbs::Completion>, Reply&, Caller&) override;
  Progress poll_after(Thread, Handle cq, Time span, std::span<verbs::Completion>, Reply&, Caller&) override;

  Progress compute(Thread, Time, Reply&, Caller&) override;
  Progress sleep_until(Thread, Time, Reply&, Caller&) override;
  Time now() const override;

  std::optional<QpAddress> path_to(Handle qp) override;
  int bring_up(Handle qp, const QpAddress& peer) override;

 private:
  struct Pd {
    ibv_pd* pd = nullptr;
    std::uint32_t nic = 0;
  };
  struct Mr {
    ibv_mr* mr = nullptr;
    Bytes length;
  };
  struct Mw {
    ibv_mw* mw = nullptr;
  };
  struct Cq {
    ibv_cq* cq = nullptr;
    ibv_comp_channel* channel = nullptr;
    /// Taken when it was about to be destroyed, which was refused.
    std::deque<ibv_wc> kept;
  };
  struct Srq {
    ibv_srq* srq = nullptr;
  };
  struct Qp {
    ibv_qp* qp = nullptr;
    std::uint32_t nic = 0;
    verbs::CreateQpRequest asked;
    std::unique_ptr<Connection> connection{};  ///< of an iWARP device
  };
  /// A real call, away; when it began and ended.
  template <class Call>
  Timed away(Thread thread, Call call) {
    turn().check();
    busy_since_[thread] = WallClock::now();
    Timed timed;
    {
      const Turn::Away elsewhere(turn());
      timed.begin = now();
      call();
      timed.end = now();
    }
    busy_since_[thread] = {};
    return timed;
  }
  /// A call has ended: for the record.
  void called(Thread thread, program::Kind kind, Timed timed, const CallFacts& facts) const {
    record().called({number_, thread}, kind, timed, facts);
    turn().got_on();
  }
  /// The same for calls that give 0 or an errno and make nothing.
  template <class Call>
  Progress simple(Thread thread, program::Kind kind, Reply& reply, Call call, Bytes bytes = {});
  /// Destroys what `handle` stands for by `call`, which gives 0 or an errno, when nobody uses it any more.
  template <class T, class Call>
  bool destroy(Thread thread, program::Kind kind, Handles<T>& all, Handle handle, Reply& reply, Call call, Bytes bytes = {});

  Turn& turn() const { return around_.turn; }
  Record& record() const { return around_.record; }
  Who who(Thread thread) const { return {number_, thread}; }
  /// What the thread is allowed to lock, as set_cap_ipc_lock() said for all of its process.
  void assume_capability() const;
  /// Waits as the trace says, away. Throws GivenUp, also for a wait that is longer than the run's patience.
  void sleep_away(Thread thread, WallClock::time_point until);
  void check_patience(Thread thread, WallClock::time_point until) const;
  [[noreturn]] void never_came(Thread thread, const char* what) const;

  /// Counts a completion, and says of it what programs are told.
  verbs::Completion note(const ibv_wc& wc, Time at);
  /// ibv_poll_cq; what was kept comes first.
  static int look(Cq& cq, std::span<ibv_wc> out);
  /// Waits for the channel of a CQ or a moment, away.
  void await_more(Thread thread, const Cq& cq, verbs::Wait wait);
  void remember_keys(const ibv_mr& mr);
  Progress post_receives(Thread thread, program::Kind kind, Handle queue, std::span<const verbs::RecvRequest> requests, Reply& reply);
  /// The ibv_modify_qp that takes it there on the way to RTS; 0 or an errno.
  int to_init(const Qp& qp) const;
  int to_rtr(const Qp& qp, const QpAddress& peer) const;
  int to_rts(const Qp& qp) const;
  /// path_to() for the side that begins the connection.
  std::optional<QpAddress> address_of(const Qp& qp) const;

  // iWARP: see Connection. Each needs the turn and passes it; 0 or an errno.
  Connection::Own own_of(const Qp& qp) const;
  /// Gives the QP a connection that is not there yet; refused if it has one that is.
  int renew(Qp& qp);
  template <class Step>
  int with_connection(Qp& qp, Step step);
  void drop(std::unique_ptr<Connection> connection);
  int listen_for(Qp& qp, QpAddress& address);
  int bring_up_iwarp(Qp& qp, const QpAddress& peer);
  /// Ends what bring_up() began when the other side's has given `error`.
  int conclude(Handle qp, int error);

  Surroundings& around_;
  const std::uint32_t number_;
  std::vector<std::unique_ptr<Nic>> nics_;
  Arena arena_;
  std::vector<WallClock::time_point> busy_since_;  ///< by thread
  bool may_lock_ = true;                           ///< CAP_IPC_LOCK
  std::uint64_t unnumbered_binds_ = 0;

  Handles<Pd> pds_;
  Handles<Mr> mrs_;
  Handles<Mw> mws_;
  Handles<Cq> cqs_;
  Handles<Srq> srqs_;
  Handles<Qp> qps_;
  /// MRs by lkey, as they were when they were last seen: a bind names them so, gone ones too.
  std::map<std::uint32_t, ibv_mr> by_lkey_;
};

/// The errno of a call that gives 0, an errno, or a negative one (some providers).
int errno_of(int result);

}  // namespace mtsim::replay

// An actor: one thread of a program, as a step machine over verbs::Device. It takes operations from its cursor, resolves names to
// handles, addresses and keys, calls the device, checks what it answers against what the line expects, and goes on.
//
// A failed call or an unexpected completion never stops an actor: it goes on as a program that ignores errors would.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "program/actor_lookout.h"
#include "program/actor_observer.h"
#include "program/actor_requests.h"
#include "program/objects.h"
#include "program/op.h"
#include "verbs/device.h"

namespace mtsim::program {

/// `recorded` starts no operation before its `@NS`; `asap` ignores it.
enum class ReplayTime : std::uint8_t { recorded, asap };

class Actor;

/// What the actors of a run share. All of it outlives them.
struct Scene {
  const Names& names;
  Objects& objects;
  std::vector<Requests>& requests;             ///< by host
  std::vector<Lookout>& lookouts;              ///< by host
  const std::vector<verbs::Device*>& devices;  ///< by host: its process
  verbs::Meeting& meeting;
  Observer& observer;
  std::vector<std::vector<Actor*>>& children;  ///< by copy of a process: the actors that run in it
  ReplayTime time = ReplayTime::asap;
};

class Actor final : public verbs::Caller {
 public:
  Actor(ActorId id, const Scene& scene, std::unique_ptr<Cursor> operations);

  /// Runs until the first call that takes time, or waits for the fork that makes its process. The actor must not move from then on:
  /// devices keep a reference to it.
  void start() {
    if (!unborn_) run();
  }
  /// The pending call has been answered.
  void resume() override { run(); }
  bool done() const { return stage_ == Stage::ended; }
  std::uint64_t operations_begun() const { return begun_; }
  std::uint64_t line() const { return op_.line; }
  /// Where it stands, for a report on a run that no longer moves: `client0.t1 at line 17: poll cq n=3`.
  std::string where() const;

 private:
  enum class Stage : std::uint8_t { fetch, issue, answer, close, ended };

  /// Requests that go down in one call: all but the last came with `more`. Sends and receives of one QP make lists of their own.
  struct List {
    struct Line {
      std::uint64_t number = 0, wr = 0;
      std::size_t sges = 0;  ///< how many of the list's scatter elements are its
      Expectation expect;
    };
    /// What a window's name stood for before a bind in the list.
    struct Rebound {
      std::size_t line = 0;
      NameId window = 0;
      Object before;
    };
    bool has_binds = false;                    ///< `binds` and `rebound` are not empty
    NameId queue = 0;                          ///< the QP or SRQ; 0: not in use
    Kind kind = Kind::post_send;               ///< how it goes down
    std::size_t size = 0;                      ///< requests in it
    std::vector<verbs::SendRequest> sends;     ///< with post_send
    std::vector<verbs::RecvRequest> receives;  ///< with the others
    std::vector<verbs::Sge> sges;
    std::deque<verbs::Bind> binds;  ///< which requests point to
    std::vector<Rebound> rebound;
    std::vector<Line> lines;  ///< one a request; only grows, so that expectations keep their capacity
  };

  void run();
  verbs::Progress fetch();
  verbs::Progress issue();
  verbs::Progress close();
  /// Whether the operation is over; a poll may have to go on.
  bool answer();

  // Memory, objects and threads (actor_calls.cpp).
  verbs::Progress issue_call();
  verbs::Progress issue_memory();
  verbs::Progress issue_release();
  verbs::Progress issue_reg_mr();
  verbs::Progress issue_rereg_mr();
  verbs::Progress issue_advise_mr();
  verbs::Progress issue_copy();
  verbs::Progress issue_alloc_mw();
  verbs::Progress issue_bind_mw();
  verbs::Progress issue_create_qp();
  verbs::Progress issue_create_srq();
  verbs::Progress issue_connect();
  verbs::Progress issue_fork();
  /// The fork of its process has ended: the actor goes on, or ends without having done anything.
  void be_born(bool alive);
  void record_reply();
  void record_made();
  void record_gone();
  /// The window's name stands for another key and place from now on.
  void rebind(NameId window, mtsim::Key key, Iova address, verbs::Access access);

  // What devices are asked (actor_ask.cpp).
  /// Whether what the line expects is not how its call ends.
  bool expects_answer() const { return op_.kind == Kind::poll || op_.kind == Kind::query_qp || op_.kind == Kind::event; }
  std::string expected_answer() const;
  bool is_answer_expected() const;
  void judge_answer();

  // Work requests (actor_post.cpp).
  verbs::Progress issue_post();
  void append_request(List&);
  /// 0, or the name of the object that is lacking.
  [[gnu::noinline]] std::optional<NameId> append_window_work(List&, verbs::SendRequest&);
  [[gnu::noinline]] void undo_binds(List&, std::size_t accepted);
  [[gnu::noinline]] static void drop_binds(List&);
  template <class Request>
  static void attach_sges(const List&, std::vector<Request>&);
  verbs::Progress submit(List&);
  verbs::Progress submit_receives(List&);
  std::uint32_t queue_of(const List&) const;
  void answer_post();
  List& list_of(NameId queue, Kind);
  void clear(List&);

  // Completions (actor_poll.cpp).
  verbs::Progress issue_poll();
  verbs::Progress await_cq();
  /// Those who wait for `made`, or have waited in vain, go on.
  void wake_waiters(NameId made);
  /// Whether another thread of the host has still to come to the line where this one stands.
  bool others_behind() const;
  bool answer_poll();
  void take(const verbs::Completion&);
  bool satisfies(const verbs::Completion&, std::uint32_t shared);
  void judge(const verbs::Completion&);
  void judge_hazard(const verbs::Completion&, std::uint64_t wr);

  /// Nanoseconds of a program as a time; what no count of picoseconds holds becomes very long.
  static Time span(std::uint64_t nanoseconds);
  /// The line needs an object that is not there: it fails by itself and does nothing.
  verbs::Progress lack(NameId id);
  void judge_error(const Expectation&, std::uint64_t line, std::uint64_t wr, int error);
  void report(std::uint64_t line, std::uint64_t wr, std::string expected, std::string got);
  /// The current operation in short, with `wr` as its request when it has one.
  std::string text(std::uint64_t wr) const;
  std::string qualified(NameId id) const;

  const ActorId id_;
  const Scene scene_;
  const verbs::Thread thread_;
  const std::uint32_t process_;  ///< 0, or one more than the copy of a process that it runs in
  verbs::Device* const device_;
  Requests& requests_;
  Lookout& lookout_;
  const std::unique_ptr<Cursor> operations_;

  Stage stage_ = Stage::fetch;
  Op op_;
  verbs::Reply reply_;
  std::uint64_t begun_ = 0;
  bool unborn_ = false;         ///< its process has not been forked
  bool exhausted_ = false;      ///< the cursor has come to its end
  bool copied_ = false;         ///< of a copy: what is copied has been read
  bool lacking_ = false;        ///< the current line lacks an object and has failed
  verbs::RegMrRequest reg_mr_;  ///< of the call under way
  verbs::ReregMrRequest rereg_mr_;
  verbs::BindMwRequest bind_mw_;
  verbs::ForkRequest fork_;
  std::vector<verbs::Thread> fork_threads_;
  std::vector<verbs::Sge> advised_;  ///< of the advise_mr under way
  std::vector<std::unique_ptr<List>> lists_;
  std::size_t open_lists_ = 0;
  List* submitted_ = nullptr;  ///< the list whose call is under way
  std::uint32_t wanted_ = 0;   ///< completions that the current poll still waits for
  bool polling_ = false;       ///< the device was asked, so `taken_` holds its answer
  bool awaiting_ = false;      ///< the poll's CQ was not there yet
  bool hopeless_ = false;      ///< the poll waits for a request that can never complete
  std::array<verbs::Completion, 32> taken_;
};

/// The operations that an Actor can pass to a device, in the words of Program::uses().
const std::set<std::string>& carried_out();

/// Throws a UserError that names each kind of operation which the program uses and `supported` lacks, once, with its first place.
void refuse_unsupported(const Program&, const std::set<std::string>& supported);

}  // namespace mtsim::program

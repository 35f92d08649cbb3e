// What a replay has seen: every call with its time and answer, every request from its post to its completion. It fills the results as a
// simulation does. All of it needs the turn.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "program/actors.h"
#include "program/op.h"
#include "results/block_writer.h"
#include "results/operations_file.h"
#include "results/report.h"
#include "verbs/device.h"

namespace mtsim::replay {

/// A thread of a host of the trace.
struct Who {
  std::uint32_t host = 0;
  verbs::Thread thread = 0;
};

/// A real call: when it began and when it returned, since the start of the run.
struct Timed {
  Time begin, end;
  Time span() const { return end - begin; }
};

/// What a call was about, for those that have it.
struct CallFacts {
  int error = 0;
  Bytes bytes;               ///< of a registration
  Pages pages;               ///< base pages that these touch
  std::uint64_t faults = 0;  ///< page faults of the thread meanwhile
  Key lkey, rkey;            ///< that it gave
};

/// Files that are written while it runs; null for what is not wanted.
struct Files {
  results::OperationsFile* operations = nullptr;
  results::BlockWriter* calls = nullptr;
};

/// The steps of a work request that a program can see, and those of a call.
std::vector<std::string> request_steps();
std::string calls_header();

class Record {
 public:
  Record(const program::Names& names, Files files);

  /// Where a thread stands in the trace, for the calls' file.
  void line_from(const program::Actors* actors) { running_ = actors; }
  /// `a.t0 at line 17: poll cq wr=2`
  std::string where(Who who) const { return running_->where(actors_of_[who.host][who.thread]); }
  const program::Names& names() const { return names_; }

  void called(Who who, program::Kind kind, Timed timed, const CallFacts& facts);
  /// The registration that ended had so many bytes.
  void deregistered(Bytes bytes) { pinned_ -= bytes; }
  void registered(Bytes bytes);

  // Requests. A queue is one of a QP's, or a shared one: its handle there; sends, receives and shared receives are told apart.
  enum class Side : std::uint8_t { send, receive, shared };
  void posted(std::uint32_t host, Side side, verbs::Handle queue, std::uint64_t wr, verbs::Opcode opcode, std::uint64_t bytes, Timed timed);
  /// A post refused it. Some devices keep it in their queue all the same, and complete it later.
  void refused(std::uint32_t host, verbs::Handle queue, std::uint64_t wr, verbs::Opcode opcode, std::uint64_t bytes, Timed timed) {
    hosts_[host].refused[wr] = {Side::send, queue, opcode, bytes, timed, true};
  }
  /// Fills in what the request was. Requests posted before it that asked for no completion have ended too.
  verbs::Completion completed(std::uint32_t host, std::uint64_t wr, verbs::Status status, std::uint32_t bytes, std::uint32_t qpn, Time at);
  void name_qp(std::uint32_t host, verbs::Handle qp, std::uint32_t qpn) { hosts_[host].qpns[qp] = qpn; }
  void name_qp(program::NameId name, std::uint32_t qpn);
  /// What is under way in the queues of a QP does not complete any more: it was destroyed or reset. `done`: what asked for no completion
  /// has succeeded.
  void forget(std::uint32_t host, verbs::Handle qp, bool done, Time at);

  /// Operations, completions, registrations and calls of all this.
  void fill(results::Report& report) const;

 private:
  struct Request {
    Side side = Side::send;
    verbs::Handle queue = 0;
    verbs::Opcode opcode = verbs::Opcode::write;
    std::uint64_t bytes = 0;
    Timed post;
    bool orphan = false;  ///< its queue is gone; its completion may still lie in a CQ
  };
  struct Host {
    std::unordered_map<std::uint64_t, Request> requests, refused;
    std::map<verbs::Handle, std::deque<std::uint64_t>> sends, receives;  ///< by QP, in order
    std::map<verbs::Handle, std::uint32_t> qpns;
    std::map<std::uint32_t, std::string> qp_names;  ///< by number
    std::map<std::uint32_t, std::string> queues;    ///< by number: the columns that name it
  };
  struct Kept {
    std::uint64_t completed = 0, bytes = 0;
    results::LatencyTable latency{request_steps()};
  };

  void end(std::uint32_t host, std::uint64_t wr, const Request& request, std::uint32_t qpn, verbs::Status status, std::uint64_t bytes,
           Time at, bool cqe);
  const std::string& queue(Host& host, std::uint32_t number, std::uint32_t qpn);
  results::CallStats& stats_of(program::Kind kind);

  const program::Names& names_;
  Files files_;
  const program::Actors* running_ = nullptr;
  std::vector<Host> hosts_;
  std::vector<std::vector<program::ActorId>> actors_of_;  ///< by host and thread
  std::array<Kept, verbs::opcode_count> operations_;
  std::array<std::uint64_t, verbs::status_count> statuses_{};
  std::map<program::Kind, results::NamedCalls> calls_;
  std::uint64_t registration_faults_ = 0;
  Bytes pinned_, pinned_most_;
};

}  // namespace mtsim::replay

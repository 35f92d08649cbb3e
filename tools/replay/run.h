// One run of a trace: its devices, its threads, what came out.
#pragma once

#include <exception>
#include <memory>
#include <vector>

#include "meeting.h"
#include "peers.h"
#include "process.h"
#include "session.h"

namespace mtsim::replay {

/// Counts what actors meet, passes on what QPs are called, and tells other processes what names stand for.
class Watch final : public program::Observer {
 public:
  Watch(Record& record, Peers* peers) : record_(record), peers_(peers) {}
  void called(program::Kind kind, int error) override { tally.called(kind, error); }
  void lacked_object(program::Kind kind) override { tally.lacked_object(kind); }
  void left_unposted(std::uint64_t wr) override { tally.left_unposted(wr); }
  void completed(verbs::Opcode opcode, verbs::Status status) override { tally.completed(opcode, status); }
  void made_qp(program::NameId name, std::uint32_t qpn) override { record_.name_qp(name, qpn); }
  void object_changed(program::NameId name, const program::Object& object) override {
    if (peers_ != nullptr) peers_->publish(name, object);
  }
  void unexpected(const program::Surprise& surprise) override { tally.unexpected(surprise); }

  program::Tally tally;

 private:
  Record& record_;
  Peers* const peers_;
};

class Run final : private Peers::Side {
 public:
  /// `company.peers` null: all hosts run here.
  Run(const program::Trace& trace, const Options& options, Files files, const Company& company);
  ~Run();

  void run();
  Outcome outcome() const;
  /// A thread hangs in the kernel: nothing can be cleaned up, the process can only end.
  bool lost() const { return lost_; }

 private:
  void learn(program::NameId name, const program::Object& object) override;
  Endpoint& endpoint(std::uint32_t host) override { return *processes_.at(host); }

  bool is_local(program::ActorId id) const { return processes_[trace_.names().actors()[id].host] != nullptr; }
  /// An actor's thread.
  void be(program::ActorId id);
  /// Waits for all threads; has the turn.
  void supervise();
  /// The common start and end of all processes of the run; has the turn.
  void begin();
  void end();

  const program::Trace& trace_;
  const Options& options_;
  Turn& turn_;
  Peers* const peers_;
  Record record_;
  Surroundings around_;
  Watch watch_;
  Meeting meeting_;
  std::vector<std::unique_ptr<Process>> processes_;     ///< by host; null for those that run elsewhere
  std::vector<std::unique_ptr<verbs::Device>> others_;  ///< those
  std::unique_ptr<program::Actors> actors_;
  std::size_t running_ = 0;  ///< threads
  std::exception_ptr failure_;
  bool lost_ = false;
  Time end_;
};

}  // namespace mtsim::replay

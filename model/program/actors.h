// All actors of one run, with what they share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "program/actor.h"

namespace mtsim::program {

class Actors {
 public:
  /// `devices` gives the process of each of the program's hosts, in the order of Names::hosts(). Program, devices, meeting and
  /// observer must outlive the actors.
  Actors(const Program& program, std::vector<verbs::Device*> devices, verbs::Meeting& meeting, Observer& observer, ReplayTime time);
  Actors(const Actors&) = delete;
  Actors& operator=(const Actors&) = delete;

  /// Lets each run to its first call that takes time, in the order of the program's actors.
  void start();
  /// The same for one of them, where each has a thread of its own: a device that never leaves a call pending returns when it has ended.
  void start(ActorId actor) { actors_[actor]->start(); }
  /// The line of the trace at which it stands.
  std::uint64_t line_of(ActorId actor) const { return actors_[actor]->line(); }
  std::string where(ActorId actor) const { return actors_[actor]->where(); }
  bool done(ActorId actor) const { return actors_[actor]->done(); }
  /// What a name of a host stands for whose actors run elsewhere: as its process says.
  void learn(NameId id, const Object& object) { objects_[id] = object; }
  bool done() const;
  std::uint64_t operations_begun() const;
  /// Where each actor stands that has not ended.
  std::vector<std::string> standing() const;

 private:
  Objects objects_;
  std::vector<Requests> requests_;
  std::vector<Lookout> lookouts_;
  std::vector<verbs::Device*> devices_;
  std::vector<std::vector<Actor*>> children_;
  std::vector<std::unique_ptr<Actor>> actors_;  ///< devices keep references to them, so none may move
};

}  // namespace mtsim::program

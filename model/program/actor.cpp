#include "program/actor.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "program/expect.h"

namespace mtsim::program {

using verbs::Progress;

Time Actor::span(std::uint64_t nanoseconds) {
  // Half of what fits, so that it can still be added to the present.
  constexpr std::uint64_t longest = std::numeric_limits<std::int64_t>::max() / 2'000;
  return ns(static_cast<std::int64_t>(std::min(nanoseconds, longest)));
}

Actor::Actor(ActorId id, const Scene& scene, std::unique_ptr<Cursor> operations)
    : id_(id),
      scene_(scene),
      thread_(scene.names.actors()[id].thread),
      process_(scene.names.child_of(id) ? *scene.names.child_of(id) + 1 : 0),
      device_(scene.devices[scene.names.actors()[id].host]),
      requests_(scene.requests[scene.names.actors()[id].host]),
      lookout_(scene.lookouts[scene.names.actors()[id].host]),
      operations_(std::move(operations)),
      unborn_(process_ != 0) {
  if (unborn_) scene.children[process_ - 1].push_back(this);
  lists_.push_back(std::make_unique<List>());
  lookout_.threads.push_back(this);
}

void Actor::run() {
  while (stage_ != Stage::ended) {
    Progress progress = Progress::done;
    switch (stage_) {
      case Stage::fetch:
        progress = fetch();
        break;
      case Stage::issue:
        stage_ = Stage::answer;
        reply_ = {};
        progress = issue();
        break;
      case Stage::answer:
        stage_ = answer() ? Stage::fetch : Stage::issue;
        break;
      case Stage::close:
        progress = close();
        break;
      case Stage::ended:
        break;
    }
    if (progress == Progress::pending) return;
  }
}

Progress Actor::fetch() {
  exhausted_ = exhausted_ || !operations_->next(op_);
  if (exhausted_) {
    stage_ = Stage::close;
    return Progress::done;
  }
  if (!lookout_.waiters.empty()) wake_waiters(0);
  ++begun_;
  stage_ = Stage::issue;
  lacking_ = copied_ = false;
  wanted_ = std::max<std::uint32_t>(op_.count, 1);
  if (scene_.time == ReplayTime::asap || op_.at_ns <= 0) return Progress::done;
  const Time earliest = span(static_cast<std::uint64_t>(op_.at_ns));
  return device_->now() < earliest ? device_->sleep_until(thread_, earliest, reply_, *this) : Progress::done;
}

Progress Actor::issue() {
  switch (op_.kind) {
    case Kind::post_send:
    case Kind::post_recv:
    case Kind::post_srq:
      return issue_post();
    case Kind::poll:
      return issue_poll();
    case Kind::barrier:
      return scene_.meeting.arrive(*device_, thread_, op_.barrier, op_.count, *this);
    case Kind::compute:
      return device_->compute(thread_, span(op_.number), reply_, *this);
    case Kind::sleep:
      return device_->sleep_until(thread_, device_->now() + span(op_.number), reply_, *this);
    default:
      return issue_call();
  }
}

bool Actor::answer() {
  if (posts(op_.kind)) {
    if (submitted_) answer_post();
    return true;
  }
  if (lacking_) return true;
  if (op_.kind == Kind::poll) return answer_poll();
  if (op_.kind == Kind::copy && reply_.error == 0 && !std::exchange(copied_, true)) return false;
  record_reply();
  if (expects_answer()) judge_answer();
  else judge_error(op_.expect, op_.line, op_.wr, reply_.error);
  if (op_.kind == Kind::fork)
    for (Actor* actor : scene_.children[op_.child]) actor->be_born(reply_.error == 0);
  return true;
}

void Actor::be_born(bool alive) {
  unborn_ = false;
  exhausted_ = !alive;
  run();
}

/// A list whose last line still said `more` goes down at the end of the program: nothing that was written is left out.
Progress Actor::close() {
  for (const auto& list : lists_)
    if (list->queue != 0) {
      op_.kind = list->kind;
      op_.id = list->queue;
      stage_ = Stage::answer;
      reply_ = {};
      return submit(*list);
    }
  requests_.ended(thread_);
  stage_ = Stage::ended;
  if (!lookout_.waiters.empty()) wake_waiters(0);
  return Progress::done;
}

Progress Actor::lack(NameId id) {
  lacking_ = true;
  scene_.observer.lacked_object(op_.kind);
  scene_.observer.called(op_.kind, EINVAL);
  // What a poll or a question expects is an answer; a call that fails is never that.
  const bool expected = expects_answer() ? op_.expect.any : allows_error(op_.expect, EINVAL);
  if (expected) return Progress::done;
  const Life life = id == 0 ? Life::unmade : scene_.objects[id].life;
  const char* why = life == Life::failed ? " could not be made" : life == Life::gone ? " is gone" : " has not been made";
  if (life == Life::alive) why = " is an object of another kind";
  report(op_.line, op_.wr, expects_answer() ? expected_answer() : expected_errors(op_.expect), "EINVAL: " + qualified(id) + why);
  return Progress::done;
}

void Actor::judge_error(const Expectation& expect, std::uint64_t line, std::uint64_t wr, int error) {
  scene_.observer.called(op_.kind, error);
  if (!allows_error(expect, error)) report(line, wr, expected_errors(expect), std::string(verbs::errno_name(error)));
}

void Actor::report(std::uint64_t line, std::uint64_t wr, std::string expected, std::string got) {
  scene_.observer.unexpected({id_, line, text(wr), std::move(expected), std::move(got)});
}

std::string Actor::qualified(NameId id) const {
  if (id == 0) return "an object";
  return scene_.names.hosts()[scene_.names.host_of(id)] + '.' + scene_.names.object_name(id);
}

std::string Actor::text(std::uint64_t wr) const {
  std::string text(name(op_.kind));
  if (op_.kind == Kind::fork) return text + ' ' + scene_.names.child_name(op_.child);
  if (op_.kind == Kind::barrier) return text + ' ' + scene_.names.barrier_name(op_.barrier) + " n=" + std::to_string(op_.count);
  if (op_.kind == Kind::event) return text + " expect=" + op_.word;
  if (op_.id != 0) text += ' ' + scene_.names.object_name(op_.id);
  if (posts(op_.kind) || (op_.kind == Kind::poll && op_.has_wr)) text += " wr=" + std::to_string(wr);
  else if (op_.kind == Kind::poll && op_.idle) text += " idle=" + std::to_string(op_.number);
  else if (op_.kind == Kind::poll) text += " n=" + std::to_string(std::max<std::uint32_t>(op_.count, 1));
  return text;
}

std::string Actor::where() const {
  const std::string& who = scene_.names.actors()[id_].name;
  if (done()) return who + " has ended";
  if (unborn_) return who + " waits for fork " + scene_.names.child_name(process_ - 1);
  if (begun_ == 0) return who + " has not started";
  return who + " at line " + std::to_string(op_.line) + ": " + text(op_.wr);
}

}  // namespace mtsim::program

// Actors take completions.
//
// `n=` counts those newly taken. `wr=` takes one at a time until the wanted one comes and sets the others aside for a later `wr=`; which
// one a receive of a shared queue may take instead of its own is said in actor_requests.h. Two threads that wait on one CQ by `wr=` at once
// can take each other's completions; the one that then waits in vain is for the watchdog to report.
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>

#include "program/actor.h"
#include "program/expect.h"
#include "program/trace_words.h"

namespace mtsim::program {

using verbs::Progress;

Progress Actor::issue_poll() {
  const verbs::Handle cq = scene_.objects.handle(op_.id, ObjectKind::cq);
  if (cq == 0) return scene_.objects[op_.id].life == Life::unmade && others_behind() ? await_cq() : lack(op_.id);
  polling_ = true;
  hopeless_ = false;
  if (op_.idle) return device_->poll_after(thread_, cq, span(op_.number), taken_, reply_, *this);
  if (!op_.has_wr) {
    const std::size_t most = std::min<std::size_t>(wanted_, taken_.size());
    return device_->poll(thread_, cq, op_.wait, std::span(taken_).first(most), reply_, *this);
  }
  if (const auto kept = requests_.take_aside(op_.id, op_.wr)) {
    polling_ = false;
    judge(*kept);
    return Progress::done;
  }
  if (!requests_.may_complete(op_.wr, op_.id, thread_)) {
    polling_ = false;
    hopeless_ = true;
    return Progress::done;
  }
  return device_->poll(thread_, cq, op_.wait, std::span(taken_).first(1), reply_, *this);
}

Progress Actor::await_cq() {
  awaiting_ = true;
  const auto barrier = static_cast<std::uint32_t>(scene_.names.barrier_count() + id_);
  lookout_.waiters.push_back({this, op_.id, barrier});
  return scene_.meeting.arrive(*device_, thread_, barrier, 2, *this);
}

void Actor::wake_waiters(NameId made) {
  for (std::size_t i = 0; i < lookout_.waiters.size();) {
    const Lookout::Waiter waiter = lookout_.waiters[i];
    if (waiter.cq != made && waiter.actor->others_behind()) {
      ++i;
      continue;
    }
    lookout_.waiters.erase(lookout_.waiters.begin() + static_cast<std::ptrdiff_t>(i));
    scene_.meeting.arrive(*device_, thread_, waiter.barrier, 2, *this);  // the second to come: it does not wait
  }
}

bool Actor::others_behind() const {
  return std::any_of(lookout_.threads.begin(), lookout_.threads.end(),
                     [this](const Actor* a) { return a != this && !a->done() && a->op_.line < op_.line; });
}

bool Actor::answer_poll() {
  if (std::exchange(awaiting_, false)) return false;
  if (hopeless_) {
    scene_.observer.called(Kind::poll, EINVAL);
    report(op_.line, op_.wr, expected_statuses(op_.expect, op_.wr),
           "nothing: no such request is under way on this CQ, so it can never complete");
    return true;
  }
  if (polling_) {
    if (reply_.error != 0) {
      scene_.observer.called(Kind::poll, reply_.error);
      if (!op_.expect.any) report(op_.line, op_.wr, expected_statuses(op_.expect, op_.wr), std::string(verbs::errno_name(reply_.error)));
      return true;
    }
    assert((reply_.value > 0 || op_.idle) && "a poll ends with a completion");
    for (std::size_t i = 0; i < reply_.value; ++i) take(taken_[i]);
    if (!op_.idle && wanted_ != 0) return false;
  }
  scene_.observer.called(Kind::poll, 0);
  return true;
}

void Actor::take(const verbs::Completion& c) {
  const std::uint32_t shared = requests_.taken(c.wr);
  scene_.observer.completed(c.opcode, c.status);
  if (satisfies(c, shared)) {
    judge(c);
    return;
  }
  requests_.set_aside(op_.id, c, shared);
  // A later `wr=` may still want what came too early.
  if (op_.idle && !op_.expect.any)
    report(op_.line, c.wr, "no completion", std::string(verbs::name(c.status)) + " of wr=" + std::to_string(c.wr));
}

/// Whether it is what the line waits for.
bool Actor::satisfies(const verbs::Completion& c, std::uint32_t shared) {
  if (op_.idle) return false;
  if (shared == Requests::none) return !op_.has_wr || c.wr == op_.wr;
  if (op_.has_wr) return requests_.claim(op_.wr, shared, c.wr);
  requests_.consumed(c.wr, shared);
  return true;
}

void Actor::judge(const verbs::Completion& c) {
  --wanted_;
  // With `wr=` the line speaks of its own request, also where the completion of another receive of its shared queue stands for it.
  const std::uint64_t wr = op_.has_wr ? op_.wr : c.wr;
  if (allows_status(op_.expect, wr, c.status)) {
    if (op_.hazard != Op::Hazard::unsaid) [[unlikely]]
      judge_hazard(c, wr);
    return;
  }
  std::string got(verbs::name(c.status));
  if (!op_.has_wr || c.wr != wr) got += " of wr=" + std::to_string(c.wr);
  report(op_.line, wr, expected_statuses(op_.expect, wr), std::move(got));
}

void Actor::judge_hazard(const verbs::Completion& c, std::uint64_t wr) {
  const auto expected = static_cast<std::size_t>(op_.hazard) - 1;
  const auto got = static_cast<std::size_t>(c.hazard);
  if (expected != got)
    report(op_.line, wr, fmt::format("hazard={}", hazard_words()[expected]), fmt::format("hazard={}", hazard_words()[got]));
}

}  // namespace mtsim::program

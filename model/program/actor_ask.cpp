// Actors ask what state a QP is in and which event comes next, and hold the answer against what the line expects.
#include <algorithm>

#include "program/actor.h"
#include "program/expect.h"
#include "program/trace_words.h"

namespace mtsim::program {

std::string Actor::expected_answer() const {
  if (op_.kind == Kind::poll) return expected_statuses(op_.expect, op_.wr);
  return op_.kind == Kind::query_qp ? expected_states(op_.expect) : expected_events(op_.expect);
}

bool Actor::is_answer_expected() const {
  const Expectation& e = op_.expect;
  const auto listed = [&](const auto& same) { return std::any_of(e.words.begin(), e.words.end(), same); };
  if (e.any) return true;
  if (op_.kind == Kind::query_qp) return listed([&](std::int32_t word) { return word == static_cast<std::int32_t>(reply_.value); });
  // A trace knows events that no device here raises.
  const std::string_view got = verbs::name(static_cast<verbs::Event>(reply_.value));
  return listed([&](std::int32_t word) { return event_words()[static_cast<std::size_t>(word)] == got; });
}

void Actor::judge_answer() {
  scene_.observer.called(op_.kind, reply_.error);
  if (reply_.error == 0 && is_answer_expected()) return;
  std::string_view got = verbs::errno_name(reply_.error);
  if (reply_.error == 0 && op_.kind == Kind::query_qp) got = verbs::name(static_cast<verbs::QpState>(reply_.value));
  else if (reply_.error == 0) got = verbs::name(static_cast<verbs::Event>(reply_.value));
  report(op_.line, op_.wr, expected_answer(), std::string(got));
}

}  // namespace mtsim::program

// Which states follow which, what does each let a program post, and what does an error do to a QP?
#include "verbs/qp_state.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

using namespace mtsim;
using namespace mtsim::verbs;

namespace {

constexpr std::array states{QpState::reset, QpState::init, QpState::rtr, QpState::rts, QpState::sqd, QpState::sqe, QpState::err};
Rules set(const std::string& name) { return *RuleSets::make(name); }

}  // namespace

TEST_CASE("ibv_modify_qp goes the ways that the kernel's table has", "[rule:qp.modify]") {
  // One line a state, one column each state to come, in the order reset init rtr rts sqd sqe err.
  const std::map<QpState, std::string> table{{QpState::reset, "yy....."}, {QpState::init, "yyy...y"}, {QpState::rtr, "y..y..y"},
                                             {QpState::rts, "y..yy.y"},   {QpState::sqd, "y..yy.y"},  {QpState::sqe, "y..y..y"},
                                             {QpState::err, "y.....y"}};
  for (const QpType type : {QpType::rc, QpType::uc, QpType::ud})
    for (const auto& [from, row] : table)
      for (const QpState to : states) {
        INFO(name(type) << ' ' << name(from) << ' ' << name(to));
        const bool reliable_sqe = type == QpType::rc && from == QpState::sqe;
        CHECK(is_change_allowed(type, from, to) == (row[unsigned(to)] == 'y' && !reliable_sqe));
      }
}

TEST_CASE("sends may be posted from RTS on, receives from INIT on; both are flushed in ERR",
          "[rule:6.1][rule:6.2][rule:6.3][rule:7.18][rule:10.22]") {
  const std::map<QpState, std::array<QueueWork, 2>> table{
      {QpState::reset, {QueueWork::refused, QueueWork::refused}}, {QpState::init, {QueueWork::refused, QueueWork::kept}},
      {QpState::rtr, {QueueWork::refused, QueueWork::done}},      {QpState::rts, {QueueWork::done, QueueWork::done}},
      {QpState::sqd, {QueueWork::finishing, QueueWork::done}},    {QpState::sqe, {QueueWork::flushed, QueueWork::done}},
      {QpState::err, {QueueWork::flushed, QueueWork::flushed}}};
  for (const auto& [state, work] : table) {
    INFO(name(state));
    CHECK(send_work(state) == work[0]);
    CHECK(receive_work(state) == work[1]);
    CHECK(refuses_posts(send_work(state)) == (work[0] == QueueWork::refused));
    CHECK(listens(state) == (work[1] == QueueWork::done));
    CHECK(keeps_windows(state) == (state != QpState::reset));
  }
}

TEST_CASE("an error of a request ends an RC QP, and the send queue alone of an unreliable one unless it is rxe's",
          "[rule:7.15][rule:7.16][rule:qp.sqe]") {
  for (const std::string& name : RuleSets::names()) {
    INFO(name);
    const Rules rules = set(name);
    const bool rxe = name.starts_with("rxe");
    CHECK(after_request_error(QpType::rc, QpState::rts, rules) == QpState::err);
    for (const QpType type : {QpType::uc, QpType::ud}) {
      CHECK(after_request_error(type, QpState::rts, rules) == (rxe ? QpState::err : QpState::sqe));
      CHECK(after_request_error(type, QpState::err, rules) == QpState::err);
      CHECK(flushed_by_error(type, true, rules).sends);
      if (!rxe) CHECK_FALSE(flushed_by_error(type, true, rules).receives);
    }
    CHECK(flushed_by_error(QpType::rc, true, rules).sends);
    CHECK(flushed_by_error(QpType::rc, true, rules).receives);
    CHECK(flushed_by_error(QpType::rc, false, rules).sends);
    CHECK(flushed_by_error(QpType::rc, false, rules).receives);
  }
  for (const QpState state : states) CHECK(after_receive_error(state) == QpState::err);
}

TEST_CASE("an error is told also of a request that did not ask; success only of one that did", "[rule:7.14][rule:7.17]") {
  for (unsigned code = 0; code < status_count; ++code) {
    CHECK(leaves_completion(Status(code), true));
    CHECK(leaves_completion(Status(code), false) == (Status(code) != Status::SUCCESS));
  }
}

TEST_CASE("a QP in SQD is drained when none of its begun requests is left, and no other ever is", "[rule:qp.drain]") {
  for (const QpState state : states) {
    CHECK(is_drained(state, 0) == (state == QpState::sqd));
    CHECK_FALSE(is_drained(state, 1));
  }
}

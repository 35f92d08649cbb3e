// Do asynchronous events reach whoever asks, and does query_qp ask the device?
#include <catch2/catch.hpp>
#include <cerrno>
#include <vector>

#include "support/host_rig.h"

using namespace mtsim;
using test::HostRig;
using test::HostSettings;
using test::Waiter;
using verbs::Event;
using verbs::QpState;

namespace {

struct Asked {
  Waiter waiter;
  verbs::Progress progress;

  Asked(HostRig& rig, verbs::Thread thread) : waiter(rig.scheduler), progress(rig.device.next_event(thread, waiter.reply, waiter)) {}
  Event event() const { return static_cast<Event>(waiter.reply.value); }
};

verbs::Handle make_qp(HostRig& rig, verbs::QpType type = verbs::QpType::rc) {
  verbs::CreateQpRequest request;
  request.pd = rig.pd();
  request.send_cq = request.recv_cq = rig.ask([&](auto& r, auto& c) { return rig.device.create_cq(0, 16, r, c); }).handle;
  request.type = type;
  return rig.ask([&](auto& r, auto& c) { return rig.device.create_qp(0, request, r, c); }).handle;
}

int modify(HostRig& rig, verbs::Handle qp, QpState state) {
  return rig.ask([&](auto& r, auto& c) { return rig.device.modify_qp(0, qp, state, r, c); }).error;
}

verbs::Reply query(HostRig& rig, verbs::Handle qp) {
  return rig.ask([&](auto& r, auto& c) { return rig.device.query_qp(0, qp, r, c); });
}

}  // namespace

TEST_CASE("an event that came before is read by a system call", "[events]") {
  HostRig rig;
  rig.kernel.raised(Event::QP_REQ_ERR, 1);
  rig.kernel.raised(Event::CQ_ERR, 0);
  const Time begin = rig.scheduler.now();
  Asked first(rig, 0);
  rig.run();
  REQUIRE(first.waiter.done);
  CHECK(first.event() == Event::QP_REQ_ERR);
  CHECK(first.waiter.at == begin + us(1));
  CHECK(rig.cpus.times()[ports::Work::interrupt] == Time());
  Asked second(rig, 0);
  rig.run();
  CHECK(second.event() == Event::CQ_ERR);
}

TEST_CASE("a thread that waits for an event leaves its CPU, and is woken by the interrupt", "[events]") {
  HostRig rig;
  Asked asked(rig, 0);
  REQUIRE(asked.progress == verbs::Progress::pending);
  rig.run();
  CHECK_FALSE(asked.waiter.done);
  const Time busy = rig.cpus.times()[ports::Work::syscall];
  rig.scheduler.spawn([](HostRig& r, Time when) -> engine::Flow {
    co_await engine::Until(r.scheduler, when, engine::Order(1));
    r.kernel.raised(Event::QP_ACCESS_ERR, 3);
  }(rig, us(500)));
  rig.run();
  REQUIRE(asked.waiter.done);
  CHECK(asked.event() == Event::QP_ACCESS_ERR);
  CHECK(asked.waiter.at == us(500) + us(4 + 7));
  CHECK(rig.cpus.times()[ports::Work::syscall] == busy);
  CHECK(rig.cpus.times()[ports::Work::interrupt] == us(11));
}

TEST_CASE("each event goes to one thread, those who have waited longest first", "[events]") {
  HostRig rig;
  Asked first(rig, 1);
  rig.run();
  Asked second(rig, 0);
  rig.run();
  rig.kernel.raised(Event::QP_FATAL, 1);
  rig.run();
  CHECK(first.waiter.done != second.waiter.done);
  rig.kernel.raised(Event::COMM_EST, 1);
  rig.run();
  REQUIRE(first.waiter.done);
  REQUIRE(second.waiter.done);
  CHECK(first.event() == Event::QP_FATAL);
  CHECK(second.event() == Event::COMM_EST);
}

TEST_CASE("query_qp tells the state that the device has, not what was set, in the time of a command", "[events]") {
  HostSettings settings;
  settings.driver.query_qp = us(30);
  HostRig rig(settings);
  const verbs::Handle qp = make_qp(rig);
  REQUIRE(modify(rig, qp, QpState::init) == 0);
  rig.nic.qps[0].state = QpState::err;  // of the device's own accord
  const std::size_t commands = rig.nic.commands.size();
  const Time begin = rig.scheduler.now();
  const verbs::Reply reply = query(rig, qp);
  CHECK(reply.error == 0);
  CHECK(static_cast<QpState>(reply.value) == QpState::err);
  CHECK(rig.nic.commands.size() == commands + 1);
  // Entry; the command with its one mailbox; 2 us of the stub and the firmware; waking up.
  CHECK(rig.scheduler.now() - begin == us(1) + ns(1700 + 150) + us(2 + 30) + us(4 + 7));
  CHECK(query(rig, 77).error == EINVAL);
}

TEST_CASE("without a device there is no command to ask it by", "[events]") {
  HostSettings settings;
  settings.driver.table_writer = "software";
  HostRig rig(settings);
  const verbs::Handle qp = make_qp(rig);
  const Time begin = rig.scheduler.now();
  CHECK(static_cast<QpState>(query(rig, qp).value) == QpState::reset);
  CHECK(rig.scheduler.now() - begin == us(1));
  CHECK(rig.nic.commands.empty());
}

TEST_CASE("changes of state that need no path", "[events][rule:qp.modify]") {
  using enum QpState;
  const std::vector<QpState> states{reset, init, rtr, rts, sqd, sqe, err};
  // ib_modify_qp_is_ok, but for RTR and RTS of a QP that is not connected yet.
  const auto allowed = [](QpState from, QpState to) {
    if (to == reset) return true;
    if (to == err) return from != reset;
    if (to == init) return from == reset || from == init;
    if (to == rts) return from == rts || from == sqd || from == sqe;
    return to == sqd && (from == rts || from == sqd);
  };
  HostRig rig;
  const verbs::Handle qp = make_qp(rig, verbs::QpType::uc);
  for (const QpState from : states)
    for (const QpState to : states) {
      CAPTURE(verbs::name(from), verbs::name(to));
      rig.nic.qps[0].state = from;
      CHECK(modify(rig, qp, to) == (allowed(from, to) ? 0 : EINVAL));
      CHECK(rig.nic.qps[0].state == (allowed(from, to) ? to : from));
    }
}

TEST_CASE("a QP that left SQE for RTS takes sends again", "[events][rule:qp.sqe]") {
  HostRig rig;
  const verbs::Handle qp = make_qp(rig, verbs::QpType::ud);
  for (const QpState state : {QpState::init, QpState::rtr, QpState::rts}) REQUIRE(modify(rig, qp, state) == 0);
  rig.nic.qps[0].state = QpState::sqe;
  REQUIRE(modify(rig, qp, QpState::rts) == 0);
  const std::vector<verbs::SendRequest> one(1);
  CHECK(rig.ask([&](auto& r, auto& c) { return rig.device.post_send(0, qp, one, r, c); }).error == 0);
}

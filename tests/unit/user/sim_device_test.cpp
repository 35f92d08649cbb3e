// Does the provider library post, ring, poll and refuse as mlx5's does, in the time that its parts cost?
#include "user/sim_device.h"

#include <catch2/catch.hpp>

#include "program/actor.h"
#include "support/host_rig.h"
#include "user/sim_meeting.h"

using namespace mtsim;
using test::HostRig;
using test::HostSettings;
using test::Waiter;
using verbs::Send;
using verbs::Status;

namespace {

HostSettings settings() {
  HostSettings s;
  s.provider.post = ns(20);
  s.provider.wqe = ns(10);
  s.provider.sge = ns(4);
  s.provider.inline_byte = ps(50);
  s.provider.doorbell = ns(30);
  s.provider.poll_empty = ns(15);
  s.provider.poll_cqe = ns(40);
  s.provider.blueflame = Bytes(64);
  return s;
}

struct Pair {
  HostRig rig;
  verbs::Handle pd, cq, qp, peer;
  std::vector<verbs::Sge> sges{{0x1000, 64, Key(7)}, {0x2000, 32, Key(7)}, {0x3000, 8, Key(7)}, {0x4000, 8, Key(7)}, {0x5000, 8, Key(7)}};

  explicit Pair(const HostSettings& s = settings(), std::uint32_t sq = 4, std::uint32_t inline_bytes = 0, bool signal_all = false)
      : rig(s) {
    pd = rig.pd();
    cq = rig.ask([&](auto& r, auto& c) { return rig.device.create_cq(0, 100, r, c); }).handle;
    verbs::CreateQpRequest request;
    request.pd = pd;
    request.send_cq = request.recv_cq = cq;
    request.sq_depth = sq;
    request.inline_bytes = inline_bytes;
    request.signal_all = signal_all;
    qp = rig.ask([&](auto& r, auto& c) { return rig.device.create_qp(0, request, r, c); }).handle;
    peer = rig.ask([&](auto& r, auto& c) { return rig.device.create_qp(0, request, r, c); }).handle;
  }
  void connect() {
    REQUIRE(rig.ask([&](auto& r, auto& c) { return rig.device.connect(0, qp, rig.device, peer, r, c); }).error == 0);
  }
  verbs::SendRequest write(std::uint64_t wr, std::size_t sge_count = 1, Send flags = Send::signaled) {
    verbs::SendRequest request;
    request.wr = wr;
    request.flags = flags;
    request.sges = std::span(sges).first(sge_count);
    return request;
  }
  verbs::Reply post(const std::vector<verbs::SendRequest>& requests) {
    return rig.ask([&](auto& r, auto& c) { return rig.device.post_send(0, qp, requests, r, c); });
  }
  int modify(verbs::QpState state) {
    return rig.ask([&](auto& r, auto& c) { return rig.device.modify_qp(0, qp, state, r, c); }).error;
  }
  void complete(std::uint64_t wr, Status status = Status::SUCCESS, unsigned which = 0) {
    // The newest request with that number; one that was never posted stands nowhere.
    ports::SendRing& ring = *rig.nic.qps[which].attributes.ring;
    std::uint32_t index = rig.nic.rings.empty() ? 0 : rig.nic.rings.back().producer;
    while (index != 0 && ring.at(index - 1).wr != wr) --index;
    rig.nic.qps[which].attributes.send_cq->next_slot();
    rig.nic.qps[which].attributes.send_cq->arrive({wr, status, verbs::Opcode::write, 0}, index - 1);
  }
  std::vector<verbs::Completion> poll(std::size_t most = 16) {
    std::vector<verbs::Completion> out(most);
    const auto reply = rig.ask([&](auto& r, auto& c) { return rig.device.poll(0, cq, verbs::Wait::spin, out, r, c); });
    REQUIRE(reply.error == 0);
    out.resize(reply.value);
    return out;
  }
};

}  // namespace

TEST_CASE("capacities are granted as mlx5 rounds them", "[device]") {
  using user::SendCapacity;
  REQUIRE(SendCapacity::grant(128, 4, 0)->requests == 128);
  REQUIRE(SendCapacity::grant(128, 4, 0)->blocks == 4);
  REQUIRE(SendCapacity::grant(128, 4, 0)->inline_bytes == 60);
  REQUIRE(SendCapacity::grant(100, 1, 0)->requests == 128);  // 100 x 256 bytes need 32 KiB
  REQUIRE(SendCapacity::grant(128, 6, 0)->requests == 204);  // 128 x 320 bytes need 64 KiB
  REQUIRE(SendCapacity::grant(1, 1, 220)->inline_bytes >= 220);
  REQUIRE_FALSE(SendCapacity::grant(32'768, 4, 0).has_value());
  REQUIRE_FALSE(SendCapacity::grant(1, 64, 0).has_value());
  const verbs::Rules mlx5 = verbs::ib_rules();
  REQUIRE(user::CompletionQueue::granted_depth(1, mlx5.posting) == 2);
  REQUIRE(user::CompletionQueue::granted_depth(255, mlx5.posting) == 256);
  REQUIRE(user::CompletionQueue::granted_depth(256, mlx5.posting) == 512);
  const auto rxe = verbs::RuleSets::make("rxe-6.1");
  REQUIRE(user::CompletionQueue::granted_depth(1, rxe->posting) == 1);
  REQUIRE(user::CompletionQueue::granted_depth(255, rxe->posting) == 255);
  REQUIRE(user::CompletionQueue::granted_depth(256, rxe->posting) == 511);
}

TEST_CASE("one post is one timed event, its WQE complete and its doorbell at the end", "[device]") {
  Pair pair;
  pair.connect();
  REQUIRE(pair.rig.nic.qps[0].state == verbs::QpState::rts);
  REQUIRE(pair.rig.nic.qps[0].peer == 2);
  REQUIRE(pair.rig.nic.qps[1].peer == 1);
  REQUIRE(pair.rig.nic.qps[0].attributes.mtu == Bytes(1024));
  const Time begin = pair.rig.scheduler.now();
  const auto events = pair.rig.scheduler.timed_events();
  verbs::SendRequest request = pair.write(41, 2);
  request.remote_address = 0x77;
  request.rkey = Key(9);
  REQUIRE(pair.post({request}).error == 0);
  REQUIRE(pair.rig.scheduler.timed_events() == events + 1);
  REQUIRE(pair.rig.nic.rings.size() == 1);
  const auto& ring = pair.rig.nic.rings[0];
  REQUIRE(ring.at == begin + ns(20 + 10 + 2 * 4 + 30));
  REQUIRE(ring.qpn == 1);
  REQUIRE(ring.producer == 1);
  REQUIRE(ring.wqe_bytes == Bytes(64));  // 16 + 16 + 2 x 16
  const ports::Wqe& wqe = pair.rig.nic.qps[0].attributes.ring->at(0);
  REQUIRE(wqe.wr == 41);
  REQUIRE(wqe.length == 96);
  REQUIRE(wqe.sge_count == 2);
  REQUIRE(wqe.sges[1].address == 0x2000);
  REQUIRE(wqe.basic_blocks == 1);
  REQUIRE(wqe.remote_address == 0x77);
  REQUIRE(wqe.rkey == Key(9));
  REQUIRE(wqe.begin == begin);
  REQUIRE(wqe.stamp[0] == ring.at);
}

TEST_CASE("a list is one doorbell, and what does not fit it is fetched", "[device]") {
  Pair pair;
  pair.connect();
  REQUIRE(pair.post({pair.write(1), pair.write(2)}).value == 2);
  REQUIRE(pair.rig.nic.rings.back().producer == 2);
  REQUIRE(pair.rig.nic.rings.back().wqe_bytes == Bytes(0));
  REQUIRE(pair.post({pair.write(3, 3)}).error == 0);  // 80 bytes
  REQUIRE(pair.rig.nic.rings.back().wqe_bytes == Bytes(0));
  REQUIRE(pair.rig.nic.qps[0].attributes.ring->at(2).basic_blocks == 2);
}

TEST_CASE("errors of posting: which, at which request, and what stays posted", "[device]") {
  Pair pair(settings(), 4, 0);
  REQUIRE(pair.post({pair.write(1)}).error == ENOMEM);  // RESET
  REQUIRE(pair.modify(verbs::QpState::init) == 0);
  REQUIRE(pair.modify(verbs::QpState::init) == 0);
  REQUIRE(pair.post({pair.write(1)}).error == ENOMEM);
  REQUIRE(pair.modify(verbs::QpState::rts) == EINVAL);
  pair.connect();
  REQUIRE(pair.rig.ask([&](auto& r, auto& c) { return pair.rig.device.connect(0, pair.qp, pair.rig.device, pair.peer, r, c); }).error ==
          EINVAL);
  REQUIRE(pair.rig.nic.rings.empty());

  auto reply = pair.post({pair.write(1), pair.write(2, 5), pair.write(3)});  // five elements, four granted
  REQUIRE(reply.error == ENOMEM);
  REQUIRE(reply.value == 1);
  REQUIRE(pair.rig.nic.rings.back().producer == 1);
  pair.sges[0].length = 61;  // 60 were granted
  REQUIRE(pair.post({pair.write(2, 1, Send::inline_data)}).error == ENOMEM);
  pair.sges[0].length = 60;
  REQUIRE(pair.post({pair.write(2, 1, Send::inline_data)}).error == 0);
  reply = pair.post({pair.write(3), pair.write(4), pair.write(5)});
  REQUIRE(reply.error == ENOMEM);  // full
  REQUIRE(reply.value == 2);
  // In ERR posting is accepted.
  pair.complete(1);
  REQUIRE(pair.poll().size() == 1);
  REQUIRE(pair.modify(verbs::QpState::err) == 0);
  REQUIRE(pair.post({pair.write(5)}).error == 0);
  Waiter waiter(pair.rig.scheduler);
  REQUIRE(pair.rig.device.post_send(0, 77, {}, reply, waiter) == verbs::Progress::done);
  REQUIRE(reply.error == EINVAL);
}

TEST_CASE("the ring gets room when a signalled completion is polled, not before", "[device]") {
  Pair pair;
  pair.connect();
  REQUIRE(pair.post({pair.write(1, 1, Send::none), pair.write(2, 1, Send::none), pair.write(3), pair.write(4, 1, Send::none)}).value == 4);
  pair.complete(3);
  REQUIRE(pair.post({pair.write(5)}).error == ENOMEM);
  REQUIRE(pair.poll()[0].wr == 3);
  REQUIRE(pair.post({pair.write(5), pair.write(6, 1, Send::none), pair.write(7), pair.write(8)}).value == 3);
  // An unsignalled request fails: what stood before it is out of the ring too, and the rest is flushed one by one.
  pair.complete(6, Status::REM_ACCESS_ERR);
  pair.complete(7, Status::WR_FLUSH_ERR);
  REQUIRE(pair.poll().size() == 2);
  REQUIRE(pair.post({pair.write(8), pair.write(9), pair.write(10), pair.write(11), pair.write(12)}).value == 4);
}

TEST_CASE("polling: a turn of the loop, then what was found", "[device]") {
  Pair pair;
  pair.connect();
  pair.post({pair.write(1)});
  const Time begin = pair.rig.scheduler.now();
  Waiter waiter(pair.rig.scheduler);
  std::vector<verbs::Completion> out(4);
  REQUIRE(pair.rig.device.poll(0, pair.cq, verbs::Wait::spin, out, waiter.reply, waiter) == verbs::Progress::pending);
  pair.rig.scheduler.spawn([](Pair& p, Time when) -> engine::Flow {
    co_await engine::Until(p.rig.scheduler, when, engine::Order(1));
    p.complete(1);
  }(pair, begin + ns(100)));
  pair.rig.run();
  REQUIRE(waiter.done);
  REQUIRE(waiter.at == begin + ns(7 * 15 + 40));
  REQUIRE(waiter.reply.value == 1);
  REQUIRE(pair.rig.cpus.times()[ports::Work::polling] == ns(105));
  // What is there already costs no turn.
  const Time then = pair.rig.scheduler.now();
  pair.complete(2);
  pair.complete(3);
  REQUIRE(pair.poll().size() == 2);
  REQUIRE(pair.rig.scheduler.now() == then + ns(80));
}

TEST_CASE("poll_after takes whatever came, with its CPU free meanwhile", "[device]") {
  Pair pair;
  std::vector<verbs::Completion> out(4);
  const Time begin = pair.rig.scheduler.now();
  const auto wait = [&] {
    return pair.rig.ask([&](auto& r, auto& c) { return pair.rig.device.poll_after(0, pair.cq, us(5), out, r, c); });
  };
  REQUIRE(wait().value == 0);
  REQUIRE(pair.rig.scheduler.now() == begin + us(5) + ns(15));
  pair.complete(9);
  REQUIRE(wait().value == 1);
  REQUIRE(out[0].wr == 9);
}

TEST_CASE("late completions of destroyed or reset queues do no harm", "[device]") {
  Pair pair;
  pair.connect();
  pair.post({pair.write(1), pair.write(2)});
  pair.complete(1);
  pair.complete(50, Status::SUCCESS, 1);
  REQUIRE(pair.rig.ask([&](auto& r, auto& c) { return pair.rig.device.destroy_cq(0, pair.cq, r, c); }).error == EBUSY);
  REQUIRE(pair.rig.ask([&](auto& r, auto& c) { return pair.rig.device.destroy_qp(0, pair.qp, r, c); }).error == 0);
  pair.complete(2);
  const auto left = pair.poll();
  REQUIRE(left.size() == 1);
  REQUIRE(left[0].wr == 50);
  verbs::Reply reply;
  Waiter waiter(pair.rig.scheduler);
  std::vector<verbs::SendRequest> late{pair.write(3)};
  REQUIRE(pair.rig.device.post_send(0, pair.qp, late, reply, waiter) == verbs::Progress::done);
  REQUIRE(reply.error == EINVAL);
  REQUIRE(pair.rig.ask([&](auto& r, auto& c) { return pair.rig.device.destroy_qp(0, pair.peer, r, c); }).error == 0);
  REQUIRE(pair.rig.ask([&](auto& r, auto& c) { return pair.rig.device.destroy_cq(0, pair.cq, r, c); }).error == 0);
  pair.complete(4);
}

TEST_CASE("reset empties the queue", "[device]") {
  Pair pair;
  pair.connect();
  pair.post({pair.write(1), pair.write(2), pair.write(3), pair.write(4)});
  pair.complete(1);
  REQUIRE(pair.modify(verbs::QpState::reset) == 0);
  REQUIRE(pair.rig.ask([&](auto& r, auto& c) { return pair.rig.device.modify_qp(0, pair.peer, verbs::QpState::reset, r, c); }).error == 0);
  pair.connect();
  REQUIRE(pair.post({pair.write(5), pair.write(6), pair.write(7), pair.write(8)}).value == 4);
  REQUIRE(pair.rig.nic.rings.back().producer == 4);
}

TEST_CASE("a CQ tells the device whether it has room, until its QP is gone", "[device]") {
  Pair pair;
  const auto queue = pair.rig.nic.qps[0].attributes.recv_cq;
  for (unsigned i = 0; i < 127; ++i) pair.complete(i);
  CHECK(queue->has_room());  // 100 were asked for, 128 granted
  queue->next_slot();
  CHECK_FALSE(queue->has_room());  // one that is on its way counts
  queue->lapse();
  CHECK(queue->has_room());
  pair.complete(127);
  CHECK_FALSE(queue->has_room());
  CHECK(pair.rig.device.cq_overruns() == 0);
  pair.complete(128);
  CHECK(pair.rig.device.cq_overruns() == 1);
  CHECK(pair.poll(1).size() == 1);
  CHECK(queue->has_room());
  pair.complete(129);
  REQUIRE(pair.rig.ask([&](auto& r, auto& c) { return pair.rig.device.destroy_qp(0, pair.qp, r, c); }).error == 0);
  CHECK(queue->has_room());
}

TEST_CASE("compute and sleep: a CPU that is busy, a CPU that is free", "[device]") {
  HostRig rig;
  const auto compute = [&](Time span) { return rig.ask([&](auto& r, auto& c) { return rig.device.compute(0, span, r, c); }); };
  compute(us(3));
  compute(Time());
  rig.ask([&](auto& r, auto& c) { return rig.device.sleep_until(0, us(10), r, c); });
  REQUIRE(rig.scheduler.now() == us(10));
  REQUIRE(rig.cpus.times()[ports::Work::compute] == us(3));
  REQUIRE(rig.cpus.times().idle == us(17));
}

TEST_CASE("first touch costs the faults that it takes", "[device]") {
  HostRig rig;
  const Va buffer = rig.mmap(KiB(8), verbs::PageKind::base_4k, false);
  rig.ask([&](auto& r, auto& c) { return rig.device.touch(0, buffer, KiB(8), true, r, c); });
  const Time faults = ns(2 * 1200) + transfer_time(KiB(8), BitRate(80'000'000'000));
  REQUIRE(rig.cpus.times()[ports::Work::fault] == faults);
  rig.ask([&](auto& r, auto& c) { return rig.device.touch(0, buffer, KiB(8), true, r, c); });
  REQUIRE(rig.cpus.times()[ports::Work::fault] == faults);
  REQUIRE(rig.ask([&](auto& r, auto& c) { return rig.device.touch(0, buffer + KiB(8), KiB(4), true, r, c); }).error == EFAULT);
}

TEST_CASE("a barrier lets those go who waited, in order, in the same picosecond", "[device]") {
  HostRig rig;
  user::SimMeeting meeting(rig.scheduler);
  Waiter a(rig.scheduler), b(rig.scheduler), c(rig.scheduler);
  REQUIRE(meeting.arrive(rig.device, 0, 0, 3, a) == verbs::Progress::pending);
  REQUIRE(meeting.arrive(rig.device, 1, 0, 3, b) == verbs::Progress::pending);
  rig.ask([&](auto& reply, auto& caller) { return rig.device.compute(0, us(1), reply, caller); });
  REQUIRE_FALSE(a.done);
  REQUIRE(meeting.arrive(rig.device, 0, 0, 3, c) == verbs::Progress::done);
  rig.run();
  REQUIRE(a.done);
  REQUIRE(b.done);
  REQUIRE_FALSE(c.done);
  REQUIRE(a.at == us(1));
}

TEST_CASE("what the device carries out, actors can ask for", "[device]") {
  for (const std::string& word : user::SimDevice::carried_out()) {
    INFO(word);
    const auto& known = program::carried_out();
    REQUIRE(std::find(known.begin(), known.end(), word) != known.end());
  }
}

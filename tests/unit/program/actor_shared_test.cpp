// Do polls take the receives of a shared queue by number of messages, whatever the order in which they come?
#include <catch2/catch.hpp>
#include <cerrno>

#include "unit/program/actor_listing.h"

using namespace mtsim;
using namespace mtsim::test;
using verbs::Status;

namespace {

using Lines = std::vector<std::string>;
using Numbers = std::vector<std::uint64_t>;

// As the fake device numbers what furnish_shared() makes.
constexpr verbs::Handle cq = 2, cq2 = 6;

/// A host with a shared queue and two QPs on it, each with a CQ of its own: 10 lines. The QP and CQ of furnish() stand apart from it,
/// but for a.cq, which serves a.q1.
void furnish_shared(Listing& p, const std::string& second_cq = "a.cq2") {
  p.furnish("a");
  p.create_srq("a.t0", "a.srq", "a.pd");
  p.add("a.t0", Kind::create_cq, p.cq("a.cq2")).depth = 64;
  p.create_qp("a.t0", "a.q1", "a.pd", "a.cq").srq = p.srq("a.srq");
  p.create_qp("a.t0", "a.q2", "a.pd", second_cq).srq = p.srq("a.srq");
  p.add("a.t0", Kind::compute);
}

void share(Listing& p, std::uint64_t from, std::uint64_t to) {
  for (std::uint64_t wr = from; wr <= to; ++wr) p.share("a.t0", "a.srq", wr, "a.mr");
}

void arrive(FakeRun& run, std::uint64_t after, const Numbers& wrs, verbs::Handle on = cq) {
  for (const std::uint64_t wr : wrs) run.device(0).arrivals[after].push_back({on, wr});
}

Numbers surprised(FakeRun& run) {
  Numbers lines;
  for (const auto& s : run.tally.first_surprises()) lines.push_back(s.line);
  return lines;
}

}  // namespace

TEST_CASE("polls of shared receives take whichever comes, each one message") {
  Listing p;
  furnish_shared(p);
  share(p, 1, 4);
  // An answer goes out after each poll, and only then comes the next message: to wait for the very receive would be for ever.
  for (std::uint64_t wr = 1; wr <= 4; ++wr) {
    p.poll_wr("a.t0", "a.cq", wr);
    p.post("a.t0", "a.qp", 10 + wr, "a.mr", "a.mr").flags = verbs::Send::none;
  }
  p.poll_wr("a.t0", "a.cq", 2);  // 23: its number has been polled
  FakeRun run(p, GENERATE(false, true));
  arrive(run, 4, {3});
  arrive(run, 11, {2});
  arrive(run, 12, {4});
  arrive(run, 13, {1});
  run.run();
  CHECK(run.actors().done());
  CHECK(surprised(run) == Numbers{23});
  CHECK(run.tally.completions(Status::SUCCESS) == 4);
}

TEST_CASE("a shared receive's own completion is preferred among those set aside, then the first") {
  Listing p;
  furnish_shared(p);
  share(p, 1, 4);
  p.post("a.t0", "a.qp", 5, "a.mr", "a.mr");
  p.poll_wr("a.t0", "a.cq", 5);                                // 16: sets all four aside
  expect(p.poll_wr("a.t0", "a.cq", 2), Status::LOC_LEN_ERR);   // 17: its own
  expect(p.poll_wr("a.t0", "a.cq", 1), Status::LOC_PROT_ERR);  // 18: its own
  p.poll_wr("a.t0", "a.cq", 4);                                // 19: its own, which failed
  p.poll_wr("a.t0", "a.cq", 3);                                // 20
  FakeRun run(p, GENERATE(false, true));
  run.device(0).arrivals[4] = {{cq, 4, Status::GENERAL_ERR}, {cq, 2, Status::LOC_LEN_ERR}, {cq, 3}, {cq, 1, Status::LOC_PROT_ERR}};
  run.run();
  CHECK(run.actors().done());
  CHECK(run.surprises() == Lines{"19 poll cq wr=4: SUCCESS, not GENERAL_ERR"});
}

TEST_CASE("what a poll of a shared receive expects judges the completion that it took") {
  Listing p;
  furnish_shared(p);
  share(p, 1, 3);
  expect(p.poll_wr("a.t0", "a.cq", 1), Status::LOC_LEN_ERR);  // 14: takes 2
  p.poll_wr("a.t0", "a.cq", 2);                               // 15: takes 3
  Op& by_wr = p.poll_wr("a.t0", "a.cq", 3);                   // 16: takes 1
  by_wr.expect.given = true;
  by_wr.expect.by_wr = {{3, {static_cast<std::int32_t>(Status::LOC_PROT_ERR)}}};
  FakeRun run(p, GENERATE(false, true));
  run.device(0).arrivals[3] = {{cq, 2, Status::LOC_LEN_ERR}, {cq, 3, Status::GENERAL_ERR}, {cq, 1, Status::LOC_PROT_ERR}};
  run.run();
  CHECK(run.actors().done());
  CHECK(run.surprises() == Lines{"15 poll cq wr=2: SUCCESS, not GENERAL_ERR of wr=3"});
}

TEST_CASE("polls by number of completions take shared receives too, and those by wr= what is left") {
  Listing p;
  furnish_shared(p);
  share(p, 1, 5);
  p.poll("a.t0", "a.cq", 2);     // 16: in the recording 1 and 3; now 2 and 5
  p.poll_wr("a.t0", "a.cq", 2);  // 17
  p.poll_wr("a.t0", "a.cq", 5);  // 18
  p.poll_wr("a.t0", "a.cq", 4);  // 19
  p.poll_wr("a.t0", "a.cq", 1);  // 20: none is left
  FakeRun run(p, GENERATE(false, true));
  arrive(run, 5, {2, 5, 1, 4, 3});
  run.run();
  CHECK(run.actors().done());
  CHECK(surprised(run) == Numbers{20});
  CHECK(run.tally.completions(Status::SUCCESS) == 5);
}

TEST_CASE("several CQs on one shared queue: each has its own messages") {
  Listing p;
  furnish_shared(p);
  share(p, 1, 4);
  p.poll_wr("a.t0", "a.cq2", 2);  // 15
  p.poll_wr("a.t0", "a.cq", 1);   // 16
  p.poll_wr("a.t0", "a.cq", 3);   // 17
  p.poll_wr("a.t0", "a.cq2", 4);  // 18
  FakeRun run(p, GENERATE(false, true));
  arrive(run, 4, {2, 3});
  arrive(run, 4, {1, 4}, cq2);
  run.run();
  CHECK(run.actors().done());
  CHECK(run.surprises() == Lines{});
}

TEST_CASE("two threads that poll shared receives of one CQ each get one") {
  Listing p;
  furnish_shared(p);
  share(p, 1, 2);
  p.barrier("a.t0", "posted", 2);
  p.poll_wr("a.t0", "a.cq", 1);
  p.barrier("a.t1", "posted", 2);
  p.poll_wr("a.t1", "a.cq", 2);
  p.post("a.t1", "a.qp", 3, "a.mr", "a.mr");
  FakeRun run(p, true);
  arrive(run, 2, {2, 1});
  run.run();
  CHECK(run.actors().done());
  CHECK(run.surprises() == Lines{});
}

TEST_CASE("a poll of a shared receive waits for what another thread may still do") {
  Listing p;
  furnish_shared(p);
  share(p, 1, 2);
  p.poll("a.t0", "a.cq", 2);
  p.barrier("a.t0", "posted", 2);
  p.poll_wr("a.t0", "a.cq", 2);  // both have gone to n=; a third is still to come
  p.barrier("a.t1", "posted", 2);
  p.share("a.t1", "a.srq", 3, "a.mr");
  FakeRun run(p, true);
  arrive(run, 2, {1, 2});
  arrive(run, 3, {3});
  run.run();
  CHECK(run.actors().done());
  CHECK(run.surprises() == Lines{});
}

TEST_CASE("a poll of a shared receive that can never complete is an error of its line, not a hang") {
  Listing p;
  furnish_shared(p, "a.cq");
  share(p, 1, 3);
  p.poll_wr("a.t0", "a.cq2", 1);                  // 14: no QP completes there
  p.poll_wr("a.t0", "a.cq", 3);                   // 15: takes 1
  p.poll_wr("a.t0", "a.cq", 3);                   // 16: has been polled
  p.add("a.t0", Kind::destroy_qp, p.qp("a.q1"));  // 17
  p.poll_wr("a.t0", "a.cq", 1);                   // 18: takes 2; a.q2 is still there
  p.add("a.t0", Kind::destroy_qp, p.qp("a.q2"));  // 19
  p.poll_wr("a.t0", "a.cq", 2);                   // 20: nothing takes it any more
  FakeRun run(p, GENERATE(false, true));
  arrive(run, 3, {1, 2});
  run.run();
  CHECK(run.actors().done());
  CHECK(surprised(run) == Numbers{14, 16, 20});
}

TEST_CASE("a shared queue outlives QPs that are reset, and is not destroyed while QPs use it") {
  Listing p;
  furnish_shared(p);
  share(p, 1, 2);
  p.add("a.t0", Kind::modify_qp, p.qp("a.q1")).state = verbs::QpState::reset;
  expect(p.add("a.t0", Kind::destroy_srq, p.srq("a.srq")), {EBUSY});
  p.share("a.t0", "a.srq", 3, "a.mr");
  p.poll_wr("a.t0", "a.cq", 1);
  FakeRun run(p, GENERATE(false, true));
  run.device(0).errors["destroy_srq"] = EBUSY;
  arrive(run, 3, {1});
  run.run();
  CHECK(run.actors().done());
  CHECK(run.surprises() == Lines{});
}

TEST_CASE("after a shared queue is destroyed only what was set aside is left of it") {
  Listing p;
  furnish_shared(p);
  share(p, 1, 4);
  p.post("a.t0", "a.qp", 5, "a.mr", "a.mr");
  p.poll_wr("a.t0", "a.cq", 5);  // 16: sets two aside
  for (const char* qp : {"a.q1", "a.q2"}) p.add("a.t0", Kind::destroy_qp, p.qp(qp));
  p.add("a.t0", Kind::destroy_srq, p.srq("a.srq"));
  p.poll_wr("a.t0", "a.cq", 1);         // 20: takes 3
  p.poll_wr("a.t0", "a.cq", 2);         // 21
  p.poll_wr("a.t0", "a.cq", 4);         // 22: can never complete
  p.share("a.t0", "a.srq", 6, "a.mr");  // 23: is gone
  FakeRun run(p, GENERATE(false, true));
  arrive(run, 4, {3, 2});
  run.run();
  CHECK(run.actors().done());
  CHECK(surprised(run) == Numbers{22, 23});
}

TEST_CASE("what is known of a shared queue does not grow with what passed through it") {
  Requests requests(1);
  const std::uint32_t shared = requests.open_shared(128), use = requests.open_use(shared, 1);
  for (std::uint64_t wr = 1; wr <= 10'000; ++wr) {
    requests.posted(wr, shared);
    REQUIRE(requests.taken(wr) == shared);
    requests.consumed(wr, shared);
  }
  CHECK(requests.outstanding() == 128);
  // In step with the recording, or each a little out of it.
  for (std::uint64_t wr = 10'001; wr <= 20'000; wr += 2) {
    requests.posted(wr, shared);
    requests.posted(wr + 1, shared);
    for (const std::uint64_t k : {0, 1}) {
      REQUIRE(requests.may_complete(wr + k, 1, 0));
      REQUIRE(requests.taken(wr + 1 - k) == shared);
      REQUIRE(requests.claim(wr + k, shared, wr + 1 - k));
    }
  }
  CHECK(requests.outstanding() <= 128);
  requests.close(use);
  requests.close(shared);
  CHECK(requests.outstanding() == 0);
  // Its number serves again, for queues of any kind.
  const std::uint32_t own = requests.open(1);
  requests.posted(20'001, own);
  CHECK(requests.taken(20'001) == Requests::none);
  CHECK(requests.outstanding() == 0);
}

TEST_CASE("completions set aside of a CQ go with it") {
  Requests requests(1);
  const std::uint32_t shared = requests.open_shared(4);
  requests.open_use(shared, 1);
  requests.open_use(shared, 2);
  for (std::uint64_t wr = 1; wr <= 4; ++wr) requests.posted(wr, shared);
  for (std::uint64_t wr = 1; wr <= 4; ++wr) requests.set_aside(wr % 2 ? 1 : 2, {wr}, requests.taken(wr));
  requests.drop_aside(1);
  CHECK_FALSE(requests.take_aside(1, 1));
  CHECK(requests.take_aside(2, 1)->wr == 2);
  CHECK(requests.take_aside(2, 4)->wr == 4);
  CHECK_FALSE(requests.take_aside(2, 2));
}

// Do actors post lists and take completions as the trace format says?
#include <cerrno>

#include <catch2/catch.hpp>

#include "unit/program/actor_listing.h"

using namespace mtsim;
using namespace mtsim::test;
using verbs::Status;

namespace {

using Lines = std::vector<std::string>;
using Sizes = std::vector<std::size_t>;

std::vector<std::uint64_t> posted(FakeDevice& device) {
  std::vector<std::uint64_t> out;
  for (const auto& request : device.requests) out.push_back(request.wr);
  return out;
}

}  // namespace

TEST_CASE("requests with more go down together with the next post to their queue") {
  Listing p;
  p.furnish("a");
  p.create_qp("a.t0", "a.qp2", "a.pd", "a.cq");
  p.post("a.t0", "a.qp", 1, "a.mr", "a.mr").more = true;
  p.post("a.t0", "a.qp", 2, "a.mr", "a.mr").more = true;
  p.post("a.t0", "a.qp2", 3, "a.mr", "a.mr");
  p.add("a.t0", Kind::compute);
  p.post("a.t0", "a.qp", 4, "a.mr", "a.mr");
  p.post("a.t0", "a.qp", 5, "a.mr", "a.mr");
  p.post("a.t0", "a.qp2", 6, "a.mr", "a.mr").more = true;  // nothing follows: goes down at the end
  FakeRun run(p, GENERATE(false, true));
  run.run();
  CHECK(run.actors().done());
  CHECK(run.device(0).lists == Sizes{1, 3, 1, 1});
  CHECK(posted(run.device(0)) == std::vector<std::uint64_t>{3, 1, 2, 4, 5, 6});
  CHECK(run.device(0).elements[1][0].length == 4096);
  CHECK(run.surprises() == Lines{});
}

TEST_CASE("a request that cannot be posted ends its list; later ones are left unposted and can never complete") {
  Listing p;
  p.furnish("a");
  for (std::uint64_t wr = 1; wr <= 4; ++wr) p.post("a.t0", "a.qp", wr, "a.mr", "a.mr").more = wr < 4;
  p.poll_wr("a.t0", "a.cq", 1);
  p.poll_wr("a.t0", "a.cq", 3);
  p.poll_wr("a.t0", "a.cq", 4);
  FakeRun run(p, GENERATE(false, true));
  run.device(0).refused[2] = ENOMEM;
  run.run();
  CHECK(run.actors().done());
  const std::string hopeless = "SUCCESS, not nothing: no such request is under way on this CQ, so it can never complete";
  CHECK(run.surprises() == Lines{"7 post_send qp wr=2: ok, not ENOMEM", "11 poll cq wr=3: " + hopeless, "12 poll cq wr=4: " + hopeless});
  CHECK(run.tally.unposted() == 2);
}

TEST_CASE("a line that lacks an object is left out of its list") {
  Listing p;
  p.furnish("a");
  p.post("a.t0", "a.qp", 1, "a.mr", "a.mr").more = true;
  p.post("a.t0", "a.qp", 2, "a.none", "a.mr").more = true;
  p.post("a.t0", "a.qp", 3, "a.mr", "a.none");
  p.poll("a.t0", "a.cq");
  FakeRun run(p, false);
  run.run();
  CHECK(run.device(0).lists == Sizes{1});
  CHECK(run.device(0).elements[0].size() == 1);
  CHECK(run.tally.lacking_objects() == 2);
  CHECK(run.actors().done());
}

TEST_CASE("poll wr= sets others aside, and n= counts only newly taken ones") {
  Listing p;
  p.furnish("a");
  for (std::uint64_t wr = 1; wr <= 4; ++wr) p.post("a.t0", "a.qp", wr, "a.mr", "a.mr");
  p.poll_wr("a.t0", "a.cq", 3);
  expect(p.poll_wr("a.t0", "a.cq", 2), Status::WR_FLUSH_ERR);
  p.poll("a.t0", "a.cq");
  p.poll_wr("a.t0", "a.cq", 1);
  FakeRun run(p, GENERATE(false, true));
  run.device(0).statuses[2] = Status::WR_FLUSH_ERR;
  run.run();
  CHECK(run.actors().done());
  CHECK(run.surprises() == Lines{});
  CHECK(run.tally.completions(Status::SUCCESS) == 3);
  CHECK(run.tally.completions(Status::WR_FLUSH_ERR) == 1);
}

TEST_CASE("a poll for what can never complete is an error of its line, not a hang") {
  Listing p;
  p.furnish("a");
  p.add("a.t0", Kind::create_cq, p.cq("a.cq2")).depth = 1;
  p.post("a.t0", "a.qp", 1, "a.mr", "a.mr");
  p.post("a.t0", "a.qp", 2, "a.mr", "a.mr").flags = verbs::Send::none;
  p.post("a.t0", "a.qp", 3, "a.mr", "a.mr");
  p.poll_wr("a.t0", "a.cq2", 3);  // 10: of another CQ
  p.poll_wr("a.t0", "a.cq", 2);   // 11: unsignalled, passed by 3
  p.poll_wr("a.t0", "a.cq", 3);   // 12: set aside by line 11
  p.poll_wr("a.t0", "a.cq", 3);   // 13: taken
  p.poll_wr("a.t0", "a.cq", 99);  // 14: never posted
  p.post("a.t0", "a.qp", 100, "a.mr", "a.mr");
  p.add("a.t0", Kind::destroy_qp, p.qp("a.qp"));
  p.poll_wr("a.t0", "a.cq", 100);  // 17: its QP is gone
  FakeRun run(p, GENERATE(false, true));
  run.run();
  CHECK(run.actors().done());
  std::vector<std::uint64_t> lines;
  for (const auto& s : run.tally.first_surprises()) lines.push_back(s.line);
  CHECK(lines == std::vector<std::uint64_t>{10, 11, 13, 14, 17});
}

TEST_CASE("a poll waits for what another thread of the host may still post") {
  Listing p;
  p.furnish("a");
  p.barrier("a.t0", "made", 2);
  p.poll_wr("a.t0", "a.cq", 5);
  p.barrier("a.t1", "made", 2);
  p.post("a.t1", "a.qp", 4, "a.mr", "a.mr");
  p.post("a.t1", "a.qp", 5, "a.mr", "a.mr");
  FakeRun run(p, true);
  run.run();
  CHECK(run.actors().done());
  CHECK(run.surprises() == Lines{});
}

TEST_CASE("a poll of a CQ waits for another thread that makes it on a line before, and fails when none can any more") {
  Listing p;
  p.add("a.t1", Kind::alloc_pd, p.pd("a.pd"));
  p.furnish("a");                                 // 2 to 6
  p.poll_wr("a.t1", "a.cq", 1);                   // 7
  p.post("a.t0", "a.qp", 1, "a.mr", "a.mr");      // 8
  p.add("a.t0", Kind::compute);                   // 9
  p.poll("a.t1", "a.cq2");                        // 10: made too late
  p.poll("a.t1", "a.cq3");                        // 11: never made
  p.add("a.t0", Kind::create_cq, p.cq("a.cq2"));  // 12
  p.add("a.t0", Kind::compute);                   // 13
  FakeRun run(p, true);
  run.run();
  CHECK(run.actors().done());
  CHECK(run.tally.completions(Status::SUCCESS) == 1);
  CHECK(run.surprises() == Lines{"10 poll cq2 n=1: SUCCESS, not EINVAL: a.cq2 has not been made",
                                 "11 poll cq3 n=1: SUCCESS, not EINVAL: a.cq3 has not been made"});
}

TEST_CASE("a poll of more completions than one call takes, and one that expects none") {
  Listing p;
  p.furnish("a");
  for (std::uint64_t wr = 1; wr <= 100; ++wr) p.post("a.t0", "a.qp", wr, "a.mr", "a.mr");
  p.poll("a.t0", "a.cq", 99);
  Op& idle = p.poll("a.t0", "a.cq");
  idle.idle = true;
  idle.number = 50;
  Op& quiet = p.poll("a.t0", "a.cq");
  quiet.idle = true;
  quiet.number = 70;
  p.poll_wr("a.t0", "a.cq", 100);
  FakeRun run(p, GENERATE(false, true));
  run.run();
  CHECK(run.actors().done());
  CHECK(run.surprises() == Lines{"107 poll cq idle=50: no completion, not SUCCESS of wr=100"});
  CHECK(run.device(0).now() == ns(120));
}

TEST_CASE("requests under way are found among many, in any order") {
  Requests requests(1);
  const std::uint32_t queue = requests.open(1), other = requests.open(1);
  for (std::uint64_t k = 1; k <= 5000; ++k) requests.posted(k << 20, k % 2 ? queue : other);
  CHECK(requests.outstanding() == 5000);
  requests.taken(4001ull << 20);
  CHECK(requests.outstanding() == 5000 - 2001);
  CHECK(requests.may_complete(4000ull << 20, 1, 0));
  CHECK_FALSE(requests.may_complete(3999ull << 20, 1, 0));
  requests.forget(queue);
  CHECK(requests.outstanding() == 2500);
  requests.close(other);
  CHECK(requests.outstanding() == 0);
}

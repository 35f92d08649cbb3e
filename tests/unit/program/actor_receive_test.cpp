// Do actors post receives, alone, in lists and to shared queues, and take their completions by the rules?
#include <cerrno>

#include <catch2/catch.hpp>

#include "unit/program/actor_listing.h"

using namespace mtsim;
using namespace mtsim::test;
using verbs::Opcode;
using verbs::Status;

namespace {

using Lines = std::vector<std::string>;
using Numbers = std::vector<std::uint64_t>;

const std::string hopeless = "SUCCESS, not nothing: no such request is under way on this CQ, so it can never complete";

/// furnish("a") makes pd, cq, qp and mr: the fake device numbers them from 1.
constexpr verbs::Handle cq = 2;

Lines work(FakeDevice& device) {
  Lines out;
  for (const std::string& call : device.calls)
    if (call.starts_with("post_")) out.push_back(call);
  return out;
}

Numbers surprised(FakeRun& run) {
  Numbers lines;
  for (const auto& s : run.tally.first_surprises()) lines.push_back(s.line);
  return lines;
}

/// A host with a shared queue, and two QPs on it beside the one that furnish() made: 10 lines; the SRQ has handle 5.
void furnish_shared(Listing& p) {
  p.furnish("a");
  p.create_srq("a.t0", "a.srq", "a.pd");
  for (const char* name : {"a.q1", "a.q2"}) p.create_qp("a.t0", name, "a.pd", "a.cq").srq = p.srq("a.srq");
  p.add("a.t0", Kind::create_cq, p.cq("a.cq2")).depth = 64;  // handle 8
  p.add("a.t0", Kind::compute);
}

/// The completions of receives on a.cq, in this order, once request `after` is posted.
void arrive(FakeRun& run, std::uint64_t after, const Numbers& wrs) {
  for (const std::uint64_t wr : wrs) run.device(0).arrivals[after].push_back({cq, wr});
}

}  // namespace

TEST_CASE("receives and sends of one QP make lists of their own") {
  Listing p;
  p.furnish("a");
  p.receive("a.t0", "a.qp", 1, "a.mr").more = true;
  p.post("a.t0", "a.qp", 2, "a.mr", "a.mr").more = true;
  p.receive("a.t0", "a.qp", 3, "a.mr").more = true;
  p.post("a.t0", "a.qp", 4, "a.mr", "a.mr");
  p.receive("a.t0", "a.qp", 5, "a.mr").sges.clear();
  p.poll_wr("a.t0", "a.cq", 3);
  p.poll_wr("a.t0", "a.cq", 1);
  p.receive("a.t0", "a.qp", 6, "a.mr").more = true;  // nothing follows: goes down at the end
  FakeRun run(p, GENERATE(false, true));
  arrive(run, 5, {1, 3});
  run.run();
  CHECK(run.actors().done());
  CHECK(run.surprises() == Lines{});
  CHECK(work(run.device(0)) == Lines{"post_send 2", "post_recv 3", "post_recv 1"});
  CHECK(run.device(0).receives == Numbers{1, 3, 5, 6});
  CHECK(run.device(0).receive_elements == std::vector<std::size_t>{1, 1, 0, 1});
  CHECK(run.tally.operations(Kind::post_recv) == 4);
}

TEST_CASE("a receive that cannot be posted ends its list; later ones are left unposted and can never complete") {
  Listing p;
  furnish_shared(p);
  const bool shared = GENERATE(false, true);
  for (std::uint64_t wr = 1; wr <= 4; ++wr)
    (shared ? p.share("a.t0", "a.srq", wr, "a.mr") : p.receive("a.t0", "a.qp", wr, "a.mr")).more = wr < 4;
  p.poll_wr("a.t0", "a.cq", 1);
  p.poll_wr("a.t0", "a.cq", 3);
  p.poll_wr("a.t0", "a.cq", 4);
  FakeRun run(p, GENERATE(false, true));
  run.device(0).refused[2] = ENOMEM;
  arrive(run, 1, {1});
  run.run();
  CHECK(run.actors().done());
  const std::string post = shared ? "12 post_srq srq" : "12 post_recv qp";
  CHECK(run.surprises() == Lines{post + " wr=2: ok, not ENOMEM", "16 poll cq wr=3: " + hopeless, "17 poll cq wr=4: " + hopeless});
  CHECK(run.tally.unposted() == 2);
  CHECK(run.device(0).receives == Numbers{1});
}

TEST_CASE("receives and shared queues that lack an object fail by themselves and are left out") {
  Listing p;
  furnish_shared(p);
  p.create_srq("a.t0", "a.bad", "a.none");                             // 11
  p.create_qp("a.t0", "a.q3", "a.pd", "a.cq").srq = p.srq("a.bad");    // 12
  p.share("a.t0", "a.bad", 1, "a.mr");                                 // 13
  p.receive("a.t0", "a.q3", 2, "a.mr");                                // 14
  p.receive("a.t0", "a.qp", 3, "a.mr").more = true;                    // 15
  p.receive("a.t0", "a.qp", 4, "a.unmade").more = true;                // 16
  p.receive("a.t0", "a.qp", 5, "a.mr");                                // 17
  expect(p.add("a.t0", Kind::destroy_srq, p.srq("a.bad")), {EINVAL});  // 18
  FakeRun run(p, GENERATE(false, true));
  run.run();
  CHECK(run.actors().done());
  CHECK(surprised(run) == Numbers{11, 12, 13, 14, 16});
  CHECK(run.tally.lacking_objects() == 6);
  CHECK(work(run.device(0)) == Lines{"post_recv 2"});
  CHECK(run.device(0).receives == Numbers{3, 5});
}

TEST_CASE("a QP is made with the shared queue it names, or with none") {
  Listing p;
  furnish_shared(p);
  FakeRun shared(p, false);
  shared.run();
  CHECK(shared.device(0).newest_qp.srq == 5);
  CHECK(shared.device(0).newest_srq.pd == 1);
  CHECK(shared.device(0).newest_srq.depth == 64);
  CHECK(shared.device(0).newest_srq.sges == 1);
  p.create_qp("a.t0", "a.q4", "a.pd", "a.cq");
  FakeRun own(p, false);
  own.run();
  CHECK(own.device(0).newest_qp.srq == 0);
}

TEST_CASE("receives of a QP of its own complete in order, on its receive CQ, until it is reset or destroyed") {
  Listing p;
  furnish_shared(p);
  Op& q = p.create_qp("a.t0", "a.q3", "a.pd", "a.cq2");
  q.recv_cq = p.cq("a.cq");
  for (std::uint64_t wr = 1; wr <= 3; ++wr) p.receive("a.t0", "a.q3", wr, "a.mr");
  p.poll_wr("a.t0", "a.cq2", 1);                                               // 15: of another CQ
  p.poll_wr("a.t0", "a.cq", 2);                                                // 16
  p.poll_wr("a.t0", "a.cq", 1);                                                // 17: set aside
  p.poll_wr("a.t0", "a.cq", 1);                                                // 18: taken
  p.add("a.t0", Kind::modify_qp, p.qp("a.q3")).state = verbs::QpState::reset;  // 19
  p.poll_wr("a.t0", "a.cq", 3);                                                // 20: forgotten
  p.receive("a.t0", "a.q3", 4, "a.mr");
  p.add("a.t0", Kind::destroy_qp, p.qp("a.q3"));
  p.poll_wr("a.t0", "a.cq", 4);  // 23
  FakeRun run(p, GENERATE(false, true));
  arrive(run, 3, {1, 2});
  run.run();
  CHECK(run.actors().done());
  CHECK(surprised(run) == Numbers{15, 18, 20, 23});
}

TEST_CASE("flushed receives are judged as others are") {
  Listing p;
  p.furnish("a");
  for (std::uint64_t wr = 1; wr <= 2; ++wr) p.receive("a.t0", "a.qp", wr, "a.mr");
  expect(p.poll_wr("a.t0", "a.cq", 1), Status::WR_FLUSH_ERR);
  p.poll("a.t0", "a.cq");
  FakeRun run(p, true);
  run.device(0).arrivals[2] = {{cq, 1, Status::WR_FLUSH_ERR}, {cq, 2, Status::WR_FLUSH_ERR}};
  run.run();
  CHECK(run.surprises() == Lines{"9 poll cq n=1: SUCCESS, not WR_FLUSH_ERR of wr=2"});
}

TEST_CASE("opcodes with what belongs to them: immediate data, compare, swap, add") {
  Listing p;
  p.furnish("a");
  const auto send = [&](std::uint64_t wr, Opcode opcode) -> Op& {
    Op& op = p.post("a.t0", "a.qp", wr, "a.mr", "a.mr");
    op.opcode = opcode;
    return op;
  };
  Op& plain = send(1, Opcode::send);
  plain.has_to = false;
  plain.sges.clear();
  Op& immediate = send(2, Opcode::send_imm);
  immediate.has_to = false;
  immediate.immediate = 7;
  Op& written = send(3, Opcode::write_imm);
  written.immediate = 9;
  written.sges.clear();
  written.to = {0, 0};
  written.to_key = {KeyRef::Form::raw, 0, 0, 0, 0};
  Op& swapped = send(4, Opcode::cas);
  swapped.compare = 11;
  swapped.swap = 12;
  swapped.sges[0].length = 8;
  Op& added = send(5, Opcode::faa);
  added.add = 13;
  added.sges[0].length = 8;
  p.poll("a.t0", "a.cq", 5);
  FakeRun run(p, GENERATE(false, true));
  run.run();
  CHECK(run.surprises() == Lines{});
  const auto& requests = run.device(0).requests;
  REQUIRE(requests.size() == 5);
  CHECK(requests[0].opcode == Opcode::send);
  CHECK(run.device(0).elements[0].empty());
  CHECK(requests[0].immediate == 0);
  CHECK(requests[0].rkey == Key());
  CHECK(requests[1].immediate == 7);
  CHECK(requests[2].immediate == 9);
  CHECK(requests[2].remote_address == 0);
  CHECK(requests[2].rkey == Key());
  CHECK(requests[3].compare == 11);
  CHECK(requests[3].swap_or_add == 12);
  CHECK(run.device(0).elements[3][0].length == 8);
  CHECK(requests[4].compare == 0);
  CHECK(requests[4].swap_or_add == 13);
}

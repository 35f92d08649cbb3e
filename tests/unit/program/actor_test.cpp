// Are actors' calls, keys, expectations and lists right, whether a device answers at once or later?
#include <cerrno>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "unit/program/actor_listing.h"

using namespace mtsim;
using namespace mtsim::test;
using verbs::Status;

namespace {
using Lines = std::vector<std::string>;
}

TEST_CASE("a write, then the same write with a stale key") {
  const bool deferred = GENERATE(false, true);
  Listing p;
  p.furnish("a");
  p.furnish("b");
  p.barrier("a.t0", "ready", 2);
  p.barrier("b.t0", "ready", 2);
  p.add("a.t0", Kind::connect, p.qp("a.qp")).peer = p.qp("b.qp");
  p.post("a.t0", "a.qp", 1, "a.mr", "b.mr");
  expect(p.poll_wr("a.t0", "a.cq", 1), Status::SUCCESS);
  p.barrier("a.t0", "done", 2);
  p.barrier("b.t0", "done", 2);
  p.add("b.t0", Kind::dereg_mr, p.object("b.mr"));
  p.barrier("b.t0", "gone", 2);
  p.barrier("a.t0", "gone", 2);
  p.post("a.t0", "a.qp", 2, "a.mr", "b.mr");
  expect(p.poll_wr("a.t0", "a.cq", 2), Status::REM_ACCESS_ERR);

  FakeRun run(p, deferred);
  run.device(0).statuses[2] = Status::REM_ACCESS_ERR;
  run.run();
  CHECK(run.actors().done());
  CHECK(run.surprises() == Lines{});
  CHECK(run.tally.completions(Status::SUCCESS) == 1);
  CHECK(run.tally.completions(Status::REM_ACCESS_ERR) == 1);
  CHECK(run.tally.operations() == p.size());
  CHECK(run.tally.operations(Kind::post_send) == 2);
  const auto& requests = run.device(0).requests;
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].rkey == Key(4u << 8 | 1));
  CHECK(requests[1].rkey == requests[0].rkey);
  CHECK(requests[1].remote_address == requests[0].remote_address);
  CHECK(run.device(0).elements[0][0].lkey == Key(4u << 8));
  CHECK(run.device(0).elements[0][0].address == 0x10000);
}

TEST_CASE("what a line does not expect is kept with its line and counted, and the run goes on") {
  Listing p;
  p.furnish("a");
  p.add("a.t0", Kind::modify_qp, p.qp("a.qp"));
  p.post("a.t0", "a.qp", 7, "a.mr", "a.mr");
  p.poll("a.t0", "a.cq");
  expect(p.add("a.t0", Kind::dealloc_pd, p.pd("a.pd")), {EBUSY, EINVAL});
  FakeRun run(p, false);
  run.device(0).errors = {{"modify_qp", EINVAL}, {"dealloc_pd", EBUSY}};
  run.device(0).statuses[7] = Status::LOC_PROT_ERR;
  run.run();
  CHECK(run.actors().done());
  CHECK(run.surprises() == Lines{"6 modify_qp qp: ok, not EINVAL", "8 poll cq n=1: SUCCESS, not LOC_PROT_ERR of wr=7"});
  CHECK(run.tally.surprises() == 2);
  CHECK(run.tally.failed_operations() == 2);
}

TEST_CASE("expectations by request, alternatives and anything") {
  Listing p;
  p.furnish("a");
  for (std::uint64_t wr = 1; wr <= 4; ++wr) p.post("a.t0", "a.qp", wr, "a.mr", "a.mr");
  Op& by_wr = p.poll("a.t0", "a.cq", 2);
  by_wr.expect.given = true;
  by_wr.expect.by_wr = {{1, {0}}, {2, {static_cast<std::int32_t>(Status::WR_FLUSH_ERR)}}};
  Op& anything = p.poll("a.t0", "a.cq");
  anything.expect.given = anything.expect.any = true;
  expect(p.poll("a.t0", "a.cq"), {static_cast<std::int32_t>(Status::REM_ACCESS_ERR), static_cast<std::int32_t>(Status::WR_FLUSH_ERR)});
  FakeRun run(p, true);
  run.device(0).statuses = {{2, Status::WR_FLUSH_ERR}, {3, Status::GENERAL_ERR}, {4, Status::LOC_LEN_ERR}};
  run.run();
  CHECK(run.surprises() == Lines{"12 poll cq n=1: REM_ACCESS_ERR|WR_FLUSH_ERR, not LOC_LEN_ERR of wr=4"});
}

TEST_CASE("lines that lack an object fail by themselves and do nothing") {
  Listing p;
  p.furnish("a");
  p.reg_mr("a.t0", "a.bad", "a.pd", "a.buf", 4096);                    // 6: made to fail
  p.post("a.t0", "a.qp", 1, "a.bad", "a.mr");                          // 7
  p.add("a.t0", Kind::dereg_mr, p.object("a.bad"));                    // 8
  expect(p.add("a.t0", Kind::destroy_qp, p.qp("a.later")), {EINVAL});  // 9
  p.poll("a.t0", "a.nowhere");                                         // 10
  p.add("a.t0", Kind::munmap, p.object("a.buf")).whole = true;         // 11
  p.add("a.t0", Kind::touch, p.object("a.buf")).whole = true;          // 12
  p.add("a.t0", Kind::dereg_mr, p.object("a.buf"));                    // 13
  FakeRun run(p, GENERATE(false, true));
  run.device(0).errors["reg_mr"] = ENOMEM;
  run.run();
  CHECK(run.actors().done());
  CHECK(run.surprises() == Lines{"5 reg_mr mr: ok, not ENOMEM", "6 reg_mr bad: ok, not ENOMEM",
                                 "7 post_send qp wr=1: ok, not EINVAL: a.bad could not be made",
                                 "8 dereg_mr bad: ok, not EINVAL: a.bad could not be made",
                                 "10 poll nowhere n=1: SUCCESS, not EINVAL: a.nowhere has not been made",
                                 "12 touch buf: ok, not EINVAL: a.buf is gone", "13 dereg_mr buf: ok, not EINVAL: a.buf is gone"});
  CHECK(run.tally.lacking_objects() == 6);
  CHECK(run.tally.operations() == p.size());
  CHECK(run.device(0).lists.empty());
}

TEST_CASE("keys and addresses are those of the object, of its other key, or changed on purpose") {
  Listing p;
  p.furnish("a");
  Op& changed = p.post("a.t0", "a.qp", 1, "a.mr", "a.mr");
  changed.to.offset = std::uint64_t(0) - 16;
  changed.to_key = {KeyRef::Form::of_place, p.object("a.mr"), 2, 4, 0};
  Op& raw = p.post("a.t0", "a.qp", 2, "a.mr", "a.mr");
  raw.to = {0, 0x1234};
  raw.to_key = {KeyRef::Form::raw, 0, 0, 0, 0xabcd};
  raw.sges[0].key = {KeyRef::Form::rkey, p.object("a.mr"), 0, 0, 0};
  Op& inlined = p.post("a.t0", "a.qp", 3, "a.buf", "a.mr");
  inlined.flags = verbs::Send::inline_data;
  FakeRun run(p, false);
  run.run();
  const auto& requests = run.device(0).requests;
  REQUIRE(requests.size() == 3);
  const std::uint32_t lkey = 4u << 8, rkey = lkey | 1;
  CHECK(requests[0].remote_address == 0x10000 - 16);
  CHECK(requests[0].rkey == Key((rkey + 2) ^ 4));
  CHECK(requests[1].remote_address == 0x1234);
  CHECK(requests[1].rkey == Key(0xabcd));
  CHECK(run.device(0).elements[1][0].lkey == Key(rkey));
  CHECK(run.device(0).elements[2][0].address == 0x10000);
  CHECK(run.device(0).elements[2][0].lkey == Key());
}

TEST_CASE("recorded times are earliest starts, and are ignored when a run goes as fast as it can") {
  Listing p;
  p.add("a.t0", Kind::compute).number = 500;
  p.add("a.t0", Kind::sleep).number = 100;
  p.add("a.t0", Kind::compute).at_ns = 400;
  p.add("a.t0", Kind::compute).at_ns = 900;
  FakeRun recorded(p, true, ReplayTime::recorded);
  recorded.run();
  CHECK(recorded.device(0).calls == Lines{"compute", "sleep_until 600", "compute", "sleep_until 900", "compute"});
  FakeRun asap(p, true, ReplayTime::asap);
  asap.run();
  CHECK(asap.device(0).calls == Lines{"compute", "sleep_until 600", "compute", "compute"});
}

TEST_CASE("an actor that waits says where it stands") {
  Listing p;
  p.furnish("a");
  p.poll("a.t0", "a.cq", 3);
  p.barrier("b.t0", "never", 2);
  FakeRun run(p, true);
  run.run();
  CHECK_FALSE(run.actors().done());
  CHECK(run.actors().standing() == Lines{"a.t0 at line 6: poll cq n=3", "b.t0 at line 7: barrier never n=2"});
}

TEST_CASE("operations that nobody carries out are refused before the run, each once with its place") {
  Listing p;
  p.use("mmap", "x.mtrace:2:6");
  p.use("alloc_mr", "x.mtrace:3:6");
  p.use("post_send reg_mr", "x.mtrace:9:6");
  try {
    refuse_unsupported(p, carried_out());
    FAIL("nothing was refused");
  } catch (const UserError& e) {
    CHECK(e.messages() == Lines{"x.mtrace:3:6: 'alloc_mr' is not modelled yet", "x.mtrace:9:6: 'post_send reg_mr' is not modelled yet"});
  }
}

// Do actors bind, invalidate and use memory windows by their names, ask for states and events, and judge hazards, as the trace format says?
#include <catch2/catch.hpp>
#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "program/trace_reader.h"
#include "unit/program/actor_listing.h"
#include "unit/program/trace_support.h"

using namespace mtsim;
using namespace mtsim::test;
using verbs::Access;
using verbs::Opcode;

namespace {

using Lines = std::vector<std::string>;

/// Handles in the order of making: pd 1, cq 2, qp 3, mr 4. The fake's first mapping is at 0x10000.
const std::string furnished =
    "mtrace 1\n"
    "a.t0 mmap buf len=64K\n"
    "a.t0 alloc_pd pd\n"
    "a.t0 create_cq cq depth=64\n"
    "a.t0 create_qp qp pd=pd type=rc scq=cq rcq=cq\n"
    "a.t0 reg_mr mr pd=pd addr=buf len=64K access=lw,mw\n";
constexpr std::uint32_t base = 0x10000, mr_lkey = 4 << 8, mr_rkey = 4 << 8 | 1, window = 5;
constexpr std::uint32_t window_key = window << 8 | 0xfe;  // as the fake makes it: the second bind wraps its low byte

class TraceRun {
 public:
  explicit TraceRun(const std::string& text, bool deferred = true)
      : trace_(program::open_trace(folder_.file("t.mtrace", furnished + text))), run(*trace_, deferred) {}

 private:
  program::test::TemporaryDirectory folder_;
  std::unique_ptr<program::Program> trace_;

 public:
  FakeRun run;
};

}  // namespace

TEST_CASE("a window's name stands for the key of its last bind, from the post on") {
  TraceRun t(
      "a.t0 alloc_mw w pd=pd type=2\n"
      "a.t0 post_send qp wr=1 bind_mw mw=w mr=mr addr=mr+4096 len=8K access=rr,rw\n"
      "a.t0 post_send qp wr=2 write sge=mr:64 to=w+16\n"
      "a.t0 post_send qp wr=3 local_inv inv=w\n"
      "a.t0 post_send qp wr=4 bind_mw mw=w mr=mr addr=buf+8192 len=4K access=rw,zb\n"
      "a.t0 post_send qp wr=5 write sge=mr:64 to=w\n"
      "a.t0 post_send qp wr=6 send_inv sge=mr:64 inv=w\n"
      "a.t0 post_send qp wr=7 bind_mw mw=w mr=mr addr=buf len=4K access=rw key=w^0x55\n"
      "a.t0 post_send qp wr=8 write sge=mr:64 to=w\n"
      "a.t0 post_send qp wr=9 write sge=mr:64 to=mr:w+1\n"
      "a.t0 dealloc_mw w\n"
      "a.t0 post_send qp wr=10 write sge=mr:64 to=mr:w\n",
      GENERATE(false, true));
  t.run.run();
  CHECK(t.run.surprises() == Lines{});
  const auto& binds = t.run.device(0).binds;
  REQUIRE(binds.size() == 3);
  CHECK(binds[0].window == Key(window_key));
  CHECK(binds[0].new_key == Key(window_key + 1));
  CHECK(binds[0].region == Key(mr_lkey));
  CHECK(binds[0].address == Iova(base + 4096));
  CHECK(binds[0].length == KiB(8));
  CHECK(binds[0].access == (Access::remote_read | Access::remote_write));
  CHECK_FALSE(binds[0].by_call);
  // The low byte wraps and carries nothing into the index.
  CHECK(binds[1].window == Key(window_key + 1));
  CHECK(binds[1].new_key == Key(window << 8));
  CHECK(binds[1].access == (Access::remote_write | Access::zero_based));
  CHECK(binds[2].new_key == Key(window << 8 | 0x55));
  const auto& posted = t.run.device(0).requests;
  REQUIRE(posted.size() == 10);
  CHECK(posted[1].rkey == Key(window_key + 1));
  CHECK(posted[1].remote_address == base + 4096 + 16);
  CHECK(posted[2].opcode == Opcode::local_inv);
  CHECK(posted[2].rkey == Key(window_key + 1));
  CHECK(posted[4].remote_address == 0);
  CHECK(posted[5].opcode == Opcode::send_inv);
  CHECK(posted[5].rkey == Key(window << 8));
  CHECK(posted[7].rkey == Key(window << 8 | 0x55));
  CHECK(posted[7].remote_address == base);
  CHECK(posted[8].rkey == Key((window << 8 | 0x55) + 1));
  CHECK(posted[9].rkey == Key(window << 8 | 0x55));  // gone, and its last key still stands
}

TEST_CASE("a bind that is refused leaves the window's name as it was, also where later lines of its list used it") {
  TraceRun t(
      "a.t0 alloc_mw w pd=pd type=2\n"
      "a.t0 post_send qp wr=1 bind_mw mw=w mr=mr addr=buf+4096 len=4K access=rw flags=more\n"
      "a.t0 post_send qp wr=2 bind_mw mw=w mr=mr addr=buf+8192 len=4K access=rw flags=more\n"
      "a.t0 post_send qp wr=3 bind_mw mw=w mr=mr addr=buf len=4K access=rw\n"
      "a.t0 post_send qp wr=4 write sge=mr:64 to=w\n");
  t.run.device(0).refused[2] = EINVAL;
  t.run.run();
  CHECK(t.run.surprises() == Lines{"9 post_send qp wr=2: ok, not EINVAL"});
  REQUIRE(t.run.device(0).requests.size() == 2);
  CHECK(t.run.device(0).requests[1].rkey == Key(window_key + 1));
  CHECK(t.run.device(0).requests[1].remote_address == base + 4096);
}

TEST_CASE("ibv_bind_mw: what it asks for, its key, and its completion", "[rule:10.20]") {
  TraceRun t(
      "a.t0 alloc_mw w pd=pd type=1\n"
      "a.t0 bind_mw w qp=qp mr=mr addr=mr+4096 len=4K access=rw wr=1\n"
      "a.t0 poll cq wr=1\n"
      "a.t0 post_send qp wr=2 write sge=mr:64 to=w+8\n"
      "a.t0 bind_mw w qp=qp mr=mr addr=mr len=0 access=0\n"
      "a.t0 dereg_mr mr\n"
      "a.t0 bind_mw w qp=qp mr=mr addr=mr len=4K access=rw expect=EINVAL\n",
      GENERATE(false, true));
  t.run.run();
  CHECK(t.run.actors().standing() == Lines{});
  CHECK(t.run.surprises() == Lines{});
  const auto& calls = t.run.device(0).bind_calls;
  REQUIRE(calls.size() == 2);
  CHECK(calls[0].mw == window);
  CHECK(calls[0].qp == 3);
  CHECK(calls[0].mr == 4);
  CHECK(calls[0].wr == 1);
  CHECK(calls[0].address == Iova(base + 4096));
  CHECK(calls[0].signaled);
  CHECK(calls[1].length == Bytes(0));
  CHECK_FALSE(calls[1].signaled);  // no wr=: nothing will be polled
  CHECK(t.run.device(0).requests[0].rkey == Key(0xb101));
  CHECK(t.run.device(0).requests[0].remote_address == base + 4096 + 8);
}

TEST_CASE("a request says which registration its key means, if the key is an MR's as it stands") {
  TraceRun t(
      "a.t0 post_send qp wr=1 write sge=mr:64 to=mr\n"
      "a.t0 post_send qp wr=2 write sge=mr:64 to=buf:mr\n"
      "a.t0 post_send qp wr=3 write sge=mr:64 to=mr:mr.rkey\n"
      "a.t0 post_send qp wr=4 write sge=mr:64 to=mr:mr+1\n"
      "a.t0 post_send qp wr=5 write sge=mr:64 to=mr:mr^1\n"
      "a.t0 post_send qp wr=6 write sge=mr:64 to=mr:0x401\n"
      "a.t0 alloc_mw w pd=pd type=2\n"
      "a.t0 post_send qp wr=7 write sge=mr:64 to=mr:w\n"
      "a.t0 dereg_mr mr\n"
      "a.t0 reg_mr other pd=pd addr=buf len=64K access=lw\n"
      "a.t0 post_send qp wr=8 write sge=other:64 to=buf:mr\n"
      "a.t0 post_send qp wr=9 write sge=other:64 to=other\n"
      "a.t0 rereg_mr other pd=pd\n"
      "a.t0 post_send qp wr=10 write sge=other:64 to=other\n"
      "a.t0 post_send qp wr=11 send sge=other:64\n");
  t.run.run();
  CHECK(t.run.surprises() == Lines{});
  const std::uint64_t mr = FakeDevice::identity_of(4), other = FakeDevice::identity_of(6), rereg = FakeDevice::identity_of(7);
  std::vector<std::uint64_t> meant;
  for (const auto& request : t.run.device(0).requests) meant.push_back(request.meant);
  CHECK(meant == std::vector<std::uint64_t>{mr, mr, mr, 0, 0, 0, 0, mr, other, rereg, 0});
}

TEST_CASE("query_qp: the state that the device tells is what the line expects, or a surprise") {
  TraceRun t(
      "a.t0 query_qp qp expect=rts\n"
      "a.t0 query_qp qp expect=err|sqe\n"
      "a.t0 query_qp qp expect=any\n"
      "a.t0 destroy_qp qp\n"
      "a.t0 query_qp qp expect=rts\n",
      GENERATE(false, true));
  t.run.run();
  CHECK(t.run.surprises() == Lines{"8 query_qp qp: err|sqe, not rts", "11 query_qp qp: rts, not EINVAL: a.qp is gone"});
}

TEST_CASE("event: the next one of the host, and where nothing comes the line stands in the report") {
  TraceRun t(
      "a.t0 event expect=QP_ACCESS_ERR|QP_REQ_ERR\n"
      "a.t0 event expect=QP_LAST_WQE_REACHED\n"
      "a.t0 event expect=any\n"
      "a.t0 event expect=CQ_ERR|COMM_EST\n",
      GENERATE(false, true));
  t.run.device(0).events = {verbs::Event::QP_REQ_ERR, verbs::Event::CQ_ERR, verbs::Event::SQ_DRAINED};
  t.run.run();
  CHECK(t.run.surprises() == Lines{"8 event expect=QP_LAST_WQE_REACHED: QP_LAST_WQE_REACHED, not CQ_ERR"});
  CHECK(t.run.actors().standing() == Lines{"a.t0 at line 10: event expect=CQ_ERR|COMM_EST"});
}

TEST_CASE("copy: the CPU reads the one buffer, then writes the other") {
  TraceRun t(
      "a.t0 mmap to len=64K\n"
      "a.t0 copy buf to=to len=8K\n"
      "a.t0 munmap to\n"
      "a.t0 copy buf to=to len=8K\n",
      GENERATE(false, true));
  t.run.run();
  CHECK(t.run.surprises() == Lines{"10 copy buf: ok, not EINVAL: a.to is gone"});
  const auto& calls = t.run.device(0).calls;
  REQUIRE(calls.size() >= 3);
  std::vector<std::string> touched;
  for (const std::string& call : calls)
    if (call.starts_with("touch")) touched.push_back(call);
  CHECK(touched == Lines{"touch 10000 8192 read", "touch 20000 8192 write", "touch 10000 8192 read"});
}

TEST_CASE("a copy whose source cannot be read writes nothing") {
  TraceRun t("a.t0 copy buf to=buf len=8K expect=EFAULT\n");
  t.run.device(0).errors["touch"] = EFAULT;
  t.run.run();
  CHECK(t.run.surprises() == Lines{});
  CHECK(t.run.device(0).calls.back() == "touch 10000 8192 read");
  CHECK(t.run.tally.operations(program::Kind::copy) == 1);
}

TEST_CASE("hazard=: what the data suffered is judged where a poll says so, and nowhere else") {
  TraceRun t(
      "a.t0 post_send qp wr=1 write sge=mr:64 to=mr flags=signaled\n"
      "a.t0 post_send qp wr=2 write sge=mr:64 to=mr flags=signaled\n"
      "a.t0 post_send qp wr=3 write sge=mr:64 to=mr flags=signaled\n"
      "a.t0 post_send qp wr=4 write sge=mr:64 to=mr flags=signaled\n"
      "a.t0 poll cq wr=2 hazard=stale\n"
      "a.t0 poll cq wr=1 hazard=none\n"
      "a.t0 poll cq wr=3 hazard=none\n"
      "a.t0 poll cq wr=4\n");
  t.run.device(0).hazards = {{2, verbs::Hazard::stale}, {3, verbs::Hazard::foreign}, {4, verbs::Hazard::stale}};
  t.run.run();
  CHECK(t.run.actors().standing() == Lines{});
  CHECK(t.run.surprises() == Lines{"13 poll cq wr=3: hazard=none, not hazard=foreign"});
}

// Do actors ask for changes of memory and of registrations as the lines say, and do later lines see what came of it?
#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "program/trace_reader.h"
#include "unit/program/actor_listing.h"

using namespace mtsim;
using namespace mtsim::test;

namespace {

struct TraceRun {
  explicit TraceRun(const std::string& lines) {
    const auto path = std::filesystem::temp_directory_path() / "mtsim_actor_memory_test.mtrace";
    std::ofstream(path) << "mtrace 1\n" << lines;
    trace = open_trace(path.string());
    refuse_unsupported(*trace, carried_out());
    run = std::make_unique<FakeRun>(*trace, true);
  }
  ~TraceRun() { std::filesystem::remove(std::filesystem::temp_directory_path() / "mtsim_actor_memory_test.mtrace"); }
  std::unique_ptr<program::Program> trace;
  std::unique_ptr<FakeRun> run;
};

}  // namespace

TEST_CASE("changes of memory name the range and what becomes of it") {
  TraceRun t(
      "a.t0 fork_init safe=0\n"
      "a.t0 mmap buf len=64K\n"
      "a.t0 mprotect buf prot=r\n"
      "a.t0 mprotect buf prot=none off=4K len=8K\n"
      "a.t0 mprotect buf prot=rw off=0 len=4K\n"
      "a.t0 madvise buf advice=dontfork\n"
      "a.t0 madvise buf advice=dofork off=4K len=4K\n"
      "a.t0 madvise buf advice=dontneed\n"
      "a.t0 madvise buf advice=hugepage\n"
      "a.t0 swapout buf off=8K len=4K\n"
      "a.t0 migrate buf\n"
      "a.t0 munmap buf\n"
      "a.t0 swapout buf expect=EINVAL\n");
  t.run->run();
  CHECK(t.run->surprises() == std::vector<std::string>{});
  CHECK(t.run->device(0).calls == std::vector<std::string>{
                                      "fork_init false",
                                      "mmap",
                                      "mprotect 10000 65536 r-",
                                      "mprotect 11000 8192 --",
                                      "mprotect 10000 4096 rw",
                                      "madvise 10000 65536 0",
                                      "madvise 11000 4096 1",
                                      "madvise 10000 65536 2",
                                      "madvise 10000 65536 3",
                                      "madvise 12000 4096 4",
                                      "madvise 10000 65536 5",
                                      "munmap 10000 65536",
                                  });
}

TEST_CASE("an implicit region is asked for by its length, and advise_mr with the addresses and keys of its elements") {
  TraceRun t(
      "a.t0 mmap buf len=64K\n"
      "a.t0 alloc_pd pd\n"
      "a.t0 reg_mr all pd=pd addr=0 len=all access=od\n"
      "a.t0 reg_mr mr pd=pd addr=buf+4K len=8K access=od\n"
      "a.t0 advise_mr prefetch pd=pd sge=buf+8K:4K:all,mr+16:1K\n"
      "a.t0 advise_mr prefetch_no_fault pd=pd sge=mr:1 flush=1\n"
      "a.t0 advise_mr prefetch_write pd=pd sge=0x40:1:0x77\n");
  t.run->run();
  CHECK(t.run->surprises() == std::vector<std::string>{});
  const auto& device = t.run->device(0);
  CHECK(device.calls[2] == "reg_mr 0 18446744073709551615");
  const std::vector<std::string> asked(device.calls.begin() + 4, device.calls.end());
  CHECK(asked == std::vector<std::string>{"advise_mr 0 flush false 12000:4096:200 11010:1024:300", "advise_mr 2 flush true 11000:1:300",
                                          "advise_mr 1 flush false 40:1:77"});
}

TEST_CASE("rereg_mr asks for what the line changes, and its keys and range are those that later lines mean") {
  TraceRun t(
      "a.t0 mmap buf len=64K\n"
      "a.t0 alloc_pd pd\n"
      "a.t0 alloc_pd other\n"
      "a.t0 create_cq cq\n"
      "a.t0 create_qp qp pd=pd type=rc scq=cq rcq=cq access=lw,rr,rw\n"
      "a.t0 reg_mr mr pd=pd addr=buf len=4K access=lw\n"
      "a.t0 rereg_mr mr access=lw,rw\n"
      "a.t0 rereg_mr mr pd=other\n"
      "a.t0 rereg_mr mr trans addr=buf+8K len=16K pd=pd access=0\n"
      "a.t0 post_send qp wr=1 write sge=mr+0:4K to=mr+4K flags=signaled\n"
      "a.t0 poll cq wr=1\n"
      "a.t0 dereg_mr mr\n"
      "a.t0 rereg_mr mr access=0 expect=EINVAL\n");
  t.run->run();
  CHECK(t.run->surprises() == std::vector<std::string>{});
  const auto& device = t.run->device(0);
  std::vector<std::string> asked;
  for (const std::string& call : device.calls)
    if (call.starts_with("rereg_mr")) asked.push_back(call);
  CHECK(asked == std::vector<std::string>{"rereg_mr false 0 0 pd 0 access true 5", "rereg_mr false 0 0 pd 2 access false 0",
                                          "rereg_mr true 12000 16384 pd 1 access true 0"});
  REQUIRE(device.requests.size() == 1);
  CHECK(device.requests[0].remote_address == 0x13000);
  CHECK((device.requests[0].rkey.raw & 0xff) == 3);
  CHECK(device.elements[0][0].address == 0x12000);
  CHECK((device.elements[0][0].lkey.raw & 0xff) == 2);
}

TEST_CASE("a rereg_mr that fails leaves the object as it was") {
  TraceRun t(
      "a.t0 mmap buf len=64K\n"
      "a.t0 alloc_pd pd\n"
      "a.t0 reg_mr mr pd=pd addr=buf len=4K access=lw\n"
      "a.t0 rereg_mr mr trans addr=buf+8K len=16K expect=ENOMEM\n"
      "a.t0 dereg_mr mr\n");
  t.run->device(0).errors["rereg_mr"] = 12;
  t.run->run();
  CHECK(t.run->surprises() == std::vector<std::string>{});
}

TEST_CASE("actors of a copy wait for its fork, and threads of other names do not") {
  const std::string lines =
      "a.kid_t0 fork_init\n"
      "a.kid_boy_t0 memlock limit=3\n"
      "a.kid_t1 memlock limit=2\n"
      "a.other_t0 memlock limit=1\n"
      "a.t0 compute 5\n"
      "a.t0 fork kid expect=ok|ENOMEM\n"
      "a.t0 fork kid_boy expect=ok|ENOMEM\n"
      "a.t0 cap_ipc_lock 0\n";
  TraceRun t(lines);
  t.run->run();
  CHECK(t.run->actors().done());
  CHECK(t.run->surprises() == std::vector<std::string>{});
  const auto& calls = t.run->device(0).calls;
  const auto at = [&](const std::string& call) { return std::find(calls.begin(), calls.end(), call) - calls.begin(); };
  CHECK(std::size_t(at("cap_ipc_lock false")) < calls.size());
  CHECK(calls.front() == "memlock 1");
  // By thread: kid_t0, kid_boy_t0, kid_t1, other_t0, t0.
  CHECK(at("fork kid 0,2") < at("fork_init true"));
  CHECK(at("fork kid 0,2") < at("memlock 2"));
  CHECK(at("fork kid_boy 1") < at("memlock 3"));

  // A fork that fails leaves nobody to do what they would have done.
  TraceRun failing(lines);
  failing.run->device(0).errors["fork"] = ENOMEM;
  failing.run->run();
  CHECK(failing.run->actors().done());
  CHECK(failing.run->surprises() == std::vector<std::string>{});
  const auto& fewer = failing.run->device(0).calls;
  CHECK(std::find(fewer.begin(), fewer.end(), "fork_init true") == fewer.end());
  CHECK(std::find(fewer.begin(), fewer.end(), "cap_ipc_lock false") != fewer.end());
}

TEST_CASE("a buffer that one process unmaps is still there in its copies") {
  TraceRun t(
      "a.t0 mmap buf len=64K\n"
      "a.t0 fork kid\n"
      "a.kid_t0 barrier gone n=2\n"
      "a.t0 munmap buf\n"
      "a.t0 barrier gone n=2\n"
      "a.t0 touch buf expect=EINVAL\n"
      "a.kid_t0 touch buf\n"
      "a.kid_t0 munmap buf\n"
      "a.kid_t0 touch buf expect=EINVAL\n");
  t.run->run();
  CHECK(t.run->actors().done());
  CHECK(t.run->surprises() == std::vector<std::string>{});
}

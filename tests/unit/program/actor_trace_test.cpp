// Do recorded programs run on actors as they ran in life?
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "program/trace_reader.h"
#include "unit/program/actor_fabric_device.h"
#include "unit/program/actor_listing.h"
#include "unit/program/trace_support.h"

using namespace mtsim;
using namespace mtsim::test;

namespace {

const std::string recorded = MTSIM_SOURCE_DIR "/traces/recorded/";

/// Runs recorded programs to their end under a schedule; gives how many there were.
std::size_t replay(Schedule schedule) {
  unsigned number = 0;
  for (const std::string& path : program::test::recorded_traces()) {
    CAPTURE(path);
    const auto trace = open_trace(path);
    refuse_unsupported(*trace, carried_out());
    const FabricRun run(*trace, schedule, ++number);
    std::vector<std::string> surprises;
    for (const Surprise& s : run.tally.first_surprises()) surprises.push_back(std::to_string(s.line) + ' ' + s.operation + ": " + s.got);
    CHECK(run.actors->standing() == std::vector<std::string>{});
    CHECK(surprises == std::vector<std::string>{});
    CHECK(run.tally.lacking_objects() == 0);
    CHECK(run.tally.operations() == trace->size());
  }
  return number;
}

}  // namespace

TEST_CASE("recorded programs meet every expectation, whoever is ahead") {
  CHECK(replay(GENERATE(Schedule::fast_nic, Schedule::slow_nic, Schedule::mixed)) == program::test::recorded_trace_count);
}

TEST_CASE("lists of a recorded program go down as they did") {
  const auto trace = open_trace(recorded + "ib_write_bw-4k-list.mtrace");
  FakeRun run(*trace, false);
  run.run();
  CHECK(run.device(0).lists == std::vector<std::size_t>(100, 16));
}

TEST_CASE("a trace's expectations of failures are met, and its surprises have its lines") {
  const auto path = std::filesystem::temp_directory_path() / "mtsim_actor_trace_test.mtrace";
  std::ofstream(path) << "mtrace 1\n"
                         "a.t0 mmap buf len=64K\n"
                         "a.t0 alloc_pd pd\n"
                         "a.t0 create_cq cq depth=64\n"
                         "a.t0 create_qp qp pd=pd type=rc scq=cq rcq=cq access=lw,rr,rw\n"
                         "a.t0 reg_mr src pd=pd addr=buf len=64K access=lw\n"
                         "a.t0 post_send qp wr=1 write sge=src+0:4K to=src+4096:src.rkey+1 flags=signaled\n"
                         "a.t0 poll cq wr=1 expect=REM_ACCESS_ERR\n"
                         "a.t0 post_send qp wr=2 write sge=src-8:4K to=src flags=signaled\n"
                         "a.t0 poll cq wr=2 expect=1:SUCCESS,2:LOC_PROT_ERR|WR_FLUSH_ERR\n"
                         "a.t0 munmap buf off=4K len=4K\n"
                         "a.t0 dealloc_pd pd expect=EBUSY\n"
                         "a.t0 dereg_mr src\n"
                         "a.t0 dereg_mr src\n";
  const auto trace = open_trace(path.string());
  FakeRun run(*trace, true);
  run.device(0).statuses = {{1, verbs::Status::REM_ACCESS_ERR}, {2, verbs::Status::WR_FLUSH_ERR}};
  run.device(0).errors["dealloc_pd"] = 16;
  run.run();
  CHECK(run.surprises() == std::vector<std::string>{"14 dereg_mr src: ok, not EINVAL: a.src is gone"});
  const auto& requests = run.device(0).requests;
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].rkey == Key(requests[1].rkey.raw + 1));
  CHECK(requests[0].remote_address == requests[1].remote_address + 4096);
  CHECK(run.device(0).elements[1][0].address == requests[1].remote_address - 8);
  std::filesystem::remove(path);
}

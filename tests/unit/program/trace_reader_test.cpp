// Does the reader understand the format as it is meant?
#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "program/trace_reader.h"
#include "unit/program/trace_support.h"

using namespace mtsim;
using namespace mtsim::program;
using test::operations;

namespace {

const std::string objects =
    "a.t0 mmap buf len=64K\na.t0 alloc_pd pd\na.t0 create_cq cq\na.t0 reg_mr mr pd=pd addr=buf len=64K access=lw\n"
    "a.t0 create_qp qp pd=pd type=rc scq=cq rcq=cq\n";

Op last(const std::string& line, const TraceOptions& options = {}) { return operations(objects + line + "\n", options).back(); }

}  // namespace

TEST_CASE("A trace of one write and a stale key") {
  const test::TemporaryDirectory directory;
  const auto trace = open_trace(directory.file("example.mtrace", R"(mtrace 1
meta source="by hand" shows="one write, then the same write with a stale key"
a.t0 mmap buf len=64K
a.t0 alloc_pd pd
a.t0 create_cq cq depth=64
a.t0 create_qp qp pd=pd type=rc scq=cq rcq=cq access=lw,rr,rw
a.t0 reg_mr src pd=pd addr=buf len=64K access=lw
b.t0 mmap buf len=64K
b.t0 alloc_pd pd
b.t0 create_cq cq depth=64
b.t0 create_qp qp pd=pd type=rc scq=cq rcq=cq access=lw,rr,rw
b.t0 reg_mr dst pd=pd addr=buf len=64K access=lw,rw
a.t0 barrier ready n=2
b.t0 barrier ready n=2
a.t0 connect qp to=b.qp
a.t0 post_send qp wr=1 write sge=src+0:4K to=b.dst+0 flags=signaled
a.t0 poll cq wr=1 expect=SUCCESS
a.t0 barrier done n=2
b.t0 barrier done n=2
b.t0 dereg_mr dst
b.t0 barrier gone n=2
a.t0 barrier gone n=2
a.t0 post_send qp wr=2 write sge=src+0:4K to=b.dst+0 flags=signaled
a.t0 poll cq wr=2 expect=REM_ACCESS_ERR
)"));
  CHECK(trace->size() == 22);
  CHECK(trace->lines() == 24);
  CHECK(trace->title() == "example.mtrace");
  CHECK(trace->hash().size() == 16);
  CHECK(trace->meta() == std::vector<Meta>{{{"source", "by hand"}, {"shows", "one write, then the same write with a stale key"}}});
  CHECK(trace->names().hosts() == std::vector<std::string>{"a", "b"});
  REQUIRE(trace->names().actors().size() == 2);
  CHECK(trace->cpus(0) == 0);
  const auto ops = operations(*trace);
  const Op& poll = ops[12];
  CHECK(poll.kind == Kind::poll);
  CHECK(poll.line == 24);
  CHECK(poll.wr == 2);
  CHECK(poll.expect.words == std::vector<std::int32_t>{std::int32_t(verbs::Status::REM_ACCESS_ERR)});
  const Op& write = ops[11];
  CHECK(write.opcode == verbs::Opcode::write);
  CHECK(trace->names().object_name(write.to.object) == "dst");
  CHECK(trace->names().hosts()[trace->names().host_of(write.to.object)] == "b");
  REQUIRE(write.sges.size() == 1);
  CHECK(write.sges[0].length == 4096);
  CHECK(write.sges[0].key.form == KeyRef::Form::omitted);
}

TEST_CASE("Every operation of the grammar is read") {
  const test::TemporaryDirectory directory;
  const auto trace = open_trace(directory.file("all.mtrace", test::whole_grammar()));
  std::vector<bool> seen(kind_count);
  for (const Op& op : operations(*trace)) seen[std::size_t(op.kind)] = true;
  CHECK(std::count(seen.begin(), seen.end(), false) == 0);
  CHECK(trace->cpus(0) == 2);
  CHECK(trace->cpus(1) == 0);
  CHECK(trace->names().actors().size() == 3);
  CHECK(trace->names().actors()[1].name == "a.copy_t0");
  CHECK(trace->names().actors()[1].thread == 1);
}

TEST_CASE("What a trace asks of a device is listed once, with its first place") {
  const test::TemporaryDirectory directory;
  const auto trace = open_trace(directory.file("all.mtrace", test::whole_grammar()));
  const auto place_of = [&](const std::string& what) -> std::string {
    std::string found;
    for (const auto& use : trace->uses())
      if (use.what == what) found += use.place.substr(directory.path().string().size() + 1);
    return found;
  };
  for (const char* what : {"rereg_mr",
                           "post_send",
                           "post_send cas",
                           "post_send write",
                           "create_qp type=uc",
                           "create_qp type=ud",
                           "create_qp srq=",
                           "poll wait=event",
                           "poll hazard=",
                           "mmap backing=file",
                           "mmap backing=io",
                           "mmap prot=",
                           "mmap share=shared",
                           "reg_mr access=od",
                           "reg_mr access=zb",
                           "reg_mr access=ht",
                           "reg_mr implicit",
                           "reg_mr iova=",
                           "post_send flags=fence",
                           "post_send ud=",
                           "alloc_pd dev=",
                           "fork"})
    CHECK(place_of(what).starts_with("all.mtrace:"));
  CHECK(place_of("mmap") == "all.mtrace:7:6");
  CHECK(place_of("mmap backing=file") == "all.mtrace:7:61");
  CHECK(place_of("mprotect") == "all.mtrace:10:9");
  CHECK(place_of("create_qp type=rc").empty());
}

TEST_CASE("Numbers are decimal or hexadecimal, lengths may carry a unit") {
  const auto length = [](const std::string& text) { return operations("a.t0 mmap buf len=" + text + "\n").front().mmap.length.raw; };
  CHECK(length("0") == 0);
  CHECK(length("4096") == 4096);
  CHECK(length("0x1F") == 31);
  CHECK(length("4K") == 4096);
  CHECK(length("4KB") == 4096);
  CHECK(length("4KiB") == 4096);
  CHECK(length("0x10K") == 16384);
  CHECK(length("2M") == 2 << 20);
  CHECK(length("3G") == std::uint64_t{3} << 30);
  CHECK(length("16777215T") == std::uint64_t{16777215} << 40);
  CHECK(length("18446744073709551615") == ~std::uint64_t{0});
}

TEST_CASE("Addresses and keys are kept as they are written") {
  const Op op = last("a.t0 post_send qp wr=1 read sge=mr-1:1,buf+4K:2:mr,0x10:3:0xff,mr:4:mr.rkey^3 to=a.mr:mr.lkey+7");
  REQUIRE(op.sges.size() == 4);
  CHECK(op.sges[0].address.offset == ~std::uint64_t{0});
  CHECK(op.sges[1].address.offset == 4096);
  CHECK(op.sges[1].key.form == KeyRef::Form::of_place);
  CHECK(op.sges[2].address.object == 0);
  CHECK(op.sges[2].address.offset == 16);
  CHECK(op.sges[2].key.form == KeyRef::Form::raw);
  CHECK(op.sges[2].key.raw == 255);
  CHECK(op.sges[3].key.form == KeyRef::Form::rkey);
  CHECK(op.sges[3].key.flip == 3);
  CHECK(op.to.object == op.sges[0].address.object);
  CHECK(op.to_key.form == KeyRef::Form::lkey);
  CHECK(op.to_key.add == 7);
}

TEST_CASE("A key may be left out where none is looked at") {
  CHECK(last("a.t0 post_send qp wr=1 send sge=buf:8 flags=inline").sges.size() == 1);
  CHECK(last("a.t0 post_send qp wr=1 send flags=inline sge=buf:8").sges.size() == 1);
  CHECK(last("a.t0 post_send qp wr=1 write sge=buf:0 to=0x0").sges.size() == 1);
  CHECK(last("a.t0 post_send qp wr=1 write to=buf").sges.empty());
}

TEST_CASE("The expectation of the rules in force wins") {
  const std::string line = "a.t0 poll cq expect=SUCCESS expect.rxe-6.1=LOC_QP_OP_ERR|LOC_PROT_ERR";
  using verbs::Status;
  CHECK(last(line).expect.words == std::vector<std::int32_t>{std::int32_t(Status::SUCCESS)});
  CHECK(last(line, {.rules = "rxe-6.1"}).expect.words ==
        std::vector<std::int32_t>{std::int32_t(Status::LOC_QP_OP_ERR), std::int32_t(Status::LOC_PROT_ERR)});
  CHECK_FALSE(last("a.t0 poll cq expect.mlx5=any").expect.given);
  CHECK(last("a.t0 dereg_mr mr expect=EBUSY|ok").expect.words == std::vector<std::int32_t>{EBUSY, 0});
  CHECK(last("a.t0 poll cq n=2 expect=17:SUCCESS,18:REM_ACCESS_ERR").expect.by_wr.size() == 2);
}

TEST_CASE("Defaults are those of the grammar") {
  CHECK(last("a.t0 create_cq c2").depth == 256);
  CHECK(last("a.t0 poll cq").count == 1);
  CHECK(last("a.t0 touch buf").flag);
  CHECK(last("a.t0 touch buf off=4K").whole);
  CHECK_FALSE(last("a.t0 touch buf len=4K").whole);
  CHECK(last("a.t0 munmap buf").whole);
  const Op op = last("a.t0 create_qp q2 pd=pd type=rc scq=cq rcq=cq mtu=1024");
  CHECK(op.create_qp.sq_depth == 128);
  CHECK(op.create_qp.timeout == 14);
  CHECK(op.create_qp.mtu == KiB(1));
  CHECK(last("a.t0 create_qp q2 pd=pd type=rc scq=cq rcq=cq mtu=3").create_qp.mtu == KiB(1));
}

TEST_CASE("Names of PDs, CQs and QPs are apart from each other and from memory") {
  const auto ops = operations("a.t0 mmap x len=4K\na.t0 alloc_pd x\na.t0 create_cq x\na.t0 reg_mr y pd=x addr=x len=4K access=lw\n");
  CHECK(ops[0].id != ops[1].id);
  CHECK(ops[1].id != ops[2].id);
  CHECK(ops[3].pd == ops[1].id);
  CHECK(ops[3].address.object == ops[0].id);
}

TEST_CASE("Line ends of other systems and the mark before UTF-8 are accepted") {
  CHECK(test::messages("\xef\xbb\xbfmtrace 1\r\nmeta a=\"b\"\r\na.t0 compute 1\r\n\r\n# \xc3\xa9\r\na.t0 compute 2").empty());
}

TEST_CASE("A trace is the same compressed, through a pipe or plain") {
  const test::TemporaryDirectory directory;
  const std::string packed = MTSIM_SOURCE_DIR "/traces/recorded/ib_write_bw-4k-q4.mtrace.zst";
  const auto trace = open_trace(packed);
  const std::string renamed = directory.file("unnamed", test::bytes_of(packed));
  CHECK(open_trace(renamed)->hash() == trace->hash());

  const std::string pipe = (directory.path() / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::thread feeder([&] { std::ofstream(pipe, std::ios::binary) << test::bytes_of(packed); });
  const auto piped = open_trace(pipe);
  feeder.join();
  CHECK(piped->hash() == trace->hash());
  CHECK(operations(*piped).size() == trace->size());
}

TEST_CASE("All recorded traces are read, every line of them") {
  const auto paths = test::recorded_traces();
  CHECK(paths.size() == test::recorded_trace_count);
  for (const std::string& path : paths) {
    INFO(path);
    const auto trace = open_trace(path);
    std::uint64_t read = 0;
    for (ActorId actor = 0; actor < trace->names().actors().size(); ++actor) {
      const auto cursor = trace->cursor(actor);
      for (Op op; cursor->next(op);) ++read;
    }
    CHECK(read == trace->size());
    CHECK(trace->size() > 0);
  }
}

TEST_CASE("Memory does not grow with the length of a trace") {
  const auto heap_in_use = [] { return ::mallinfo2().uordblks; };
  const auto most_while_reading = [&](const char* path) {
    const std::size_t before = heap_in_use();
    const auto trace = open_trace(path);
    std::size_t most = heap_in_use();
    const auto cursor = trace->cursor(1);
    std::uint64_t n = 0;
    for (Op op; cursor->next(op);)
      if (++n % 1000 == 0) most = std::max(most, heap_in_use());
    return most - before;
  };
  const std::size_t small = most_while_reading(MTSIM_SOURCE_DIR "/traces/recorded/ib_write_bw-4k-q4.mtrace.zst");
  const std::size_t large = most_while_reading(MTSIM_SOURCE_DIR "/traces/recorded/ib_write_bw-64-long.mtrace.zst");
  // The window of the decompressor follows the size of the file up to its limit; 25 times the lines may cost no more than that.
  CHECK(large < small + (std::size_t{8} << 20));
}

TEST_CASE("A file that is written to while in use is refused") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.file("t.mtrace", "mtrace 1\na.t0 compute 1\n");
  const auto trace = open_trace(path);
  directory.file("t.mtrace", "mtrace 1\na.t0 compute 1\na.t0 compute 2\n");
  CHECK_THROWS_WITH(trace->cursor(0), path + ": was written to while it was in use");
}

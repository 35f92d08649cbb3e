// Is each operation a line whose steps add up, and what happens when the disk does not take it?
#include "results/operations_file.h"

#include <array>
#include <catch2/catch.hpp>

#include "base/error.h"
#include "support/temp_folder.h"

using namespace mtsim;
using namespace mtsim::results;

namespace {

const std::vector<std::string> steps{"post", "wire", "completion"};
const std::array causes{"CPU", "READ credits, fence"};
const std::string header =
    "host,qp,qpn,wr,opcode,bytes,status,measured,begin_ns,end_ns,latency_ns,post_ns,wire_ns,completion_ns,service_ns,wait: CPU_ns,"
    "\"wait: READ credits, fence_ns\",waited_for,cqe\n";

std::string written(const std::vector<Operation>& operations) {
  const test::TempFolder folder;
  OutputFile file(folder.path("ops.csv"));
  OperationsFile ops(file, steps, causes);
  for (const Operation& o : operations) ops.add(o);
  ops.finish();
  file.commit();
  return test::read_file(folder.path("ops.csv"));
}

}  // namespace

TEST_CASE("a run without operations has a header") { CHECK(written({}) == header); }

TEST_CASE("times are exact to the picosecond, and a step that was skipped takes none") {
  const std::array<Time, 3> ends{ps(1'000'250), Time(), ps(12'345'678'901'234)};
  const std::string queue = OperationsFile::queue("a", "qp", 17);
  const std::array<Time, 2> waits{ps(49), ps(12'345'677'000'984)};
  Operation o{queue, 5, verbs::Opcode::read, 4096, verbs::Status::SUCCESS, false, ps(1'000'001), ends, waits, 4, false};
  CHECK(written({o}) == header +
                            "a,qp,17,5,read,4096,SUCCESS,no,1000.001,12345678901.234,12345677901.233,0.249,0.000,12345677900.984,"
                            "900.200,0.049,12345677000.984,4,no\n");
}

TEST_CASE("an operation whose stamps all lie before its beginning took no time") {
  const std::array<Time, 3> ends{ps(7), ps(8), Time()};
  const std::array<Time, 2> waits{};
  Operation o{"a,qp,17", ~std::uint64_t{0}, verbs::Opcode::write, 0, verbs::Status::WR_FLUSH_ERR, true, ps(10), ends, waits, 0, true};
  CHECK(written({o}) ==
        header + "a,qp,17,18446744073709551615,write,0,WR_FLUSH_ERR,yes,0.010,0.010,0.000,0.000,0.000,0.000,0.000,0.000,0.000,0,yes\n");
}

TEST_CASE("names that a table cannot hold as they are stand in quotes") {
  CHECK(OperationsFile::queue("a,b", "q\"p", 3) == "\"a,b\",\"q\"\"p\",3");
}

TEST_CASE("a full disk is told at the end, not amid the run") {
  OutputFile file("/dev/full");
  OperationsFile ops(file, steps, causes);
  const std::array<Time, 3> ends{};
  const std::array<Time, 2> waits{};
  for (int i = 0; i < 100'000; ++i)
    CHECK_NOTHROW(ops.add({"a,qp,17", 1, verbs::Opcode::write, 0, verbs::Status::SUCCESS, true, {}, ends, waits, 0, true}));
  CHECK_THROWS_WITH(ops.finish(), "cannot write '/dev/full': No space left on device");
}

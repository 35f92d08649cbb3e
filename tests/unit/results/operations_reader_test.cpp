// Is what --ops writes read back, and is a damaged, truncated or hostile file refused with its place?
#include "results/operations_reader.h"

#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>

#include "base/error.h"
#include "results/csv_reader.h"
#include "results/operations_file.h"
#include "support/temp_folder.h"

using namespace mtsim;
using namespace mtsim::results;

namespace {

const std::string header = "host,qp,wr,opcode,bytes,status,measured,latency_ns\n";
const std::string line = "a,q,1,write,64,SUCCESS,yes,12.345\n";

std::vector<OperationRow> rows_of(const std::string& text, Names& names, const OperationsLimits& limits = {}) {
  const test::TempFolder folder;
  return read_operations(folder.write("ops.csv", text), names, limits);
}

/// What is said of a text, without the folder.
std::string refused(const std::string& text, const OperationsLimits& limits = {}) {
  Names names;
  try {
    rows_of(text, names, limits);
  } catch (const UserError& error) { return std::string(error.what()).substr(std::string(error.what()).find("ops.csv")); }
  return "taken";
}

}  // namespace

TEST_CASE("an operations file is read as it was written, whatever its steps") {
  const test::TempFolder folder;
  OutputFile file(folder.path("ops.csv"));
  const std::vector<std::string> steps{"post", "wi,re"};
  const std::array causes{"CPU"};
  OperationsFile ops(file, steps, causes);
  const std::array<Time, 2> ends{ps(1'000'250), ps(12'345'678'901'234)};
  const std::array<Time, 1> waits{ps(49)};
  const std::string queue = OperationsFile::queue("a \"1\",\"x\"", "qp", 17);
  ops.add({queue, ~std::uint64_t{0}, verbs::Opcode::read, 4096, verbs::Status::WR_FLUSH_ERR, false, ps(1'000'001), ends, waits, 4});
  ops.finish();
  file.commit();

  Names names;
  const std::vector<OperationRow> rows = read_operations(folder.path("ops.csv"), names);
  REQUIRE(rows.size() == 1);
  CHECK(names[rows[0].host] == "a \"1\",\"x\"");
  CHECK(names[rows[0].qp] == "qp");
  CHECK(rows[0].wr == ~std::uint64_t{0});
  CHECK(rows[0].opcode == verbs::Opcode::read);
  CHECK(rows[0].bytes == 4096);
  CHECK(rows[0].status == verbs::Status::WR_FLUSH_ERR);
  CHECK_FALSE(rows[0].measured);
  CHECK(rows[0].latency == ps(12'345'677'901'233));
}

TEST_CASE("columns are found by name, in any order, among others; lines may end in CR LF; a BOM is passed over") {
  Names names;
  const std::vector<OperationRow> rows =
      rows_of("\xef\xbb\xbfother,latency_ns,measured,status,bytes,opcode,wr,qp,host\r\nx,5,no,SUCCESS,0,recv,7,q,\"b\"\r\n", names);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].latency == ns(5));
  CHECK(rows[0].wr == 7);
  CHECK(names[rows[0].host] == "b");
  CHECK(rows_of(header, names).empty());
}

TEST_CASE("times are read to the picosecond; more digits are cut") {
  Names names;
  const auto latency = [&](const std::string& text) {
    return rows_of(header + "a,q,1,write,64,SUCCESS,yes," + text + "\n", names)[0].latency;
  };
  CHECK(latency("0.001") == ps(1));
  CHECK(latency("7.5") == ps(7'500));
  CHECK(latency("1.23456") == ps(1'234));
  CHECK(latency("9200000000000000") == Time(9'200'000'000'000'000'000));
}

TEST_CASE("a quoted field may hold quotes, commas and line ends, and blocks may part it anywhere") {
  const test::TempFolder folder;
  // 65,535 and 65,536 bytes before the doubled quote: its halves come in one block, or in two.
  for (const std::size_t before : {65'533u, 65'534u, 65'535u}) {
    const std::string text = std::string(before, 'x') + ",\"a\"\"b,\nc\"\r\nd\n";
    CsvReader csv(folder.write("t.csv", text), 100'000);
    REQUIRE(csv.next());
    REQUIRE(csv.size() == 2);
    CHECK(csv.field(1) == "a\"b,\nc");
    REQUIRE(csv.next());
    CHECK(csv.field(0) == "d");
    CHECK_FALSE(csv.next());
  }
}

TEST_CASE("a table that lacks what is asked for is told so") {
  CHECK(refused("") == "ops.csv:1:1: the file is empty; the first line of a table of operations names its columns");
  CHECK(refused("host,qp,wr,opcode,bytes,state,measured,latency_ns\n") ==
        "ops.csv:1:1: there is no column 'status'; a table of operations has host, qp, wr, opcode, bytes, status, measured, latency_ns, "
        "and others");
  CHECK(refused("wr," + header) == "ops.csv:1:12: a second column 'wr'");
}

TEST_CASE("a truncated file is told where it ends") {
  CHECK(refused(header + line + "a,q,1,wri") == "ops.csv:3:10: the file ends amid this line: a part of it is missing");
  CHECK(refused(header + line + "a,q,1,write,64,SUCCESS,yes,12.3") ==
        "ops.csv:3:32: the file ends amid this line: a part of it is missing");
  CHECK(refused(header + line + "a,\"q,1,write\n") == "ops.csv:3:3: the quote that opens here does not close");
  CHECK(refused(header + line + "a,q,1\n") == "ops.csv:3:1: 3 fields where the header names 8");
}

TEST_CASE("a damaged field is told with its place and what is allowed") {
  CHECK(refused(header + "a,q,-1,write,64,SUCCESS,yes,1\n") == "ops.csv:2:5: wr: '-1' is not a whole number from 0 to 2^64 - 1");
  CHECK(refused(header + line + "a,q,1,write,18446744073709551616,SUCCESS,yes,1\n") ==
        "ops.csv:3:13: bytes: '18446744073709551616' is not a whole number from 0 to 2^64 - 1");
  CHECK(
      refused(header + "a,q,1,wriet,64,SUCCESS,yes,1\n") ==
      "ops.csv:2:7: opcode: 'wriet' is not one of send, send_imm, send_inv, write, write_imm, read, cas, faa, bind_mw, local_inv, reg_mr, "
      "recv; did you mean 'write'?");
  CHECK(refused(header + "a,q,1,write,64,SUCCES,yes,1\n").find("ops.csv:2:16: status: 'SUCCES' is not one of SUCCESS, ") == 0);
  CHECK(refused(header + "a,q,1,write,64,SUCCESS,true,1\n") == "ops.csv:2:24: measured: 'true' is not 'yes' or 'no'");
  for (const char* time : {"", "-1", "1.", ".5", "1e3", "nan", "9200000000000001", "1.2x"})
    CHECK(refused(header + "a,q,1,write,64,SUCCESS,yes," + time + "\n") ==
          "ops.csv:2:28: latency_ns: '" + std::string(time) + "' is not a time in ns, such as 1234.567");
  CHECK(refused(header + ",q,1,write,64,SUCCESS,yes,1\n") == "ops.csv:2:1: host: '' is not a name in one line of text");
  CHECK(refused(header + "a,q\x1b[31m,1,write,64,SUCCESS,yes,1\n") == "ops.csv:2:3: qp: 'q\\x1b[31m' is not a name in one line of text");
  CHECK(refused(header + "\"a\"b,q,1,write,64,SUCCESS,yes,1\n") == "ops.csv:2:4: more text after the quote that closes the field");
}

TEST_CASE("what is too much is refused before it takes memory") {
  CHECK(refused(header + line + line, {.rows = 1}) == "ops.csv:3:1: more than 1 operations");
  CHECK(refused(fmt::format("{:x<200}\n", ""), {.line_bytes = 100}) ==
        "ops.csv:1:1: a line of more than 100 bytes: this is no table of operations");
  // A quote that never closes takes no more than a line may.
  CHECK(refused(fmt::format("{}\"{:\n<200}", header, ""), {.line_bytes = 100}) ==
        "ops.csv:2:1: a line of more than 100 bytes: this is no table of operations");
  Names names;
  CHECK_THROWS_WITH(read_operations("/dev/zero", names), "/dev/zero:1:1: a line of more than 65536 bytes: this is no table of operations");
  CHECK_THROWS_WITH(read_operations("/nowhere/ops.csv", names), "/nowhere/ops.csv: cannot be read: No such file or directory");
  CHECK_THROWS_WITH(read_operations("/tmp", names), "/tmp: cannot be read: Is a directory");
}

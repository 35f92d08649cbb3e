// Is every operation of a run a line of --ops, with steps that add up, and does the report say the same?
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/run_refusal.h"

using namespace mtsim::test;

namespace {

const std::string base = "extends: " MTSIM_SOURCE_DIR "/configs/base.yaml\n";
/// Columns before the steps, the steps, and behind them service, waits and one more.
constexpr std::size_t fixed = 11, steps = 16, behind = fixed + steps;

struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> lines;
  const std::string& at(std::size_t line, const std::string& column) const {
    for (std::size_t i = 0; i < header.size(); ++i)
      if (header[i] == column) return lines[line].at(i);
    throw std::runtime_error("no column " + column);
  }
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) out.push_back(part);
  return out;
}

Table table(const std::string& text) {
  Table out;
  for (const std::string& line : split(text, '\n')) {
    out.lines.push_back(split(line, ','));
    REQUIRE(out.lines.back().size() == out.lines.front().size());
  }
  out.header = out.lines.front();
  out.lines.erase(out.lines.begin());
  return out;
}

/// Nanoseconds with three decimals, as picoseconds.
std::int64_t ps(const std::string& text) {
  const std::size_t point = text.find('.');
  REQUIRE(text.size() - point == 4);
  return std::stoll(text.substr(0, point)) * 1000 + std::stoll(text.substr(point + 1));
}

/// Largest memory of a run, in KiB.
long memory(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{MTSIM_COMMAND};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  REQUIRE(posix_spawn(&pid, argv[0], &files, nullptr, argv.data(), environ) == 0);
  posix_spawn_file_actions_destroy(&files);
  int status = 0;
  struct rusage usage {};
  REQUIRE(wait4(pid, &status, 0, &usage) == pid);
  REQUIRE(status == 0);
  return usage.ru_maxrss;
}

}  // namespace

TEST_CASE("Every operation is a line, its steps add up, and the report says the same") {
  const TempFolder folder;
  const std::vector<std::vector<std::string>> runs{
      {"configs/examples/recorded.yaml", "traces/stale_key.mtrace"},
      {"configs/examples/recorded.yaml", "traces/linked_list.mtrace"},
      {"configs/examples/recorded.yaml", "traces/dereg_while_posting.mtrace"},
      {"configs/examples/recorded.yaml", "traces/recorded/ib_read_bw-1m-q2.mtrace"},
      {folder.write("per_op.yaml", base + "workload: {kind: per_op, operations: 300, threads: 3}\n")},
      {folder.write("reads.yaml", base + "workload: {kind: uniform, opcode: read, operations: 2000, clients: 2, block: 64B}\n")},
  };
  for (std::vector<std::string> arguments : runs) {
    INFO(arguments.back());
    arguments.insert(arguments.begin(), "run");
    for (const char* more : {"--no-machine", "--json", "-", "--ops"}) arguments.push_back(more);
    arguments.push_back(folder.path("ops.csv"));
    const CommandResult result = run_command(arguments);
    REQUIRE(result.code == 0);
    const auto json = nlohmann::json::parse(result.out);
    const Table ops = table(read_file(folder.path("ops.csv")));

    std::map<std::string, std::uint64_t> measured, bytes;
    std::map<std::string, std::map<std::string, std::int64_t>> totals;
    std::map<std::string, std::int64_t> service;
    std::int64_t before = 0;
    for (std::size_t i = 0; i < ops.lines.size(); ++i) {
      std::int64_t sum = 0;
      for (std::size_t step = fixed; step < behind; ++step) sum += ps(ops.lines[i][step]);
      const std::int64_t end = ps(ops.at(i, "end_ns")), latency = ps(ops.at(i, "latency_ns"));
      REQUIRE(sum == latency);
      std::int64_t parts = 0;
      for (std::size_t part = behind; ops.header[part] != "waited_for"; ++part) parts += ps(ops.lines[i][part]);
      REQUIRE(parts == latency);
      service[ops.at(i, "opcode")] += ops.at(i, "measured") == "yes" && ops.at(i, "status") == "SUCCESS" ? ps(ops.at(i, "service_ns")) : 0;
      REQUIRE(end - ps(ops.at(i, "begin_ns")) == latency);
      REQUIRE(end >= before);
      before = end;
      if (ops.at(i, "measured") != "yes") continue;
      const std::string& opcode = ops.at(i, "opcode");
      ++measured[opcode];
      if (ops.at(i, "status") != "SUCCESS") continue;
      bytes[opcode] += std::stoull(ops.at(i, "bytes"));
      for (std::size_t step = fixed; step < behind; ++step) totals[opcode][ops.header[step]] += ps(ops.lines[i][step]);
    }
    REQUIRE(measured.size() == json["operations"].size());
    for (const auto& [opcode, stats] : json["operations"].items()) {
      CHECK(measured[opcode] == stats["completed"]);
      CHECK(bytes[opcode] == stats["bytes"]);
      for (const auto& [step, times] : json["latency"][opcode]["steps"].items()) {
        INFO(step);
        CHECK(totals[opcode][step + "_ns"] == times["total_ps"]);
      }
      if (!json["latency"].contains(opcode)) continue;
      std::int64_t left = json["latency"][opcode]["total_ps"];
      if (json["waits"].contains(opcode))
        for (const auto& [kind, wait] : json["waits"][opcode]["waited_for"].items()) left -= wait["total_ps"].get<std::int64_t>();
      CHECK(service[opcode] == left);
    }
  }
}

TEST_CASE("An operation's line names its host and its QP as the program does") {
  const CommandResult result = run_command({"run", "configs/examples/recorded.yaml", "traces/stale_key.mtrace", "--ops", "-"});
  CHECK(result.code == 0);
  CHECK(result.err.starts_with("mtsim "));
  const Table ops = table(result.out);
  REQUIRE(ops.lines.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(ops.at(i, "host") == "a");
    CHECK(ops.at(i, "qp") == "qp");
    CHECK(ops.at(i, "qpn") == "17");
    CHECK(ops.at(i, "wr") == std::to_string(i + 1));
  }
  CHECK(ops.at(0, "status") == "SUCCESS");
  CHECK(ops.at(1, "status") == "REM_ACCESS_ERR");
}

TEST_CASE("The same run gives the same lines, and listing them changes nothing in it") {
  const TempFolder folder;
  const std::string config = folder.write("my.yaml", base + "workload: {kind: per_op, operations: 200, threads: 2}\n");
  const CommandResult plain = run_command({"run", config, "--no-machine", "--json", "-"});
  const CommandResult one = run_command({"run", config, "--no-machine", "--json", "-", "--ops", folder.path("1.csv")});
  run_command({"run", config, "--ops", folder.path("2.csv")});
  CHECK(one.out == plain.out);
  CHECK(read_file(folder.path("1.csv")) == read_file(folder.path("2.csv")));
}

TEST_CASE("Memory does not grow with the operations that are listed or drawn") {
  const TempFolder folder;
  const std::string config = folder.write("my.yaml", base + "workload: {kind: pool}\n");
  const auto with = [&](const char* operations, const char* option, const char* file) {
    return memory({"run", config, "--set", std::string("workload.operations=") + operations, option, folder.path(file)});
  };
  // 100,000 lines are 38 MB; 20,000 operations are drawn in 135 MB.
  CHECK(with("100000", "--ops", "ops.csv") - with("5000", "--ops", "few.csv") < 4096);
  CHECK(with("20000", "--timeline", "all.json") - with("1000", "--timeline", "few.json") < 4096);
  std::size_t lines = 0;
  for (const char c : read_file(folder.path("ops.csv"))) lines += c == '\n';
  CHECK(lines == 100'001);
}

TEST_CASE("Each variant writes a file of its own") {
  const TempFolder folder;
  const std::string config = folder.write("my.yaml", base + "workload: {operations: 50}\nvariants:\n  few: {nic: {walks: 2}}\n  a/b: {}\n");
  const CommandResult result = run_command({"run", config, "--ops", folder.path("ops.csv"), "--timeline", folder.path("line")});
  CHECK(result.code == 0);
  CHECK(result.err.empty());
  auto names = folder.names();
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"line.a_b", "line.few", "my.yaml", "ops.a_b.csv", "ops.few.csv"});
  CHECK(table(read_file(folder.path("ops.few.csv"))).lines.size() == 50);
  CHECK(refusal(folder, {"run", config, "--ops", "-"}) ==
        "--ops -: each variant writes a file of its own, so standard output will not do; give a file name\n");
  CHECK(refusal(folder, {"run", config, "--timeline", folder.path("absent/t.json")}) ==
        "cannot write 'absent/t.few.json': No such file or directory\n");
}

TEST_CASE("A list of operations that cannot be written is told and leaves nothing") {
  const TempFolder folder;
  CHECK(refusal(folder, {"run", "configs/base.yaml", "--ops", folder.path("absent/ops.csv")}) ==
        "cannot write 'absent/ops.csv': No such file or directory\n");
  CHECK(refusal(folder, {"run", "configs/base.yaml", "--csv", "-", "--ops", "-"}) == "--csv and --ops cannot both go to stdout\n");
  CHECK(refusal(folder, {"run", "configs/base.yaml", "--ops", folder.path("x"), "--timeline", folder.path("x")}) ==
        "--ops and --timeline cannot both go to 'x'\n");
  CHECK(refusal(folder, {"run", "configs/base.yaml", "--set", "workload.operations=2000", "--ops", "/dev/full"}) ==
        "cannot write '/dev/full': No space left on device\n");
  CHECK(folder.names().empty());
}

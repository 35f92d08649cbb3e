// Do real programs run as they ran: every recording, as fast as possible and at its own pace, with the same outcome for every request, in
// bounded memory? And does the page on recordings say what the model says?
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/run_command.h"

using namespace mtsim::test;

namespace {

std::vector<std::string> recordings() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator("traces/recorded")) out.push_back(entry.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) out.push_back(cell);
  return out;
}

struct Replay {
  CommandResult result;
  nlohmann::json json;
  /// Status of each request, by host and number. Receives of a shared queue go to messages in another order at another pace, so that
  /// their own numbers say little: those of a host are counted by status.
  std::map<std::pair<std::string, std::string>, std::string> requests;
  std::map<std::pair<std::string, std::string>, int> receives;
};

Replay replay(const std::string& trace, const std::string& time, const TempFolder& folder) {
  Replay out;
  const std::string json = folder.path("out.json"), operations = folder.path("operations.csv");
  out.result = run_command({"run", "configs/examples/recorded.yaml", trace, "--time", time, "--json", json, "--ops", operations});
  if (out.result.code != 0) return out;
  out.json = nlohmann::json::parse(read_file(json));
  std::istringstream lines(read_file(operations));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    const auto cell = cells(line);
    if (cell.at(4) == "recv") ++out.receives[{cell.at(0), cell.at(6)}];
    else out.requests[{cell.at(0), cell.at(3)}] = cell.at(6);
  }
  return out;
}

}  // namespace

// Comes first: what a test has read itself would count as its children's from then on.
TEST_CASE("the longest recordings run within 48 MiB") {
  for (const char* name : {"ib_write_bw-64-long", "hpcc-ucx-rndv", "qperf", "mpi-rma-ucx"}) {
    const CommandResult result =
        run_command({"run", "configs/examples/recorded.yaml", std::string("traces/recorded/") + name + ".mtrace.zst"});
    CHECK(result.code == 0);
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    INFO(name);
    CHECK(usage.ru_maxrss > 8 * 1024);
    CHECK(usage.ru_maxrss < 48 * 1024);
  }
}

TEST_CASE("the page on recordings has the tables that its command prints") {
  const CommandResult result = run_program("/usr/bin/env", {"MTSIM=" MTSIM_COMMAND, "tools/survey"});
  REQUIRE(result.code == 0);
  const std::string page = read_file("docs/recordings.md");
  const std::size_t gap = result.out.find("\n\n");
  REQUIRE(gap != std::string::npos);
  const std::string first = result.out.substr(0, gap + 1), second = result.out.substr(gap + 2);
  CHECK(std::count(first.begin(), first.end(), '\n') == 54);
  CHECK(page.find("first table -->\n" + first + "<!--") != std::string::npos);
  CHECK(page.find("second table -->\n" + second + "<!--") != std::string::npos);
}

TEST_CASE("every recording ends as it ended, at any pace") {
  const auto traces = recordings();
  REQUIRE(traces.size() == 52);
  const TempFolder folder;
  for (const std::string& trace : traces) {
    INFO(trace);
    const Replay fast = replay(trace, "asap", folder), paced = replay(trace, "recorded", folder);
    INFO(fast.result.err << paced.result.err);
    REQUIRE(fast.result.code == 0);
    REQUIRE(paced.result.code == 0);
    for (const Replay* one : {&fast, &paced}) {
      CHECK(one->json["summary"]["unexpected"] == 0);
      CHECK(one->json["partial"] == false);
      CHECK(one->json["summary"]["operations"] == one->requests.size());
    }
    CHECK(fast.requests.size() > 1);
    CHECK(fast.requests == paced.requests);
    CHECK(fast.receives == paced.receives);
    CHECK(fast.json["summary"]["completions"] == paced.json["summary"]["completions"]);
    CHECK(paced.json["summary"]["simulated_ns"] > fast.json["summary"]["simulated_ns"]);
  }
}

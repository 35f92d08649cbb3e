// Does a timeline show what went on: spans where they belong, one thing at a time on what does one thing at a time, whole arrows?
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/run_refusal.h"
#include "support/timeline_events.h"

using namespace mtsim::test;

namespace {

const std::string base = "extends: " MTSIM_SOURCE_DIR "/configs/base.yaml\n";
const std::vector<std::string> stale_key{"configs/examples/recorded.yaml", "traces/stale_key.mtrace"};

CommandResult run_with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.begin(), "run");
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_command(arguments);
}

DrawnTimeline timeline(const std::vector<std::string>& arguments, std::vector<std::string> more = {}) {
  more.insert(more.end(), {"--timeline", "-"});
  const CommandResult result = run_with(arguments, more);
  REQUIRE(result.code == 0);
  REQUIRE(result.err.starts_with("mtsim "));
  return read_timeline(result.out);
}

/// What holds of every timeline.
void check(const DrawnTimeline& t) {
  for (const auto& [row, spans] : t.rows) {
    INFO(row);
    CHECK(one_at_a_time(spans));
    for (const DrawnSpan& span : spans) {
      CHECK(one_at_a_time(span.inner));
      // Only calls of a thread have something within them.
      CHECK((span.inner.empty() || row.find("/thread ") != std::string::npos));
    }
  }
  for (const DrawnSpan& life : t.operations()) {
    INFO(life.name << " at " << life.begin);
    std::int64_t at = life.begin;
    for (const DrawnSpan& step : life.inner) {
      CHECK(step.begin == at);
      at = step.end;
    }
    CHECK(at == life.end);
  }
  for (const auto& [id, points] : t.flows) {
    INFO("flow " << id);
    REQUIRE(points.size() >= 2);
    std::int64_t before = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const DrawnPoint& p = points[i];
      CHECK(p.phase == (i == 0 ? 's' : i + 1 < points.size() ? 't' : 'f'));
      CHECK(p.at >= before);
      before = p.at;
      // It hangs on a span that begins there.
      const auto& spans = t.rows.at(p.row);
      CHECK(std::any_of(spans.begin(), spans.end(), [&](const DrawnSpan& span) { return span.begin == p.at && span.name == p.span; }));
    }
  }
  for (const auto& [row, levels] : t.levels) {
    INFO(row);
    CHECK(std::is_sorted(levels.begin(), levels.end(), [](const auto& a, const auto& b) { return a.first < b.first; }));
  }
}

std::set<std::string> names(const std::vector<DrawnSpan>& spans) {
  std::set<std::string> out;
  for (const DrawnSpan& span : spans) out.insert(span.name);
  return out;
}

std::vector<std::string> per_op(const TempFolder& folder) {
  return {folder.write("per_op.yaml", base + "workload: {kind: per_op, operations: 60, threads: 3}\nhost: {cpus: 2}\n")};
}
std::vector<std::string> reads(const TempFolder& folder) {
  return {folder.write("reads.yaml", base + "workload: {kind: uniform, opcode: read, operations: 1000, block: 9000B}\n")};
}

}  // namespace

TEST_CASE("Timelines of all kinds of runs are well formed") {
  const TempFolder folder;
  const std::string cx3 = folder.write("cx3.yaml", "extends: [" MTSIM_SOURCE_DIR "/configs/base.yaml, " MTSIM_SOURCE_DIR
                                                   "/configs/nics/cx3.yaml, " MTSIM_SOURCE_DIR
                                                   "/configs/drivers/mlx4.yaml]\nworkload: {kind: per_op, operations: 40, threads: 2}\n");
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           stale_key,
           per_op(folder),
           reads(folder),
           {cx3},
           {"configs/examples/recorded.yaml", "traces/linked_list.mtrace"},
           {"configs/examples/recorded.yaml", "traces/memlock.mtrace"},
           {"configs/examples/recorded.yaml", "traces/dereg_while_posting.mtrace"},
           {"configs/examples/recorded.yaml", "traces/recorded/ib_write_bw-all.mtrace", "--sample", "50"}}) {
    INFO(arguments.front() << ' ' << arguments.back());
    const DrawnTimeline t = timeline(arguments);
    CHECK(t.events > 30);
    check(t);
  }
}

TEST_CASE("A write and a refused write: the post, the packets and the completion are tied together") {
  const DrawnTimeline t = timeline(stale_key);
  REQUIRE(t.flows.size() == 2);
  for (const auto& [id, points] : t.flows) {
    std::vector<std::string> rows;
    for (const DrawnPoint& p : points) rows.push_back(p.row);
    CHECK(rows == std::vector<std::string>{"a/thread t0", "a/wire out", "b/wire in", "b/wire out", "a/wire in", "a/completions"});
  }
  REQUIRE(t.rows.at("b/wire out").size() == 2);
  CHECK(t.rows.at("b/wire out")[0].name == "acknowledgement");
  CHECK(t.rows.at("b/wire out")[1].name == "NAK: remote access error");
  const auto lives = t.operations();
  REQUIRE(lives.size() == 2);
  CHECK(lives[1].name == "write wr=2");
  CHECK(lives[1].facts.at("status") == "REM_ACCESS_ERR");
  // The step called wire ends when the packet is in the peer.
  for (std::size_t i = 0; i < 2; ++i) {
    const auto wire = std::find_if(lives[i].inner.begin(), lives[i].inner.end(), [](const DrawnSpan& s) { return s.name == "wire"; });
    REQUIRE(wire != lives[i].inner.end());
    CHECK(wire->begin == t.rows.at("a/wire out")[i].begin);
    CHECK(wire->end == t.rows.at("b/wire in")[i].end);
  }
}

TEST_CASE("A registration shows its steps in the order in which the kernel takes them") {
  const DrawnTimeline t = timeline(stale_key);
  const auto& thread = t.rows.at("b/thread t0");
  const auto call = std::find_if(thread.begin(), thread.end(), [](const DrawnSpan& s) { return s.name == "reg_mr"; });
  REQUIRE(call != thread.end());
  CHECK(call->facts.at("bytes") == 65536);
  CHECK(call->facts.at("pages") == 16);
  std::vector<std::string> steps;
  std::int64_t at = call->begin;
  for (const DrawnSpan& step : call->inner) {
    steps.push_back(step.name);
    CHECK(step.begin == at);
    at = step.end;
  }
  CHECK(at == call->end);
  CHECK(steps ==
        std::vector<std::string>{"syscall", "fault", "pin", "sg", "dma_map", "page_size", "key", "table_write", "wait", "wake_up"});
  using Level = std::vector<std::uint64_t>;
  Level pinned;
  for (const auto& [when, bytes] : t.levels.at("b/pinned bytes")) pinned.push_back(bytes);
  CHECK(pinned == Level{65536, 0});
}

TEST_CASE("CPUs show as much work of each kind as the report says, and operations are those of --ops") {
  const TempFolder folder;
  const CommandResult run = run_with(per_op(folder), {"--json", folder.path("r.json"), "--ops", folder.path("ops.csv"), "--timeline", "-"});
  const DrawnTimeline t = read_timeline(run.out);
  const auto report = nlohmann::json::parse(read_file(folder.path("r.json")));
  std::map<std::string, double> drawn;
  for (const auto& [row, spans] : t.rows)
    if (row.starts_with("client0/CPU "))
      for (const DrawnSpan& span : spans) drawn[span.name] += static_cast<double>(span.end - span.begin) / 1e3;
  // The client's set-up, which the measured window leaves out, faults pages in but registers nothing.
  for (const auto& [step, ns] : report["cpu"]["client0"]["registration"].items()) {
    INFO(step);
    if (step.ends_with("_ns") && step != "fault_ns") CHECK(drawn[step.substr(0, step.size() - 3)] == Approx(ns.get<double>()).margin(1e-3));
  }
  CHECK(t.rows.count("client0/CPU 1") == 1);
  CHECK(t.rows.count("client0/CPU 2") == 0);
  CHECK(names(t.rows.at("client0/thread t2")).count("dereg_mr") == 1);

  std::multiset<std::string> listed, shown;
  std::istringstream lines(read_file(folder.path("ops.csv")));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::vector<std::string> f;
    std::istringstream in(line);
    for (std::string part; std::getline(in, part, ',');) f.push_back(part);
    std::string times = f[8] + " " + f[9];
    std::erase(times, '.');
    listed.insert(f[4] + " wr=" + f[3] + " " + times);
  }
  for (const DrawnSpan& o : t.operations()) shown.insert(o.name + " " + std::to_string(o.begin) + " " + std::to_string(o.end));
  CHECK(listed == shown);
  // Nothing is outstanding when all has ended.
  CHECK(t.levels.at("client0/requests outstanding").back().second == 0);
}

TEST_CASE("The same run gives the same bytes, and drawing it changes nothing in it") {
  const TempFolder folder;
  const auto arguments = reads(folder);
  const CommandResult plain = run_with(arguments, {"--no-machine", "--json", "-"});
  const CommandResult one = run_with(arguments, {"--no-machine", "--json", "-", "--timeline", folder.path("1.json")});
  run_with(arguments, {"--timeline", folder.path("2.json")});
  CHECK(one.out == plain.out);
  CHECK(read_file(folder.path("1.json")) == read_file(folder.path("2.json")));
}

TEST_CASE("A window draws only what touches it, with whole operations and arrows") {
  const TempFolder folder;
  const auto arguments = reads(folder);
  const DrawnTimeline all = timeline(arguments);
  const auto lives = all.operations();
  const std::int64_t from = lives[lives.size() / 2].begin / 1000, to = from + 3000;
  const DrawnTimeline part = timeline(arguments, {"--from", std::to_string(from) + "ns", "--to", std::to_string(to) + "ns"});
  check(part);
  const auto touches = [&](const DrawnSpan& s) { return s.begin <= to * 1000 && s.end >= from * 1000; };
  std::size_t expected = 0;
  for (const auto* rows : {&all.rows, &all.async})
    for (const auto& [row, spans] : *rows) expected += static_cast<std::size_t>(std::count_if(spans.begin(), spans.end(), touches));
  std::size_t drawn = 0;
  for (const auto* rows : {&part.rows, &part.async})
    for (const auto& [row, spans] : *rows) {
      INFO(row);
      CHECK(std::all_of(spans.begin(), spans.end(), touches));
      drawn += spans.size();
    }
  CHECK(drawn == expected);
  CHECK(part.operations().size() > 3);
  CHECK(part.operations().size() < lives.size() / 4);
  CHECK(part.flows.size() > 3);
}

TEST_CASE("A sample draws a part of the operations, with all that belongs to them") {
  const TempFolder folder;
  const auto arguments = reads(folder);
  const DrawnTimeline all = timeline(arguments), part = timeline(arguments, {"--sample", "10"});
  check(part);
  std::set<std::pair<std::string, std::int64_t>> known;
  for (const DrawnSpan& o : all.operations()) known.insert({o.name, o.begin});
  for (const DrawnSpan& o : part.operations()) CHECK(known.count({o.name, o.begin}) == 1);
  CHECK(part.operations().size() > 60);
  CHECK(part.operations().size() < 150);
  CHECK(part.flows.size() == part.operations().size());
  CHECK(part.events < all.events / 6);
  for (const auto& [id, points] : part.flows) CHECK(points.front().row == "client0/thread t0");
}

TEST_CASE("A call that never ends is drawn up to the end of the run") {
  const TempFolder folder;
  std::string text = read_file("traces/stale_key.mtrace");
  const std::string gone = "b.t0 dereg_mr dst";
  text.replace(text.find(gone), gone.size(), "b.t0 destroy_qp qp");
  const std::string qp = "a.t0 create_qp qp pd=pd";
  text.replace(text.find(qp), qp.size(), qp + " timeout=0");
  const CommandResult result = run_with({"configs/examples/recorded.yaml", folder.write("t.mtrace", text)}, {"--timeline", "-"});
  CHECK(result.code == 1);
  const DrawnTimeline t = read_timeline(result.out);
  check(t);
  CHECK(t.rows.at("a/thread t0").back().name == "poll");
  CHECK(t.rows.at("a/thread t0").back().facts.at("ended") == "no");
  CHECK(t.levels.at("a/requests outstanding").back().second == 1);
}

TEST_CASE("An interrupted run leaves a whole file that says so") {
  const TempFolder folder;
  const std::string endless = folder.write("my.yaml", base + "workload: {operations: 1000000000}\n");
  Command command({"run", endless, "--timeline", folder.path("t.json"), "--sample", "3000", "--ops", folder.path("ops.csv")});
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  command.signal(SIGINT);
  CHECK(command.finish(std::chrono::seconds(30)).code == 130);
  const DrawnTimeline t = read_timeline(read_file(folder.path("t.json")));
  check(t);
  CHECK(t.operations().size() > 3);
  CHECK(t.notes.at("partial") == "yes");
  CHECK(read_file(folder.path("ops.csv")).ends_with("\n"));
  auto left = folder.names();
  std::sort(left.begin(), left.end());
  CHECK(left == std::vector<std::string>{"my.yaml", "ops.csv", "t.json"});
}

TEST_CASE("At its limit a timeline is cut, and stderr says so") {
  const TempFolder folder;
  const std::string many = folder.write("my.yaml", base + "workload: {operations: 60000}\n");
  const CommandResult result = run_command({"run", many, "--timeline", folder.path("t.json")});
  CHECK(result.code == 0);
  CHECK(result.err.starts_with("the timeline was cut at its limit of 2000000 events: what ended later than about "));
  const std::string text = read_file(folder.path("t.json"));
  CHECK(text.substr(text.size() - 400).find("\"cut\": \"" + result.err.substr(0, result.err.size() - 1) + "\"") != std::string::npos);
}

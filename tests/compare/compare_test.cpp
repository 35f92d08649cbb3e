// Does `mtsim compare` find what differs between two runs, whatever was done to one of them, and refuse what is no result?
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/run_refusal.h"

using namespace mtsim::test;
using Json = nlohmann::json;

namespace {

/// One run's results, and its operations by line.
struct Run {
  std::string json, ops;
  std::vector<std::string> lines;  ///< the header first
};

/// Runs a shipped trace on the base configuration into `folder`.
Run simulated(const TempFolder& folder, const std::string& name, const std::string& trace, const std::vector<std::string>& sets = {}) {
  Run out{folder.path(name + ".json"), folder.path(name + ".csv"), {}};
  std::vector<std::string> words{"run", "configs/base.yaml", "traces/" + trace, "--quiet", "--json", out.json, "--ops", out.ops};
  for (const std::string& set : sets) words.insert(words.end(), {"--set", set});
  const CommandResult result = run_command(words);
  REQUIRE(result.code <= 1);
  std::istringstream text(read_file(out.ops));
  for (std::string line; std::getline(text, line);) out.lines.push_back(line);
  return out;
}

/// The operations of a run by lines that are not quite those that it wrote.
std::string doctored(const TempFolder& folder, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return folder.write("doctored.csv", text);
}

std::string replaced(std::string line, const std::string& from, const std::string& to) {
  REQUIRE(line.find(from) != std::string::npos);
  return line.replace(line.find(from), from.size(), to);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("Two runs that are the same agree in everything") {
  const TempFolder folder;
  const Run a = simulated(folder, "a", "send_receive.mtrace"), b = simulated(folder, "b", "send_receive.mtrace");
  const CommandResult result = run_command({"compare", a.json, b.json, "--ops", a.ops, b.ops});
  CHECK(result.code == 0);
  CHECK(result.err.empty());
  CHECK(has(result.out, " of which 0 differ; 0 only in A, 0 only in B\n"));
  CHECK(has(result.out, "Order in which they end: 0 of "));
  CHECK(has(result.out, ", 0 differ\n"));
  CHECK(has(result.out, "\nsend: the same.\n"));
  CHECK(has(result.out, "\nreg_mr call: the same.\n"));
  CHECK(has(result.out, "\nStatuses, order and counts agree.\n"));
  const CommandResult counts = run_command({"compare", a.json, b.json});
  CHECK(counts.code == 0);
  CHECK(has(counts.out, "\nCounts agree.\n"));
}

TEST_CASE("Times alone do not fail, and what explains them is named") {
  const TempFolder folder;
  const Run a = simulated(folder, "a", "send_receive.mtrace"),
            b = simulated(folder, "b", "send_receive.mtrace", {"network.propagation=100us", "kernel.syscall=30us"});
  const CommandResult result = run_command({"compare", a.json, b.json, "--ops", a.ops, b.ops, "--json", "-"});
  CHECK(result.code == 0);
  CHECK(has(result.err, "\nStatuses, order and counts agree.\n"));
  const Json json = Json::parse(result.out);
  CHECK(json["differs"] == false);
  bool longer = false;
  for (const Json& times : json["times"])
    if (times["name"] == "send") longer = times["ratios"]["median"].get<double>() > 10;
  CHECK(longer);
}

TEST_CASE("A set of rules that B claims is named beside what it explains, which remains a difference") {
  const TempFolder folder;
  const Run a = simulated(folder, "a", "faults/local_keys.mtrace"),
            b = simulated(folder, "b", "faults/local_keys.mtrace", {"rules=rxe-6.1"});
  const CommandResult result = run_command({"compare", a.json, b.json, "--ops", a.ops, b.ops, "--rules", "rxe-6.1"});
  CHECK(result.code == 1);
  CHECK(has(result.out, "\nA was run under the rules ib, B claims rxe-6.1: "));
  CHECK(has(result.out, "\nOperations: 9 in both, of which 6 differ; 0 only in A, 0 only in B\n"));
  CHECK(has(result.out, "\n  a q1 wr=1 write: LOC_PROT_ERR in A, LOC_QP_OP_ERR in B [1]\n"));
  CHECK(has(result.out, "\n  [1] rxe-6.1 answers LOC_QP_OP_ERR where ib answers LOC_PROT_ERR (requester.gather_key)\n"));
  CHECK(has(result.out, "\nOrder in which they end: 6 of 9 queues differ, 6 of them in statuses alone\n"));
  CHECK(has(result.out, "\n  completions LOC_QP_OP_ERR                          0             6\n"));
  CHECK(has(result.out, "\nStatuses, order and counts differ.\n"));
}

TEST_CASE("A doctored status, a missing row and a swapped order are each found") {
  const TempFolder folder;
  const Run a = simulated(folder, "a", "faults/flushing.mtrace");
  const auto compared = [&](const std::vector<std::string>& lines) {
    return run_command({"compare", a.json, a.json, "--ops", a.ops, doctored(folder, lines)});
  };
  REQUIRE(a.lines.size() == 7);

  std::vector<std::string> lines = a.lines;
  lines[4] = replaced(lines[4], "WR_FLUSH_ERR", "RETRY_EXC_ERR");
  CommandResult result = compared(lines);
  CHECK(result.code == 1);
  CHECK(has(result.out,
            "\nOperations: 6 in both, of which 1 differ; 0 only in A, 0 only in B\n"
            "  a q1 wr=4 write: WR_FLUSH_ERR in A, RETRY_EXC_ERR in B\n"
            "Order in which they end: 1 of 1 queues differ, 1 of them in statuses alone\n"));
  CHECK(has(result.out, ", 0 differ\n"));

  lines = a.lines;
  lines[3] = replaced(replaced(lines[3], ",64,", ",65,"), "write", "read");
  CHECK(has(compared(lines).out, "\n  a q1 wr=3 write: read in B, 64 bytes in A, 65 in B\n"));

  lines = a.lines;
  lines.erase(lines.begin() + 5);
  result = compared(lines);
  CHECK(result.code == 1);
  CHECK(has(result.out, "\nB's operations file has 5 completed write in the measured window, its report counts 6: "));
  CHECK(has(result.out,
            "\nOperations: 5 in both, of which 0 differ; 1 only in A, 0 only in B\n"
            "  a q1 wr=5 write: only in A, with WR_FLUSH_ERR\n"
            "Order in which they end: 1 of 1 queues differ\n"
            "  a q1, send number 4: wr=5 WR_FLUSH_ERR in A, wr=6 SUCCESS in B\n"));

  lines = a.lines;
  std::swap(lines[4], lines[5]);
  result = compared(lines);
  CHECK(result.code == 1);
  CHECK(has(result.out,
            "\nOperations: 6 in both, of which 0 differ; 0 only in A, 0 only in B\n"
            "Order in which they end: 1 of 1 queues differ\n"
            "  a q1, send number 3: wr=4 WR_FLUSH_ERR in A, wr=5 WR_FLUSH_ERR in B\n"));
}

TEST_CASE("What is wrong with any of the files is said of all at once") {
  const TempFolder folder;
  const Run a = simulated(folder, "a", "write.mtrace");
  const std::string ops = read_file(a.ops), first = ops.substr(0, ops.find('\n') + 1);
  const std::string cut_json = folder.write("cut.json", "{\n \"schema\": 1,\n \"version\": "),
                    cut_ops = folder.write("cut.csv", first + "a,qp,17,1,wri"), empty = folder.write("empty.csv", "");
  CHECK(
      refusal(folder, {"compare", cut_json, folder.path("none.json"), "--ops", cut_ops, empty, "--rules", "rxe"}) ==
      "--rules: there is no set of rules 'rxe'; known: hns, ib, irdma, mlx4, mlx5, rxe-6.1, rxe-6.12, siw\n"
      "cut.json: not a result file: [json.exception.parse_error.101] parse error at line 3, column 13: syntax error while parsing value - "
      "unexpected end of input; expected '[', '{', or a literal\n"
      "none.json: cannot be read: No such file or directory\n"
      "cut.csv:2:14: the file ends amid this line: a part of it is missing\n"
      "empty.csv:1:1: the file is empty; the first line of a table of operations names its columns\n");
  CHECK(refusal(folder, {"compare", a.json, a.ops}).find("a.csv: not a result file: ") == 0);
  CHECK(refusal(folder, {"compare", a.json, folder.write("other.json", "{\"schema\": 99}")}) ==
        "other.json: results of schema 99; this version reads schema 1\n");
  CHECK(refusal(folder, {"compare", a.json, a.json, "--json", folder.path("no/where.json")}) ==
        "cannot write 'no/where.json': No such file or directory\n");
}

TEST_CASE("Of results of several variants one is chosen") {
  const TempFolder folder;
  const std::string json = folder.path("r.json"),
                    config = folder.write("two.yaml", "extends: " MTSIM_SOURCE_DIR
                                                      "/configs/base.yaml\nworkload: {kind: ladder, repeats: 2}\n"
                                                      "variants: {one: {}, two: {kernel: {registration: 34us}}}\n");
  REQUIRE(run_command({"run", config, "--quiet", "--json", json}).code == 0);
  CHECK(refusal(folder, {"compare", json, json, "--variant-b", "tow"}) ==
        "r.json: results of several variants: one, two; choose one with --variant-a NAME\n"
        "r.json: there is no variant 'tow'; it has one, two; did you mean 'two'?\n");
  const CommandResult result = run_command({"compare", json, json, "--variant-a", "one", "--variant-b", "two"});
  CHECK(result.code == 0);
  CHECK(has(result.out, "r.json two ("));
  CHECK(has(result.out, "\nreg_mr call: "));
}

// Does `mtsim validate` run a row as a user would have it: what it prints, its exit codes, its JSON, what it refuses?
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "support/run_refusal.h"

using namespace mtsim::test;

namespace {

using Json = nlohmann::json;

const std::string root = MTSIM_SOURCE_DIR "/";

/// A row of one small registration, `published` as taking so many us.
std::string cheap_row(const std::string& published, const std::string& more = "") {
  return "extends: " + root +
         "configs/base.yaml\nworkload: {kind: ladder, repeats: 2}\nvariants: {one: {}, two: {kernel: {registration: 34us}}}\n" +
         "validation:\n  row: X1\n  group: nic\n  title: A registration\n  source: nobody\n  series:\n    reg_mr:\n" +
         "      measure: reg_mr_mean\n      unit: us\n      published: {one: " + published + "}\n    more:\n      measure: reg_mr_mean\n" +
         "      minus: one\n      unit: us\n      published: {two: 10}\n" + more;
}

}  // namespace

TEST_CASE("A shipped row is found by name, run and printed, a miss included") {
  const CommandResult result = run_command({"validate", "R1"});
  CHECK(result.code == 0);
  CHECK(result.err.empty());
  CHECK(result.out.find("R1: Registering and deregistering by size, ConnectX-3\n") == 0);
  CHECK(result.out.find("  reg_mr, us (fitted)\n") != std::string::npos);
  CHECK(result.out.find("line: slope a page") != std::string::npos);
  CHECK(result.out.find("1 row: ") != std::string::npos);
}

TEST_CASE("Exit codes: 0 with a miss, 1 for a miss with --strict") {
  const TempFolder folder;
  const std::string hit = folder.write("hit.yaml", cheap_row("43")), miss = folder.write("miss.yaml", cheap_row("430"));
  CHECK(run_command({"validate", hit}).code == 0);
  CHECK(run_command({"validate", hit, "--strict"}).code == 0);
  const CommandResult shown = run_command({"validate", miss});
  CHECK(shown.code == 0);
  CHECK(shown.out.find("MISS") != std::string::npos);
  CHECK(shown.out.find("1 row: 1 of 2 figures within tolerance; misses in X1 (1)\n") != std::string::npos);
  CHECK(run_command({"validate", miss, "--strict"}).code == 1);
  CHECK(run_command({"validate", hit, "--strict", "--set", "kernel.syscall=100us"}).code == 1);
}

TEST_CASE("The JSON has every figure, and is the same each time") {
  const TempFolder folder;
  const std::string row = folder.write("row.yaml", cheap_row("430"));
  const CommandResult result = run_command({"validate", row, "--json", "-"});
  CHECK(result.code == 0);
  CHECK(result.err.find("X1: A registration") == 0);
  const Json json = Json::parse(result.out);
  CHECK(json["schema"] == 1);
  CHECK(json["version"] == MTSIM_VERSION);
  REQUIRE(json["rows"].size() == 1);
  const Json& x1 = json["rows"][0];
  CHECK(x1["row"] == "X1");
  CHECK(x1["judged"] == 2);
  CHECK(x1["misses"] == 1);
  const Json& point = x1["series"][0]["points"][0];
  CHECK(point["variant"] == "one");
  CHECK(point["published"] == 430.0);
  CHECK(point["simulated"].get<double>() > 10);
  CHECK(point["error_share"].get<double>() < -0.8);
  CHECK(point["within"] == false);
  CHECK(x1["series"][1]["points"][0]["simulated"].get<double>() == Approx(10));
  CHECK(x1["variants"]["two"]["config"]["yaml"].get<std::string>().find("34us") != std::string::npos);
  CHECK(run_command({"validate", row, "--json", "-"}).out == result.out);
  CHECK(run_command({"validate", row, "--json", folder.path("out.json")}).code == 0);
  CHECK(read_file(folder.path("out.json")) == result.out);
}

TEST_CASE("A name that there is not is told with those that there are") {
  const TempFolder folder;
  const std::string text = refusal(folder, {"validate", "registratoin"});
  CHECK(text.find("there is no row or group 'registratoin'; known: ") == 0);
  CHECK(text.find("; did you mean 'registration'?\n") != std::string::npos);
}

TEST_CASE("A row's mistakes are told with their place, and nothing runs") {
  const TempFolder folder;
  const auto refused = [&](const std::string& text) { return refusal(folder, {"validate", folder.write("row.yaml", text)}); };
  CHECK(refused(cheap_row("43", "      ordre: 5%\n")).find("row.yaml:19:7: validation.series.more.ordre: unknown key; allowed here: ") ==
        0);
  CHECK(refused(cheap_row("43", "nic: {walks: 0}\n")) == "row.yaml:19:14: nic.walks: 0 is below the minimum 1\n");
  CHECK(refused("extends: " + root + "configs/base.yaml\n") == "row.yaml: there is no section 'validation': nothing to compare with\n");
  CHECK(refusal(folder, {"validate", folder.path("absent.yaml")}) == "absent.yaml: cannot be read: No such file or directory\n");
  CHECK(refusal(folder, {"check", folder.write("row.yaml", cheap_row("many"))})
            .find("row.yaml:13:24: validation.series.reg_mr.published.one: ") == 0);
}

TEST_CASE("A measure that leads nowhere is told with what is there") {
  const TempFolder folder;
  std::string text = cheap_row("43");
  text.replace(text.find("reg_mr_mean"), 11, "registration.reg_mr.latency.maen_ns");
  const CommandResult result = run_command({"validate", folder.write("row.yaml", text)});
  CHECK(result.code == 2);
  CHECK(result.err.find("row.yaml:11:16: measure: 'registration.reg_mr.latency.maen_ns': there is no 'maen_ns' at "
                        "'registration.reg_mr.latency', but ") != std::string::npos);
  CHECK(result.err.find("; did you mean 'mean_ns'?\n") != std::string::npos);
}

TEST_CASE("A row is a configuration like any other: mtsim run and mtsim check take it") {
  CHECK(run_command({"check", root + "configs/validation/R1.yaml"}).code == 0);
  CHECK(run_command({"run", root + "configs/validation/R1.yaml", "--quiet"}).code == 0);
}

TEST_CASE("Registration follows what was measured of rxe within 25 % at every size and kind of page") {
  const TempFolder folder;
  const CommandResult result = run_command({"validate", "rxe-tcg", "--strict", "--json", folder.path("row.json")});
  INFO(result.out);
  CHECK(result.code == 0);
  const Json row = Json::parse(read_file(folder.path("row.json")))["rows"].at(0);
  CHECK(row["misses"] == 0);
  std::map<std::string, double> total;
  for (const Json& series : row["series"]) {
    const auto name = series["name"].get<std::string>();
    // Every other size was not fitted: that it is met says that the steps scale as they do in life.
    CHECK(series["fitted"] == !name.ends_with("_between"));
    CHECK(series["points"].size() == (name.ends_with("_between") ? 28 : 32));
    for (const Json& point : series["points"]) {
      INFO(point.dump());
      CHECK(std::abs(point["error_share"].get<double>()) <= 0.25);
      CHECK(point["within"] == true);
      total[name.substr(0, name.find("_between"))] += point["simulated"].get<double>();
    }
  }
  // The trace that was measured is the same ladder, one rung after the other.
  const std::string host = folder.write("host.yaml", "extends: [mtsim:base.yaml, mtsim:drivers/rxe.yaml, mtsim:hosts/rxe-tcg.yaml]\n");
  const CommandResult trace =
      run_command({"run", host, root + "traces/calibration/registration_ladder.mtrace", "--quiet", "--json", folder.path("trace.json")});
  REQUIRE(trace.code == 0);
  const Json calls = Json::parse(read_file(folder.path("trace.json")))["registration"];
  for (const char* call : {"reg_mr", "dereg_mr"}) {
    CHECK(calls[call]["calls"] == 60);
    CHECK(calls[call]["latency"]["total_ps"].get<double>() / 1e6 == Approx(total[call]).epsilon(1e-6));
  }
  // What the judgement rests on: no cost can be left out.
  for (const char* cost : {"registration", "pin_page", "pin_grab", "fault_4k", "deregistration", "unpin_run", "unpin_page"}) {
    INFO(cost);
    CHECK(run_command({"validate", "rxe-tcg", "--strict", "--set", "kernel." + std::string(cost) + "=0ns"}).code == 1);
  }
  CHECK(run_command({"validate", "rxe-tcg", "--strict", "--set", "driver.store_entry=0ns"}).code == 1);
  CHECK(run_command({"validate", "rxe-tcg", "--strict", "--set", "kernel.zero_rate=80Gb/s"}).code == 1);
}

#include "results/json.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "results/text.h"
#include "sample.h"

namespace mtsim::results {
namespace {

using nlohmann::json;

TEST_CASE("the JSON has the sections that the command promises") {
  const json j = json::parse(to_json(sample::report()));
  CHECK(j["schema"] == 1);
  CHECK(j["version"] == "0.1.0");
  CHECK(j["seed"] == 7);
  CHECK(j["trace"]["name"] == "pool.mtrace");
  CHECK(j["config"]["hash"] == "c0ffee");
  CHECK(j["summary"]["simulated_ns"] == 120'000.0);
  CHECK(j["summary"]["bytes"] == 8192);
  CHECK(j["summary"]["goodput_gbit_per_s"].get<double>() == Approx(0.65536));
  CHECK(j["summary"]["completions"]["REM_ACCESS_ERR"] == 1);
  CHECK(j["summary"]["what_saturates"].get<std::string>().find("a.cpu") == 0);
  CHECK(j["operations"]["write"]["posted"] == 4);
  CHECK(j["latency"]["write"]["max_ns"] == 2301.001);
  CHECK(j["latency"]["write"]["steps"]["doorbell"]["mean_ns"] == 200.0);
  CHECK(j["registration"]["reg_mr"]["failed"]["ENOMEM"] == 1);
  CHECK(j["registration"]["reg_mr"]["latency"]["steps"]["pin"]["total_ps"] == 29'000'000);
  CHECK(j["registration"]["pinned_most_bytes"] == 2 << 20);
  CHECK(j["registration"]["contention"]["a.kernel.umr_qp"]["alone_total_ps"] == 25'000'000);
  CHECK(j["registration"]["contention"]["a.kernel.umr_qp"]["kept_total_ps"] == 50'000'000);
  CHECK(j["registration"]["contention"]["a.kernel.umr_qp"]["full_from_threads"] == 1.0);
  CHECK(j["memory_series"]["a"]["at_ns"] == json({0.0, 1000.0}));
  CHECK(j["memory_series"]["a"]["swapped_bytes"] == json({0, 8192}));
  // Of 3,401,501 ps of latency of two operations 301,200 are waits.
  const json& waits = j["waits"]["write"];
  CHECK(waits["service"]["mean_ns"] == 1550.1505);
  CHECK(waits["waited_for"]["schedule: contexts"]["total_ps"] == 300'000);
  CHECK(waits["waited_for"]["schedule: contexts"]["mean_ns"] == 150.0);
  CHECK(waits["waited_for"]["schedule: contexts"]["p99_ns"] == 300.0);
  CHECK(waits["waited_for"]["translation: walk slot"]["operations"] == 2);
  CHECK(waits["service"]["share"].get<double>() + waits["waited_for"]["schedule: contexts"]["share"].get<double>() +
            waits["waited_for"]["translation: walk slot"]["share"].get<double>() ==
        Approx(1));
  CHECK(j["miss_chains"]["a.nic"]["without_miss"] == 6);
  CHECK(j["miss_chains"]["a.nic"]["chains"]["mtt"]["lookups"] == 3);
  CHECK(j["miss_chains"]["a.nic"]["chains"]["mpt, mtt"]["length"] == 2);
  CHECK(j["occupancy"]["at_ns"] == json({70'000.0, 120'000.0}));
  CHECK(j["occupancy"]["units"]["a.nic.walker.walks"]["in_use"] == json({0.25, 31.9}));
  CHECK(j["occupancy"]["units"]["a.nic.requests"]["in_use"] == json({16, 3}));
  CHECK(j["caches"]["a.nic.mtt_cache"]["miss_latency_mean_ns"] == 400.0);
  CHECK(j["resources"]["a.cpu"]["utilisation_share"] == 0.95);
  CHECK(j["resources"]["a.kernel.umr_qp"]["wait_mean_ns"] == 1000.0);
  CHECK(j["pcie"]["a.pcie.up"]["payload_bytes"] == 192);
  CHECK(j["cpu"]["a"]["registration"]["pin_ns"] == 69'000.0);
  CHECK(j["network"]["switch.a"]["deepest_queue_bytes"] == 4'200);
  CHECK(j["counters"]["a.nic.doorbells"]["value"] == 4);
  CHECK(j["faults"]["unexpected"][0]["got"] == "REM_ACCESS_ERR");
  CHECK(j["faults"]["failed_calls"]["reg_mr"]["ENOMEM"] == 1);
  CHECK(j["machine"]["wall_s"] == 0.5);
}

TEST_CASE("counts are integers") {
  const json j = json::parse(to_json(sample::report()));
  for (const char* key : {"posted", "completed", "bytes"}) CHECK(j["operations"]["write"][key].is_number_integer());
  CHECK(j["summary"]["operations"].is_number_integer());
}

TEST_CASE("machine figures and empty parts are left out") {
  CHECK_FALSE(json::parse(to_json(sample::report(), {.machine = false})).contains("machine"));
  const json empty = json::parse(to_json(Report{}));
  for (const char* key : {"caches", "pcie", "faults", "iommu", "odp", "machine"}) CHECK_FALSE(empty.contains(key));
}

TEST_CASE("a report read back prints the same") {
  for (const Report& r : {sample::report(), sample::crowded(), Report{}}) {
    const std::string text = to_json(r);
    const std::vector<Variant> back = parse_json(text, "x.json");
    REQUIRE(back.size() == 1);
    CHECK(to_json(back[0].report) == text);
    CHECK(summary(back[0].report) == summary(r));
  }
}

TEST_CASE("phases have their time and rate, and read back") {
  Report r = sample::report();
  r.phases = {{"touch", 2, us(30), Bytes(0)}, {"registration", 2, us(200), Bytes(2'000'000)}};
  const std::string text = to_json(r);
  const json j = json::parse(text)["phases"];
  CHECK(j["touch"]["time_ns"] == 30'000.0);
  CHECK(j["registration"]["times"] == 2);
  CHECK(j["registration"]["bytes"] == 2'000'000);
  CHECK(j["registration"]["rate_gbyte_per_s"].get<double>() == Approx(10));
  const std::vector<Variant> back = parse_json(text, "x.json");
  REQUIRE(back.size() == 1);
  CHECK(to_json(back[0].report) == text);
}

TEST_CASE("variants read back in their order") {
  std::vector<Variant> variants{{"pool", sample::report()}, {"a_per_op", sample::report()}};
  variants[1].report.partial = true;
  const std::string text = to_json(variants);
  CHECK(json::parse(text)["variants"]["pool"]["summary"]["operations"] == 3);
  const std::vector<Variant> back = parse_json(text, "x.json");
  REQUIRE(back.size() == 2);
  CHECK(back[0].name == "pool");
  CHECK(back[1].report.partial);
  CHECK(to_json(back) == text);
  CHECK(side_by_side(back) == side_by_side(variants));
}

TEST_CASE("sums beyond 64 bits survive") {
  Report r;
  const Time longest(9'000'000'000'000'000'000);
  OperationStats o;
  o.completed = 3;
  o.latency = LatencyTable({"all"});
  for (int i = 0; i < 3; ++i) o.latency.add(longest, std::vector{longest});
  r.operations.push_back(o);
  const Report back = parse_json(to_json(r), "x.json")[0].report;
  CHECK((back.operations[0].latency.latency().sum() == o.latency.latency().sum()));
  CHECK(back.operations[0].latency.adds_up());
}

TEST_CASE("a histogram is two lines") {
  const std::string text = to_json(sample::report());
  CHECK(text.find("\"count\": [1,1]") != std::string::npos);
}

TEST_CASE("what is no result file is refused with its name") {
  const auto message = [](const char* text) -> std::string {
    try {
      parse_json(text, "x.json");
    } catch (const UserError& e) { return e.what(); }
    return "accepted";
  };
  CHECK(message("{\"schema\": 2}") == "x.json: results of schema 2; this version reads schema 1");
  CHECK(message("{").find("x.json: not a result file: ") == 0);
  CHECK(message("[]").find("x.json: not a result file: ") == 0);
  CHECK(message("{\"schema\": 1, \"version\": \"1\"}").find("x.json: not a result file: ") == 0);
  std::string text = to_json(sample::report());
  text.replace(text.find("\"server\""), 8, "\"servant\"");
  CHECK(message(text.c_str()) == "x.json: not a result file: unknown word 'servant'");
  text = to_json(sample::report());
  text.replace(text.find("120000.0"), 8, "-1");
  CHECK(message(text.c_str()) == "x.json: not a result file: -1 ns is no time");
}

}  // namespace
}  // namespace mtsim::results

// Is what units have in use over time the same as what they had in use altogether, in few points however long the run?
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>

#include "results/csv.h"
#include "support/run_command.h"
#include "support/system_run.h"
#include "system/occupancy.h"

using namespace mtsim;
using namespace mtsim::test;

namespace {

const results::ResourceStats* resource(const results::Report& report, const std::string& name) {
  for (const results::ResourceStats& r : report.resources)
    if (r.name == name) return &r;
  return nullptr;
}

results::Report run(const char* operations) {
  return run_system({"workload.kind=uniform", "workload.opcode=read", "workload.block=64B", "workload.footprint=16MiB",
                     "nic.mtt_cache.lines=64", "nic.walks=4", std::string("workload.operations=") + operations})
      .report;
}

}  // namespace

TEST_CASE("the points of a unit's occupancy add up to the time in which it was in use") {
  for (const char* operations : {"40", "700", "4000"}) {
    const results::Report r = run(operations);
    const results::Occupancy& o = r.occupancy;
    INFO(operations << " operations, " << o.at.size() << " points");
    CHECK(o.from == r.window_start);
    REQUIRE(o.at.back() == r.window_end);
    CHECK(o.at.size() > system::Occupancy::most_points / 4);
    CHECK(o.at.size() <= system::Occupancy::most_points + 1);
    unsigned compared = 0;
    for (const results::Occupancy::Unit& unit : o.units) {
      INFO(unit.name);
      REQUIRE(unit.in_use.size() == o.at.size());
      double sum = 0;
      Time before = o.from;
      for (std::size_t i = 0; i < o.at.size(); ++i) {
        CHECK(o.at[i] > before);
        CHECK(unit.in_use[i] >= 0);
        if (unit.capacity != 0) CHECK(unit.in_use[i] <= static_cast<double>(unit.capacity) + 1e-3);
        sum += unit.in_use[i] * static_cast<double>((o.at[i] - before).raw);
        before = o.at[i];
      }
      const results::ResourceStats* whole = resource(r, unit.name);
      if (unit.level || whole == nullptr) continue;
      ++compared;
      // Each value has four digits after the point. A link's resource counts what is booked beyond the window's end.
      const double rounding = 1e-4 * static_cast<double>(r.window().raw) + (whole->kind == results::ResourceKind::link ? 1e6 : 0);
      CHECK(std::abs(sum - static_cast<double>(whole->busy.raw)) <= rounding);
    }
    CHECK(compared >= 8);
  }
}

TEST_CASE("outstanding requests never pass what the workload may have outstanding, and reach it") {
  const results::Report r = run_system({"workload.kind=uniform", "workload.operations=2000", "workload.qps=4", "workload.window=8"}).report;
  double most = 0;
  for (const results::Occupancy::Unit& unit : r.occupancy.units)
    if (unit.name == "client0.nic.requests")
      for (const double n : unit.in_use) most = std::max(most, n);
  CHECK(most <= 32);
  CHECK(most >= 24);
}

TEST_CASE("the table for a picture has a line for each point of each unit") {
  const results::Report r = run("40");
  const std::string csv = results::occupancy_csv(std::vector<results::Variant>{{"small, first", r}});
  CHECK(csv.starts_with("variant,from_ns,to_ns,unit,capacity,in_use\n\"small, first\","));
  CHECK(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')) == 1 + r.occupancy.units.size() * r.occupancy.at.size());
}

TEST_CASE("a report with series is read as it was written") {
  const results::Report r = run("40");
  results::JsonOptions options;
  const std::string json = results::to_json(r, options);
  CHECK(results::to_json(results::parse_json(json, "test").front().report, options) == json);
}

TEST_CASE("tools/plot draws what --occupancy wrote, and refuses what it did not") {
  const TempFolder folder;
  const std::string csv = folder.path("occ.csv"), picture = folder.path("occ.png");
  const std::string config = folder.write("my.yaml", "extends: " MTSIM_SOURCE_DIR
                                                     "/configs/base.yaml\nworkload: {operations: 50}\n"
                                                     "variants:\n  few: {nic: {walks: 2}}\n  many: {}\n");
  REQUIRE(run_command({"run", config, "--occupancy", csv}).code == 0);
  const auto plot = [&](const std::string& arguments) {
    const int status = std::system(("tools/plot " + arguments + " 2>" + folder.path("told")).c_str());
    return WEXITSTATUS(status);
  };
  CHECK(plot(config + " " + picture) == 2);
  CHECK(read_file(folder.path("told")) == "tools/plot: '" + config + "' was not written by mtsim run --occupancy\n");
  if (std::system("command -v gnuplot >/dev/null") != 0) return;
  CHECK(plot(csv + " " + picture) == 2);
  CHECK(read_file(folder.path("told")) == "tools/plot: name one of the variants: few many\n");
  CHECK(plot(csv + " " + picture + " none") == 2);
  REQUIRE(plot(csv + " " + picture + " few") == 0);
  CHECK(read_file(picture).starts_with("\x89PNG"));
}

// Ways of registering a pool: does each gain what docs/model.md says, and are the page's tables those that its command prints?
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "support/run_command.h"

using namespace mtsim::test;

TEST_CASE("Ways of registering a pool gain what they are said to") {
  const TempFolder folder;
  const std::string out = folder.path("out.json");
  REQUIRE(run_command({"run", "configs/examples/registering_a_pool.yaml", "--json", out, "--set", "workload.region=4GiB"}).code == 0);
  const auto variants = nlohmann::json::parse(read_file(out))["variants"];
  const auto ms = [&](const std::string& variant, const char* phase = "registration") {
    return variants[variant]["phases"][phase]["time_ns"].get<double>() / 1e6;
  };
  // Huge pages take most of the touch and nearly all of the registration away.
  CHECK(ms("pages_2M", "touch") < ms("pages_4K", "touch") / 2);
  CHECK(ms("pages_2M") < ms("pages_4K") / 10);
  CHECK(ms("pages_1G") == Approx(ms("pages_2M")).epsilon(0.1));
  // Whoever touches first pays, and several pay together.
  CHECK(ms("untouched") > 4 * ms("touched_by_1"));
  CHECK(ms("untouched") == Approx(ms("touched_by_1") + ms("touched_by_1", "touch")).epsilon(0.1));
  CHECK(ms("touched_by_8", "touch") < ms("touched_by_1", "touch") / 2);
  CHECK(ms("untouched_8_threads") < ms("untouched") / 2);
  // Threads share the chunks out; one thread gains nothing by them, and small ones lose.
  CHECK(ms("chunks_1_thread") == Approx(ms("pages_4K")).epsilon(0.05));
  CHECK(ms("chunks_2_threads") < ms("chunks_1_thread") / 1.3);
  CHECK(ms("chunks_4_threads") < ms("chunks_2_threads"));
  CHECK(ms("chunks_of_64K") > 4 * ms("chunks_of_16M"));
  CHECK(ms("chunks_of_1M") > ms("chunks_of_16M"));
  // Each NIC has all of it registered: by one thread after the other, or by a thread for each beside the other.
  CHECK(ms("nics_4_1_thread") == Approx(4 * ms("pages_4K")).epsilon(0.05));
  CHECK(ms("nics_4_4_threads") < ms("nics_4_1_thread") / 2);
  CHECK(ms("nics_4_4_threads") >= ms("pages_4K"));
  CHECK(variants["nics_4_1_thread"]["registration"]["pinned_most_bytes"] > variants["pages_4K"]["registration"]["pinned_most_bytes"]);
}

TEST_CASE("The page on the model has the tables that its command prints") {
  const CommandResult result = run_program("/usr/bin/env", {"MTSIM=" MTSIM_COMMAND, "tools/strategies"});
  REQUIRE(result.code == 0);
  const std::string page = read_file("docs/model.md");
  std::size_t tables = 0;
  for (std::size_t begin = 0; begin < result.out.size(); ++tables) {
    const std::size_t gap = std::min(result.out.find("\n\n", begin), result.out.size() - 1);
    CHECK(page.find(" -->\n" + result.out.substr(begin, gap + 1 - begin) + "<!-- tools/strategies: end") != std::string::npos);
    begin = gap + 2;
  }
  CHECK(tables == 4);
}

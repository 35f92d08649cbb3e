// Translation architectures on the same workloads: does the whole system read on a cold miss what the closed forms say, and are the tables
// of docs/model.md those that their command prints?
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "support/run_command.h"

using namespace mtsim::test;

TEST_CASE("A cold miss fetches as many lines as the closed form of its architecture says") {
  struct Row {
    const char* name;
    std::vector<std::string> set;
    unsigned small, huge;                   ///< reads one after the other for 1 GiB in pages of 4 KiB and 2 MiB
    std::uint64_t small_bytes, huge_bytes;  ///< written: the table, and a context of 64 bytes twice
    unsigned scan = 0;                      ///< lines of a list that may come before the one with the entry
  };
  const std::uint64_t small = 262144, huge = 512;
  // Levels of 512: 262,144 blocks take 2 (512 tables of 512 below a root), 512 blocks one. Page table: leaves of 2 MiB end a level
  // earlier; the registered GiB lies across two tables of 1 GiB, the one that is read within one. B-ary index of 4: 4^9 = 262,144 runs; 512
  // runs take 5 levels of 512, 128, 32, 8 and 2 entries.
  const std::vector<Row> rows{
      {"flat_mtt", {}, 2, 2, 128 + small * 8, 128 + huge * 8},
      {"inline", {}, 2, 2, 128 + small * 8, 128 + huge * 8},
      {"mapped_icm", {}, 4, 4, 128 + small * 8, 128 + huge * 8},
      {"pble", {}, 2, 2, 128 + small * 8, 128 + huge * 8},
      {"radix", {}, 3, 2, 128 + (small + 512) * 8, 128 + huge * 8},
      {"page_table", {"--set", "driver.page_size=per_run"}, 3, 2, 128 + (513 + 2 + 1) * 4096, 128 + (2 + 1) * 4096},
      {"device", {"--set", "driver.table_writer=push"}, 0, 0, 0, 0},
      {"range", {}, 10, 6, 128 + 16 * (std::uint64_t{349524}), 128 + 16 * (512 + 128 + 32 + 8 + 2)},
      {"physical", {"--set", "host.iommu.mode=translate"}, 1, 1, 128, 128},
      // 16 children: 16 bytes in the list and a context each.
      {"ksm", {"--set", "nic.child=64MiB"}, 4, 4, 128 + 16 * 80 + small * 8, 128 + 16 * 80 + huge * 8},
      {"klm", {"--set", "nic.child=64MiB"}, 4, 4, 128 + 16 * 80 + small * 8, 128 + 16 * 80 + huge * 8, 3},
      {"ats", {"--set", "host.iommu.mode=translate"}, 2, 2, 128, 128},
      {"process_page_table", {}, 5, 4, 128, 128},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const TempFolder folder;
    const std::string out = folder.path("out.json");
    std::vector<std::string> words{"run",   "configs/examples/architectures.yaml",      "--json", out,
                                   "--set", std::string("nic.translation=") + row.name, "--set",  "workload.operations=1"};
    words.insert(words.end(), row.set.begin(), row.set.end());
    REQUIRE(run_command(words).code == 0);
    const auto variants = nlohmann::json::parse(read_file(out))["variants"];
    for (const bool is_huge : {false, true}) {
      const auto& report = variants[is_huge ? "cold_2M" : "cold_4K"];
      unsigned reads = 0;
      for (const auto& [name, cache] : report["caches"].items())
        if (name.rfind("server.", 0) == 0) reads += cache["lookups"].get<unsigned>() - cache["hits"].get<unsigned>();
      CHECK(reads >= (is_huge ? row.huge : row.small));
      CHECK(reads <= (is_huge ? row.huge : row.small) + row.scan);
      const auto& registered = variants[is_huge ? "table_2M" : "table_4K"];
      CHECK(registered["counters"]["client0.nic.table_bytes"]["value"] == (is_huge ? row.huge_bytes : row.small_bytes));
    }
  }
}

TEST_CASE("The page on the model has the tables of architectures that their command prints") {
  const CommandResult result = run_program("/usr/bin/env", {"MTSIM=" MTSIM_COMMAND, "tools/architectures"});
  REQUIRE(result.code == 0);
  const std::string page = read_file("docs/model.md");
  std::size_t tables = 0;
  for (std::size_t begin = 0; begin < result.out.size(); ++tables) {
    const std::size_t gap = std::min(result.out.find("\n\n", begin), result.out.size() - 1);
    CHECK(page.find(" -->\n" + result.out.substr(begin, gap + 1 - begin) + "<!-- tools/architectures: end") != std::string::npos);
    begin = gap + 2;
  }
  CHECK(tables == 5);
}

// Does the schema that editors use take what mtsim takes, and flag what it refuses? A validator that is none of ours judges.
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/run_command.h"

using namespace mtsim::test;

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const std::string root = MTSIM_SOURCE_DIR "/";
const std::string shipped_schema = root + "configs/schema.json";

/// Complaints of the validator about each file.
std::map<std::string, std::vector<std::string>> judged(const std::vector<std::string>& files) {
  std::vector<std::string> words{root + "tests/schema/validate.py", shipped_schema};
  words.insert(words.end(), files.begin(), files.end());
  const CommandResult result = run_program(MTSIM_PYTHON3, words);
  INFO("Debian's packages python3-jsonschema and python3-yaml bring the validator: tools/install-dependencies test");
  INFO(result.err);
  REQUIRE(result.code == 0);
  return Json::parse(result.out).get<std::map<std::string, std::vector<std::string>>>();
}

std::vector<std::string> shipped_configurations() {
  std::vector<std::string> out;
  for (const char* folder : {"configs", "tools/bench_runner/loads"})
    for (const auto& entry : fs::recursive_directory_iterator(root + folder))
      if (entry.path().extension() == ".yaml") out.push_back(entry.path().string());
  REQUIRE(out.size() >= 8);
  return out;
}

/// A text laid over the base configuration, and whether the schema can see what is wrong with it.
struct Wrong {
  std::string text;
  std::string path;  ///< of the map or value that the schema complains about
};

/// The validator's complaints about each text, in their order; mtsim check must say `code` to each.
std::vector<std::vector<std::string>> complaints(const std::vector<std::string>& texts, int code) {
  const TempFolder folder;
  std::vector<std::string> files;
  for (const std::string& text : texts) {
    INFO(text);
    files.push_back(folder.write(std::to_string(files.size()) + ".yaml", "extends: " + root + "configs/base.yaml\n" + text));
    const CommandResult check = run_command({"check", files.back()});
    INFO(check.err);
    CHECK(check.code == code);
  }
  const auto found = judged(files);
  std::vector<std::vector<std::string>> out;
  for (const std::string& file : files) out.push_back(found.at(file));
  return out;
}

void expect_flagged(const std::vector<Wrong>& wrongs) {
  std::vector<std::string> texts;
  for (const Wrong& wrong : wrongs) texts.push_back(wrong.text);
  const auto found = complaints(texts, 2);
  for (std::size_t i = 0; i < wrongs.size(); ++i) {
    INFO(wrongs[i].text);
    REQUIRE(found[i].size() == 1);
    CHECK(found[i].front().rfind(wrongs[i].path + ": ", 0) == 0);
  }
}

void expect_taken(const std::vector<std::string>& texts) {
  const auto found = complaints(texts, 0);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    INFO(texts[i]);
    CHECK(found[i] == std::vector<std::string>{});
  }
}

/// The object that a reference of the schema means, or the object itself.
const Json& followed(const Json& schema, const Json& object) {
  return object.contains("$ref") ? schema.at(Json::json_pointer(object["$ref"].get<std::string>().substr(1))) : object;
}

/// YAML that says every default of the section `properties`.
std::string all_defaults(const Json& schema, const Json& properties, const std::string& indent) {
  std::string out;
  for (const auto& [key, value] : properties.items()) {
    const Json& object = followed(schema, value);
    if (object.contains("default")) {
      const Json& standard = object["default"];
      out += indent + key + ": " + (standard.is_string() ? standard.get<std::string>() : standard.dump()) + "\n";
    } else if (object.contains("properties") && key != "workload" && key != "validation") {
      out += indent + key + ":\n" + all_defaults(schema, object["properties"], indent + "  ");
    }
  }
  return out;
}

}  // namespace

TEST_CASE("The shipped schema is what mtsim describe --schema prints") {
  const CommandResult printed = run_command({"describe", "--schema"});
  CHECK(printed.code == 0);
  CHECK(printed.err.empty());
  INFO("After a change of parameters: mtsim describe --schema > configs/schema.json");
  // Not compared by Catch, which would print both.
  const bool same = printed.out == read_file(shipped_schema);
  CHECK(same);
  CHECK(run_command({"describe", "--schema"}).out == printed.out);
  CHECK(printed.out.back() == '\n');
}

TEST_CASE("Every shipped configuration names the schema and is valid by it") {
  const auto files = shipped_configurations();
  const auto found = judged(files);
  for (const std::string& file : files) {
    INFO(file);
    CHECK(found.at(file) == std::vector<std::string>{});
    const std::string text = read_file(file);
    const std::string mark = "# yaml-language-server: $schema=";
    REQUIRE(text.rfind(mark, 0) == 0);
    const std::string named = text.substr(mark.size(), text.find('\n') - mark.size());
    CHECK(fs::weakly_canonical(fs::path(file).parent_path() / named) == fs::weakly_canonical(shipped_schema));
  }
}

TEST_CASE("Misspelt keys are flagged at every level") {
  expect_flagged({
      {"kernle: {}\n", ""},
      {"nic: {wlks: 4}\n", "nic"},
      {"nic: {mtt_cache: {lins: 4}}\n", "nic.mtt_cache"},
      {"host: {memory: {sice: 1GiB}}\n", "host.memory"},
      {"hosts:\n  client0: {nic: {walk: 4}}\n", "hosts.client0.nic"},
      {"hosts:\n  client0: {nics: {}}\n", "hosts.client0"},
      {"variants:\n  one: {nic: {walk: 4}}\n", "variants.one.nic"},
      {"variants:\n  one: {workloads: {}}\n", "variants.one"},
      {"variants:\n  one:\n    hosts:\n      client0: {pcie: {lane: 8}}\n", "variants.one.hosts.client0.pcie"},
      {"workload: {kind: pool, operation: 4}\n", "workload"},
      {"variants: {a: {}}\nvalidation: {row: X, group: g, title: t, source: s, series: {s: {measure: m, unit: us, published: {a: 1}}}, "
       "note: n}\n",
       "validation"},
      {"variants: {a: {}}\nvalidation: {row: X, group: g, title: t, source: s, series: {s: {measure: m, unit: usec, published: {a: 1}}}}\n",
       "validation.series.s.unit"},
  });
}

TEST_CASE("Wrong units, types and names are flagged at their place") {
  expect_flagged({
      {"kernel: {registration: 5}\n", "kernel.registration"},
      {"kernel: {registration: 5GB}\n", "kernel.registration"},
      {"kernel: {registration: -5us}\n", "kernel.registration"},
      {"kernel: {syscall: fast}\n", "kernel.syscall"},
      {"network: {rate: 100Gbps}\n", "network.rate"},
      {"nic: {clock: 2ghz}\n", "nic.clock"},
      {"host: {memory: {size: 64G}}\n", "host.memory.size"},
      {"nic: {walks: 5000}\n", "nic.walks"},
      {"nic: {walks: 0}\n", "nic.walks"},
      {"nic: {walks: 2.5}\n", "nic.walks"},
      {"nic: {walks: many}\n", "nic.walks"},
      {"nic: {walks: [1, 2]}\n", "nic.walks"},
      {"nic: {walks: }\n", "nic.walks"},
      {"nic: 5\n", "nic"},
      {"nic:\n", "nic"},
      {"nic: {translation: flat_mmt}\n", "nic.translation"},
      {"driver: {keys: cash}\n", "driver.keys"},
      {"driver: {table_writer: umrs}\n", "driver.table_writer"},
      {"driver: {page_size: 4K}\n", "driver.page_size"},
      {"rules: ibb\n", "rules"},
      {"replay: {time: later}\n", "replay.time"},
      {"host: {nics: 17}\n", "host.nics"},
      {"workload: {kind: chunked, touch: some}\n", "workload.touch"},
      {"workload: {kind: chunked, chunk: 4}\n", "workload.chunk"},
      {"workload: {kind: per_opp}\n", "workload.kind"},
      {"workload: {clean_up: 1}\n", "workload.clean_up"},
      {"hosts: [client0]\n", "hosts"},
      {"hosts: {client0: 4}\n", "hosts.client0"},
      {"variants: {}\n", "variants"},
      {"variants: {one: }\n", "variants.one"},
  });
}

TEST_CASE("Keys that stand where nobody reads them are flagged") {
  expect_flagged({
      {"hosts:\n  client0: {network: {rate: 40Gb/s}}\n", "hosts.client0"},
      {"hosts:\n  client0: {workload: {}}\n", "hosts.client0"},
      {"variants:\n  one: {variants: {two: {}}}\n", "variants.one"},
      {"nic: {extends: ../nics/cx5.yaml}\n", "nic"},
      {"workload: {kind: pool, footprint: 1MB}\n", "workload.footprint"},
      {"workload: {kind: uniform, depth: 4}\n", "workload.depth"},
      {"workload: {kind: chunked, repeats: 4}\n", "workload.repeats"},
      {"workload: {kind: ladder, rounds: 4}\n", "workload.rounds"},
      {"variants:\n  one: {workload: {kind: sequential, pool: 1MB}}\n", "variants.one.workload.pool"},
  });
}

TEST_CASE("What mtsim takes is not flagged") {
  expect_taken({
      "host: {nics: 2}\nworkload: {kind: chunked, nics: 2, region: 1GiB, chunk: 64MiB, touch: one, rounds: 3}\n",
      "variants: {cx5: {extends: [" + root + "configs/base.yaml, " + root + "configs/nics/cx5.yaml]}}\n",
      "nic: {}\nhosts: {client0: {}, somebody: {nic: {walks: 3}}}\n",
      "hosts:\n  server:\n    extends: " + root + "configs/drivers/mlx4.yaml\n",
      "variants:\n  one:\n    extends: " + root + "configs/nics/cx3.yaml\n    hosts: {client0: {pcie: {lanes: 4}}}\n  2nd: {}\n",
      "nic: {walks: \"8\", clock: 0.25 GHz}\nkernel: {registration: \"8.125us\", syscall: 1ns}\n",
      "network: {rate: 12.5Gb/s, mtu: 1024B}\nhost: {memory: {size: 64GiB}}\n",
      "workload: {kind: uniform, footprint: 1.5MiB, seed: 18446744073709551615, page: 2M, clean_up: \"false\"}\n",
      // The kind that is written beside `footprint` is that of no variant.
      "workload: {kind: pool, footprint: 1MB}\nvariants:\n  a: {workload: {kind: uniform}}\n  b: {workload: {kind: sequential}}\n",
      "replay: {time: asap}\nrun: {limit: 5ms, seed: 7}\ndriver: {keys: counter, table_writer: command, page_size: none}\n",
  });
}

TEST_CASE("Every default is valid, by the schema and by mtsim") {
  const Json schema = Json::parse(read_file(shipped_schema));
  const std::string text = all_defaults(schema, schema["properties"], "");
  CHECK(text.size() > 1000);
  expect_taken({text});
}

TEST_CASE("Every key explains itself, and says which version it is of") {
  const Json schema = Json::parse(read_file(shipped_schema));
  CHECK(schema["title"] == "Configuration of mtsim " MTSIM_VERSION);
  CHECK(schema["$id"] == "urn:mtsim:configuration:" MTSIM_VERSION);
  const std::string lines = schema["definitions"]["nic"]["properties"]["walks"]["description"];
  CHECK(lines.find("\n\nTakes count, 1 to 4096; default ") != std::string::npos);
  CHECK(lines.find("\n\nSource of the default: ") != std::string::npos);
  const std::string keys = schema["definitions"]["driver"]["properties"]["keys"]["description"];
  CHECK(keys.find("\n- bitmap: lowest free slot of a bitmap") != std::string::npos);
}

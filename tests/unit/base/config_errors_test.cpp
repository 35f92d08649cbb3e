// Wrong configurations: is each complaint the one that a person would want, at the right place, and do all of them come at once?
#include <catch2/catch.hpp>

#include "base/config.h"
#include "unit/base/sample_params.h"

namespace mtsim {
namespace {

using namespace test;
using Lines = std::vector<std::string>;

/// What is said of `text` as f.yaml when everything that the tests know is read.
Lines said(const Files& files, const std::string& text, const std::vector<std::string>& sets = {}) {
  const std::string path = files.write("f.yaml", text);
  return complaints(files, [&] {
    const Config config = Config::load(path, sets);
    config.read<LinkSample>();
    config.read<NicSample>();
    config.read<CacheSample>();
    config.word("rules", "ib", {"ib", "mlx5"});
    for (const auto& name : config.host_names()) config.for_host(name).read<LinkSample>();
    config.finish();
  });
}

Lines said(const std::string& text, const std::vector<std::string>& sets = {}) { return said(Files(), text, sets); }

TEST_CASE("a misspelt key names the nearest and all that are allowed") {
  CHECK(said("nic:\n  mtt_cache:\n    entires: 16\n") ==
        Lines{"f.yaml:3:5: nic.mtt_cache.entires: unknown key; allowed here: entries, replacement, ways; did you mean 'entries'?"});
  CHECK(said("pice: {lanes: 4}\n") ==
        Lines{"f.yaml:1:1: pice: unknown key; allowed here: extends, hosts, nic, pcie, rules, variants; did you mean 'pcie'?"});
  CHECK(said("nic: {colour: red}\n") == Lines{"f.yaml:1:7: nic.colour: unknown key; allowed here: label, mtt_cache, walks"});
}

TEST_CASE("a value out of range gives the bound that it breaks") {
  CHECK(said("pcie:\n\n  lanes:     40\n") == Lines{"f.yaml:3:14: pcie.lanes: 40 is above the maximum 32"});
  CHECK(said("pcie: {lanes: 0}\n") == Lines{"f.yaml:1:15: pcie.lanes: 0 is below the minimum 1"});
  CHECK(said("pcie: {latency: 0.003ms}\n") == Lines{"f.yaml:1:17: pcie.latency: 0.003ms is above the maximum 2us"});
  CHECK(said("pcie: {max_payload: 100B, rate: 999Mb/s}\n") == Lines{"f.yaml:1:21: pcie.max_payload: 100B is below the minimum 128B",
                                                                    "f.yaml:1:33: pcie.rate: 999Mb/s is below the minimum 1Gb/s"});
}

TEST_CASE("a value without its unit, or with a wrong one") {
  CHECK(said("pcie:\n  latency: 200\n") == Lines{"f.yaml:2:12: pcie.latency: '200' needs a unit: ps, ns, us, ms or s"});
  CHECK(said("pcie: {max_payload: 4K}\n") ==
        Lines{"f.yaml:1:21: pcie.max_payload: '4K' is ambiguous: write KiB (powers of 1024) or KB (powers of 1000)"});
  CHECK(said("pcie: {lanes: many}\n") == Lines{"f.yaml:1:15: pcie.lanes: 'many' is not a whole number from 0 to 4294967295"});
  CHECK(said("pcie: {relaxed: yes}\n") == Lines{"f.yaml:1:17: pcie.relaxed: 'yes' is not true or false"});
}

TEST_CASE("a wrong word lists the words") {
  CHECK(said("nic: {mtt_cache: {replacement: lur}}\n") ==
        Lines{"f.yaml:1:32: nic.mtt_cache.replacement: 'lur' is not one of: lru, random; did you mean 'lru'?"});
  CHECK(said("rules: mlx4\n") == Lines{"f.yaml:1:8: rules: 'mlx4' is not one of: ib, mlx5; did you mean 'mlx5'?"});
}

TEST_CASE("a value of the wrong shape says what stands there") {
  CHECK(said("pcie: 5\n") ==
        Lines{"f.yaml:1:7: pcie: wants a section of keys (lanes, latency, max_payload, rate, relaxed), but is the value '5'"});
  CHECK(said("nic: {walks: {a: 1}}\n") == Lines{"f.yaml:1:14: nic.walks: wants a single value (count, 1 to 64), but is a section"});
  CHECK(said("nic: {walks: [1, 2]}\n") == Lines{"f.yaml:1:14: nic.walks: wants a single value (count, 1 to 64), but is a list"});
  CHECK(said("nic: {walks: ~}\n") == Lines{"f.yaml:1:14: nic.walks: wants a single value (count, 1 to 64), but is empty"});
}

TEST_CASE("all errors come at once, in the order of the file") {
  CHECK(
      said("nic: {walks: 0, wlaks: 3}\npcie:\n  latency: 1h\n  lanes: 4\n  lanes: 5\nrules: mlx\n", {"pcie.lnes=3"}) ==
      Lines{"f.yaml:1:14: nic.walks: 0 is below the minimum 1",
            "f.yaml:1:17: nic.wlaks: unknown key; allowed here: label, mtt_cache, walks; did you mean 'walks'?",
            "f.yaml:3:12: pcie.latency: '1h' has an unknown unit; allowed: ps, ns, us, ms or s",
            "f.yaml:5:3: pcie.lanes: given twice; first at line 4",
            "f.yaml:6:8: rules: 'mlx' is not one of: ib, mlx5; did you mean 'mlx5'?",
            "--set pcie.lnes=3: pcie.lnes: unknown key; allowed here: lanes, latency, max_payload, rate, relaxed; did you mean 'lanes'?"});
}

TEST_CASE("errors in overlays are shown where they are written") {
  const Files files;
  files.write("nics/small.yaml", "nic:\n  walks: 65\n");
  CHECK(said(files, "extends: nics/small.yaml\n") == Lines{"nics/small.yaml:2:10: nic.walks: 65 is above the maximum 64"});
}

TEST_CASE("a key of one host") {
  CHECK(
      said("hosts:\n  a: {pcie: {lanes: 99}}\n  b: {pcie: {lane: 9}, fabric: {}}\n") ==
      Lines{"f.yaml:2:21: hosts.a.pcie.lanes: 99 is above the maximum 32",
            "f.yaml:3:14: hosts.b.pcie.lane: unknown key; allowed here: lanes, latency, max_payload, rate, relaxed; did you mean 'lanes'?",
            "f.yaml:3:24: hosts.b.fabric: unknown key; allowed here: pcie"});
  CHECK(said("hosts: {a: 4}\n") == Lines{"f.yaml:1:12: hosts.a: wants a section of keys (pcie), but is the value '4'"});
  // The common value is read once for each host and complained about once.
  CHECK(said("pcie: {lanes: 77}\nhosts: {a: {}, b: {}}\n") == Lines{"f.yaml:1:15: pcie.lanes: 77 is above the maximum 32"});
}

TEST_CASE("a wrong kind does not condemn the keys of the kind that was meant") {
  const Files files;
  const auto path = files.write("f.yaml", "nic: {kind: bigg, ports: 2, mtt_cache: {wais: 2}}\n");
  CHECK(complaints(files,
                   [&] {
                     const Config config = Config::load(path);
                     CHECK(config.word("nic.kind", "small", {"big", "small"}) == "small");
                     config.read<CacheSample>();
                     config.finish();
                   }) ==
        Lines{"f.yaml:1:13: nic.kind: 'bigg' is not one of: big, small; did you mean 'big'?",
              "f.yaml:1:41: nic.mtt_cache.wais: unknown key; allowed here: entries, replacement, ways; did you mean 'ways'?"});
}

TEST_CASE("what has no default must be given") {
  const Files files;
  const auto path = files.write("f.yaml", "nic: {walks: 2}\n");
  CHECK(complaints(files,
                   [&] {
                     const Config config = Config::load(path);
                     config.read<RequiredSample>();
                     config.word("nic.kind", "", {"big", "small"});
                     config.finish();
                   }) == Lines{"f.yaml:1:1: nic.kind: missing, and there is no default (one of: big, small)",
                               "f.yaml: job.start: missing, and there is no default (time)"});
}

TEST_CASE("a reader can complain at the place of a key") {
  const Files files;
  const auto path = files.write("f.yaml", "nic:\n  walks: 2\nhosts: {h: {pcie: {lanes: 3}}}\n");
  CHECK(complaints(files,
                   [&] {
                     const Config config = Config::load(path);
                     config.read<NicSample>();
                     const Config host = config.for_host("h");
                     host.read<LinkSample>();
                     config.fail("nic.walks", "more than the tags");
                     config.fail("nic.ports", "two are needed");
                     host.fail("pcie.lanes", "not a power of two");
                     config.finish();
                   }) == Lines{"f.yaml:1:1: nic.ports: two are needed", "f.yaml:2:10: nic.walks: more than the tags",
                               "f.yaml:3:27: hosts.h.pcie.lanes: not a power of two"});
}

TEST_CASE("keys inside a variant are checked too") {
  const Files files;
  const auto path = files.write("f.yaml", "variants:\n  a: {nic: {walk: 3}}\n  b:\n  c: {variants: {d: {}}}\n");
  const Config config = Config::load(path);
  CHECK(complaints(files,
                   [&] {
                     const auto variants = config.variants();
                     REQUIRE(variants.size() == 2);
                     variants[0].second.read<NicSample>();
                     variants[0].second.finish();
                   }) == Lines{"f.yaml:2:13: nic.walk: unknown key; allowed here: label, walks; did you mean 'walks'?",
                               "f.yaml:3:3: variants.b: wants a map of settings ({} for none), but is empty",
                               "f.yaml:4:7: variants.c.variants: a variant cannot hold variants"});
  CHECK(said("variants: [a]\n") == Lines{"f.yaml:1:1: variants: wants a map from names to overlays, but is a list"});
}

TEST_CASE("a --set that cannot be carried out") {
  CHECK(said("nic: {}\n", {"nic.walks"}) == Lines{"--set nic.walks: wants PATH=VALUE, such as nic.mtt_cache.ways=4"});
  CHECK(said("nic: {}\n", {"nic..walks=2"}) == Lines{"--set nic..walks=2: wants PATH=VALUE, such as nic.mtt_cache.ways=4"});
  CHECK(said("nic: {}\n", {"nic.walks="}) == Lines{"--set nic.walks=: nic.walks: wants a single value (count, 1 to 64), but is empty"});
  CHECK(said("nic: {}\n", {"nic.walks=[1"}) == Lines{"--set nic.walks=[1: nic.walks: '[1' is not a list"});
  CHECK(said("nic: {}\n", {"nic.walks=65"}) == Lines{"--set nic.walks=65: nic.walks: 65 is above the maximum 64"});
  CHECK(said("nic: {}\n", {"extends=x"}) == Lines{"--set extends=x: extends: cannot be set from the command line"});
}

}  // namespace
}  // namespace mtsim

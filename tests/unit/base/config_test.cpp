// Reading a configuration: do overlays, variants, hosts and the command line give the values that the rules say?
#include "base/config.h"

#include <catch2/catch.hpp>

#include "unit/base/sample_params.h"

namespace mtsim {
namespace {

using namespace test;

TEST_CASE("what is not written is at its default, what is written is parsed") {
  const Files files;
  const Config config = Config::load(files.write("a.yaml", "pcie:\n  lanes: 8\n  latency: '1.5us'\n  relaxed: true\n"));
  const auto link = config.read<LinkSample>();
  CHECK(link.lanes == 8);
  CHECK(link.latency == ps(1'500'000));
  CHECK(link.max_payload == Bytes(256));
  CHECK(link.rate == BitRate(8'000'000'000));
  CHECK(link.relaxed);
  CHECK_NOTHROW(config.finish());
}

TEST_CASE("a section nested in another is known beside its parameters and words") {
  const Files files;
  const Config config = Config::load(
      files.write("a.yaml", "nic:\n  kind: big\n  walks: 3\n  label: first nic\n  mtt_cache: {entries: 16, replacement: random}\n"));
  CHECK(config.word("nic.kind", "small", {"big", "small"}) == "big");
  CHECK(config.read<CacheSample>().replacement == Replacement::random);
  const auto nic = config.read<NicSample>();
  CHECK(nic.walks == 3);
  CHECK(nic.label == "first nic");
  CHECK_NOTHROW(config.finish());
}

TEST_CASE("one declaration can be read at several paths") {
  const Files files;
  const Config config = Config::load(files.write("a.yaml", "nic: {mpt_cache: {entries: 7}, mtt_cache: {entries: 9}}\n"));
  CHECK(config.read<CacheSample>("nic.mpt_cache").entries == 7);
  CHECK(config.read<CacheSample>().entries == 9);
  CHECK_NOTHROW(config.finish());
}

TEST_CASE("extends: later overlays win over earlier ones, the file itself over all, maps merge, --set comes last") {
  const Files files;
  files.write("base.yaml", "pcie: {lanes: 1, latency: 1ns, max_payload: 128B, rate: 1Gb/s}\nnic: {walks: 1}\n");
  files.write("nics/one.yaml", "extends: ../base.yaml\npcie: {latency: 2ns, max_payload: 256B, rate: 2Gb/s}\n");
  files.write("two.yaml", "pcie: {max_payload: 512B, rate: 3Gb/s}\n");
  const auto path = files.write("top.yaml", "extends: [nics/one.yaml, two.yaml]\npcie:\n  rate: 4Gb/s\n");
  const Config config = Config::load(path, {"nic.walks=5", "nic.walks=6", "nic.mtt_cache.ways=2"});
  const auto link = config.read<LinkSample>();
  CHECK(link.lanes == 1);
  CHECK(link.latency == ns(2));
  CHECK(link.max_payload == Bytes(512));
  CHECK(link.rate == BitRate(4'000'000'000));
  CHECK(config.read<NicSample>().walks == 6);
  CHECK(config.read<CacheSample>().ways == 2);
  CHECK_NOTHROW(config.finish());
}

TEST_CASE("a file may be extended twice by different ways") {
  const Files files;
  files.write("base.yaml", "pcie: {lanes: 2}\n");
  files.write("l.yaml", "extends: base.yaml\n");
  files.write("r.yaml", "extends: base.yaml\npcie: {lanes: 3}\n");
  CHECK(Config::load(files.write("top.yaml", "extends: [r.yaml, l.yaml]\n")).read<LinkSample>().lanes == 2);
}

TEST_CASE("variants lie over the common settings, in file order, with --set over them") {
  const Files files;
  files.write("wide.yaml", "pcie: {lanes: 32}\n");
  const auto path = files.write("a.yaml",
                                "pcie: {lanes: 4}\n"
                                "variants:\n"
                                "  zebra: {extends: wide.yaml, nic: {walks: 2}}\n"
                                "  ant: {}\n"
                                "  bee: {pcie: {lanes: 8, latency: 7ns}}\n");
  const Config config = Config::load(path, {"pcie.latency=9ns"});
  CHECK(config.read<LinkSample>().lanes == 4);
  const auto variants = config.variants();
  REQUIRE(variants.size() == 3);
  CHECK(variants[0].first == "zebra");
  CHECK(variants[1].first == "ant");
  CHECK(variants[2].first == "bee");
  CHECK(variants[0].second.read<LinkSample>().lanes == 32);
  CHECK(variants[0].second.read<NicSample>().walks == 2);
  CHECK(variants[1].second.read<LinkSample>().lanes == 4);
  CHECK(variants[2].second.read<LinkSample>().lanes == 8);
  CHECK(variants[2].second.read<LinkSample>().latency == ns(9));
  for (const auto& [name, variant] : variants) {
    CHECK(variant.variants().empty());
    CHECK((variant.hash() == config.hash()) == (name == "ant"));
  }
  CHECK_NOTHROW(variants[0].second.finish());
}

TEST_CASE("a host sees the common settings with its own over them") {
  const Files files;
  files.write("cx.yaml", "nic: {walks: 12, mtt_cache: {entries: 5}}\n");
  const auto path = files.write("a.yaml",
                                "pcie: {lanes: 8}\n"
                                "nic: {walks: 3}\n"
                                "hosts:\n"
                                "  server: {extends: cx.yaml, pcie: {lanes: 4}}\n"
                                "  client: {}\n");
  const Config config = Config::load(path, {"hosts.client.pcie.lanes=2"});
  CHECK(config.host_names() == std::vector<std::string>{"server", "client"});
  const Config server = config.for_host("server"), client = config.for_host("client"), other = config.for_host("other");
  CHECK(server.read<LinkSample>().lanes == 4);
  CHECK(server.read<NicSample>().walks == 12);
  CHECK(server.read<CacheSample>().entries == 5);
  CHECK(client.read<LinkSample>().lanes == 2);
  CHECK(client.read<NicSample>().walks == 3);
  CHECK(other.read<LinkSample>().lanes == 8);
  CHECK(server.has("nic.mtt_cache"));
  CHECK_FALSE(client.has("nic.mtt_cache"));
  CHECK_FALSE(client.has("hosts"));
  CHECK_NOTHROW(config.finish());
}

TEST_CASE("the effective settings are canonical") {
  const Files files;
  const Config a = Config::load(files.write("a.yaml", "pcie: {latency: 5ns, lanes: 8}\nnic: {walks: 2}\n"));
  const Config b = Config::load(files.write("b.yaml", "nic:\n  walks: '2'\npcie:\n  lanes: 8\n  latency: 5ns\n"));
  CHECK(a.effective() == R"({"nic":{"walks":"2"},"pcie":{"lanes":"8","latency":"5ns"}})");
  CHECK(a.effective() == b.effective());
  CHECK(a.hash() == b.hash());
  CHECK(a.hash().size() == 16);
  CHECK(a.hash() != Config::load(files.root() + "/a.yaml", {"nic.walks=3"}).hash());
}

TEST_CASE("the values read are listed with their defaults, by host") {
  const Files files;
  const Config config = Config::load(files.write("a.yaml", "nic: {walks: 2}\nhosts: {h: {nic: {walks: 5}}}\n"));
  config.read<NicSample>();
  config.for_host("h").read<NicSample>();
  config.for_host("h").word("rules", "ib", {"ib", "mlx5"});
  CHECK(config.effective_json() == R"({"hosts":{"h":{"nic":{"label":"","walks":"5"},"rules":"ib"}},"nic":{"label":"","walks":"2"}})");
}

}  // namespace
}  // namespace mtsim

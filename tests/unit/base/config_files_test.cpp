// Files that are no configuration at all: is each refused cleanly, whatever it holds?
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "base/config.h"
#include "unit/base/sample_params.h"

namespace mtsim {
namespace {

using namespace test;
using Lines = std::vector<std::string>;

Lines loaded(const Files& files, const std::string& path) {
  return complaints(files, [&] { Config::load(path).finish(); });
}

Lines loaded(const std::string& text) {
  const Files files;
  return loaded(files, files.write("f.yaml", text));
}

TEST_CASE("a file that is missing, a directory or empty") {
  const Files files;
  CHECK(loaded(files, files.root() + "/no.yaml") == Lines{"no.yaml: cannot be read: No such file or directory"});
  files.write("dir/x", "");
  CHECK(loaded(files, files.root() + "/dir") == Lines{"dir: is a directory, not a file"});
  CHECK(loaded("") == Lines{"f.yaml: must hold a map of sections such as 'nic:', but is empty"});
  CHECK(loaded("# only a comment\n") == Lines{"f.yaml: must hold a map of sections such as 'nic:', but is empty"});
  CHECK(loaded("- a\n- b\n") == Lines{"f.yaml: must hold a map of sections such as 'nic:', but is a list"});
}

TEST_CASE("a file that extends what it cannot") {
  const Files files;
  CHECK(loaded(files, files.write("f.yaml", "extends: [no.yaml, none.yaml]\n")) ==
        Lines{"f.yaml:1:11: extends: no.yaml cannot be read: No such file or directory",
              "f.yaml:1:20: extends: none.yaml cannot be read: No such file or directory"});
  files.write("a.yaml", "extends: b.yaml\n");
  files.write("b.yaml", "extends: ./a.yaml\n");
  CHECK(loaded(files, files.root() + "/a.yaml") == Lines{"b.yaml:1:10: extends: a.yaml extends itself, directly or through others"});
  CHECK(loaded(files, files.write("f.yaml", "extends: {a: b}\n")) ==
        Lines{"f.yaml:1:10: extends: wants a file or a list of files, but is a section"});
}

TEST_CASE("a name after mtsim: is that of a shipped file, wherever it is written") {
  const Files shipped, files;
  setenv("MTSIM_CONFIGS", shipped.root().c_str(), 1);
  shipped.write("base.yaml", "pcie: {lanes: 4}\n");
  shipped.write("nics/a.yaml", "extends: ../base.yaml\npcie: {latency: 7ns}\n");
  const Config config = Config::load(files.write("deep/f.yaml", "extends: [mtsim:nics/a.yaml]\n"));
  const auto link = config.read<LinkSample>();
  config.finish();
  CHECK(link.lanes == 4);
  CHECK(link.latency == ns(7));
  CHECK(Config::load("mtsim:base.yaml").read<LinkSample>().lanes == 4);
  CHECK(loaded(shipped, files.write("f.yaml", "extends: mtsim:no.yaml\n")).front().find("extends: no.yaml cannot be read: No such file") !=
        std::string::npos);
  unsetenv("MTSIM_CONFIGS");
}

TEST_CASE("files that extend one another a million ways are refused in time") {
  const Files files;
  for (int i = 0; i < 20; ++i) files.write(fmt::format("f{}.yaml", i), fmt::format("extends: [f{0}.yaml, f{0}.yaml]\n", i + 1));
  files.write("f20.yaml", "pcie: {}\n");
  const auto lines = loaded(files, files.root() + "/f0.yaml");
  REQUIRE_FALSE(lines.empty());
  CHECK(lines.front().find("is one file too many: a configuration may extend 200 in all") != std::string::npos);
}

TEST_CASE("text that is not YAML") {
  CHECK(loaded("nic: {walks: 1\npcie: [\n").front().find("f.yaml:") == 0);
  CHECK(loaded("nic:\n\twalks: 1\n") ==
        Lines{"f.yaml:2:7: not valid YAML: illegal map value; line 2 is indented with a tab, where YAML wants spaces"});
  CHECK(loaded(std::string("\x7f"
                           "ELF\x02\x01\x00\x00",
                           8)) == Lines{"f.yaml:1: not a text file: it holds the byte 0x02"});
  CHECK(loaded("a: {}\n---\nb: {}\n") == Lines{"f.yaml: more than one YAML document; only one is allowed in a file"});
}

TEST_CASE("YAML that would explode") {
  CHECK(loaded("a: &x [1, 1]\nb: &y [*x, *x]\n").front() == "f.yaml:1:1: a: unknown key; allowed here: extends, variants");
  CHECK(loaded("a: &x [1, 1]\nb: &y [*x]\n")[2] ==
        "f.yaml:2:8: aliases (*name) are not supported; write the value out, or put what is shared into a file for 'extends'");
  CHECK(loaded("a: " + std::string(40, '[') + std::string(40, ']')) == Lines{"f.yaml:1:35: nested deeper than 32 levels"});
  CHECK(loaded("a: " + std::string(100'000, '[')).front().find(": nested deeper than 32 levels") != std::string::npos);
  CHECK(loaded("a: " + std::string(100'000, '{')) == Lines{"f.yaml:1:35: nested deeper than 32 levels"});
  std::string wide = "a: [";
  for (int i = 0; i < 30'000; ++i) wide += "1,";
  CHECK(loaded(wide + "1]\n").front().find("the configuration is too large: more than 20,000 values") != std::string::npos);
  CHECK(loaded(std::string(2'000'000, '#')) == Lines{"f.yaml: is too large for a configuration: more than 1 MiB"});
}

TEST_CASE("keys and tags that are not supported") {
  CHECK(loaded("pcie.lanes: 4\n") == Lines{"f.yaml:1:1: pcie.lanes: a key holds no dots; nest the sections instead"});
  CHECK(loaded("? [a, b]\n: 4\n") == Lines{"f.yaml:1:3: a key must be a word, not a list"});
  CHECK(loaded("extends: !!binary eA==\n").front().find("f.yaml:1:10: ") == 0);
}

}  // namespace
}  // namespace mtsim

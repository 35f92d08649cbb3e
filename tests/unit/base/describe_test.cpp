// The reference text: does it hold all that a declaration says?
#include "base/describe.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "unit/base/sample_params.h"

namespace mtsim {
namespace {

using namespace test;

const Sections::Entrant<LinkSample> link_declared;
const Sections::Entrant<CacheSample> cache_declared;
const Sections::Entrant<CacheSample> cache_declared_again;

TEST_CASE("sections are listed once, by path") {
  const auto all = Sections::all();
  REQUIRE(all.size() == 2);
  CHECK(all[0]->path == "nic.mtt_cache");
  CHECK(all[1]->path == "pcie");
  CHECK(describe(all) ==
        "nic.mtt_cache  A cache for tests.\n"
        "pcie           A link for tests.\n"
        "\n"
        "'mtsim describe NAME' shows the parameters of a section: type, default, what is allowed, meaning and source.\n");
}

TEST_CASE("a section, a parameter and a group of sections") {
  const std::string ways =
      "  ways\n"
      "    Lines of a set.\n"
      "    takes     count, 1 to 16\n"
      "    default   4\n"
      "    source    test\n";
  CHECK(describe(Sections::all(), "nic.mtt_cache.ways") == "nic.mtt_cache\n" + ways);
  const std::string cache = describe(Sections::all(), "nic.mtt_cache");
  CHECK(cache.find("nic.mtt_cache\n  A cache for tests.\n\n  entries\n") == 0);
  CHECK(cache.find("\n" + ways) != std::string::npos);
  CHECK(cache.find("    takes     one of: lru, random\n    default   lru\n") != std::string::npos);
  CHECK(describe(Sections::all(), "nic") == cache);
}

TEST_CASE("an unknown name gets the nearest") {
  CHECK_THROWS_WITH(describe(Sections::all(), "pci"),
                    "describe: no section or parameter 'pci'; sections: nic.mtt_cache, pcie; did you mean 'pcie'?");
}

TEST_CASE("long meanings are broken between words") {
  const std::string a(30, 'a'), b(40, 'b'), c(40, 'c');
  const Section section{"s", fmt::format("{} {} {}", a, b, c), {}};
  CHECK(describe({&section}, "s") == fmt::format("s\n  {} {}\n  {}\n", a, b, c));
}

}  // namespace
}  // namespace mtsim

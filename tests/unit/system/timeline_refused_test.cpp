// What does the command say of a timeline that it cannot draw?
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support/run_refusal.h"

using namespace mtsim::test;

TEST_CASE("What cannot be drawn is refused before the run") {
  const TempFolder folder;
  const auto refused = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", "configs/base.yaml"});
    return refusal(folder, more);
  };
  const std::string file = folder.path("t.json");
  CHECK(refused({"--timeline", file, "--from", "5us", "--to", "1us"}) == "--from 5us does not lie before --to 1us\n");
  CHECK(refused({"--timeline", file, "--from", "1us", "--to", "1us"}) == "--from 1us does not lie before --to 1us\n");
  CHECK(refused({"--timeline", file, "--from", "5"}) == "--from: '5' needs a unit: ps, ns, us, ms or s\n");
  CHECK(refused({"--timeline", file, "--to", "5 parsec"}) == "--to: '5 parsec' has an unknown unit; allowed: ps, ns, us, ms or s\n");
  CHECK(refused({"--timeline", file, "--to", "0us"}) == "--from 0s does not lie before --to 0s\n");
  CHECK(refused({"--timeline", file, "--from=-1us"}) == "--from: '-1us' must not be negative\n");
  CHECK(refused({"--timeline", file, "--sample", "0"}) == "--sample: 1 draws everything, 2 about every other; there is no 0\n");
  CHECK(refused({"--timeline", file, "--sample", "x"}).starts_with("--sample: 'x' "));
  CHECK(refused({"--from", "1us"}) == "--from says what to draw of a timeline, but there is no --timeline\n");
  CHECK(refused({"--sample", "2"}) == "--sample says what to draw of a timeline, but there is no --timeline\n");
  CHECK(refused({"--timeline", folder.path("absent/t.json")}) == "cannot write 'absent/t.json': No such file or directory\n");
  CHECK(refused({"--timeline", "-", "--json", "-"}) == "--json and --timeline cannot both go to stdout\n");
  CHECK(refused({"--set", "workload.operations=2000", "--timeline", "/dev/full"}) == "cannot write '/dev/full': No space left on device\n");
  CHECK(folder.names().empty());
}

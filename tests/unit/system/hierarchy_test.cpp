// Are the modules of a host found under the host's name, so that two hosts do not share one?
#include <catch2/catch.hpp>
#include <systemc>

#include "base/config.h"
#include "support/fresh_systemc.h"
#include "system/simulation.h"

using namespace mtsim;

TEST_CASE("every module of a host is named below it") {
  const test::FreshSystemC context;
  const Config config = Config::load(MTSIM_SOURCE_DIR "/configs/base.yaml", {"workload.operations=1"});
  const system::Plan plan = system::make_plan(config, std::nullopt, std::nullopt);
  const system::Simulation simulation(plan);
  REQUIRE(simulation.hosts().size() == 2);
  for (const std::string host : {"client0", "server"}) {
    for (const std::string module : {"cpus", "root_complex", "pcie", "nic", "nic.walker", "nic.mtt_cache", "kernel", "device"}) {
      CAPTURE(host, module);
      CHECK(sc_core::sc_find_object((host + "." + module).c_str()) != nullptr);
    }
  }
  CHECK(sc_core::sc_find_object("nic") == nullptr);
}

// Is the rule set that which holds for a driver and a kernel, and is a missing device told?
#include "replay/nic.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "verbs/rules.h"

using namespace mtsim;
using namespace mtsim::replay;

TEST_CASE("Rules follow from the driver, those of rxe from the kernel too") {
  CHECK(rules_of("rxe", "6.1.0-57-amd64") == "rxe-6.1");
  CHECK(rules_of("rxe", "5.15.0") == "rxe-6.1");
  CHECK(rules_of("rxe", "6.12.117+deb12-amd64") == "rxe-6.12");
  CHECK(rules_of("rxe", "7.3.4") == "rxe-6.12");
  CHECK(rules_of("mlx5_core", "6.1.0") == "mlx5");
  CHECK(rules_of("mlx4_core", "6.1.0") == "mlx4");
  CHECK(rules_of("irdma", "6.1.0") == "irdma");
  CHECK(rules_of("hns3", "6.1.0") == "hns");
  CHECK(rules_of("siw", "6.1.0") == "siw");
  CHECK(rules_of("", "6.1.0") == "ib");
  CHECK(rules_of("bnxt_re", "6.1.0") == "ib");
  for (const char* driver : {"rxe", "mlx5_core", "mlx4_core", "irdma", "hns3", "siw", ""})
    CHECK(verbs::RuleSets::make(rules_of(driver, "6.1.0")) != nullptr);
}

TEST_CASE("A device that is not there is refused by name") {
  CHECK_THROWS_WITH(Nic("no_such_device", 1, choose_gid), Catch::StartsWith("no RDMA device 'no_such_device'"));
}

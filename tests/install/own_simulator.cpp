// A simulator of one's own: it adds a key policy to the shipped ones, and runs the shipped base configuration with it.
#include <iostream>

#include "kernel/key_policy.h"
#include "results/text.h"
#include "system/simulation.h"

namespace {

using namespace mtsim;

std::uint64_t taken = 0;

/// Every eighth key, none of them twice.
class SparseKeys : public kernel::KeyPolicy {
 public:
  std::optional<kernel::KeyGrant> take(const kernel::KeyNeed&, Time) override {
    return kernel::KeyGrant{Key(std::uint32_t(8 * ++taken), 0)};
  }
  bool keeps(const kernel::KeyGrant&) const override { return false; }
  void give_back(const kernel::KeyGrant&, Time) override {}
};
const kernel::KeyPolicies::Entrant registered("sparse", "every eighth key, none of them twice",
                                              [](const auto&) { return std::make_unique<SparseKeys>(); });

}  // namespace

int sc_main(int, char**) {
  const Config config = Config::load(SHIPPED "/base.yaml", {"driver.keys=sparse", "workload.kind=per_op", "workload.operations=100"});
  const system::Plan plan = system::make_plan(config, {}, {});
  system::Simulation simulation(plan);
  simulation.run();
  std::cout << results::summary(simulation.report(), {}) << "sparse keys taken: " << taken << '\n';
  return simulation.stuck().empty() ? 0 : 1;
}

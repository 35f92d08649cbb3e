// mlx4: rdma-core providers/mlx4 and what is known of the devices behind it.
#include "verbs/rules.h"

namespace mtsim::verbs {
namespace {

const RuleSets::Entrant mlx4{"mlx4", "ConnectX-3: rdma-core providers/mlx4 and Linux 6.12", [] {
                               auto rules = std::make_unique<Rules>(ib_rules());
                               rules->name = "mlx4";
                               return rules;
                             }};

}  // namespace
}  // namespace mtsim::verbs

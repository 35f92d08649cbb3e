// mlx5: rdma-core providers/mlx5 and what is known of the devices behind it.
#include "verbs/rules.h"

namespace mtsim::verbs {
namespace {

const RuleSets::Entrant mlx5{"mlx5", "ConnectX-4 and later: rdma-core providers/mlx5 and Linux 6.12", [] {
                               auto rules = std::make_unique<Rules>(ib_rules());
                               rules->name = "mlx5";
                               rules->windows.bound_dereg = 0;
                               rules->requester.longest = 1ull << 30;
                               rules->evidence = {{"windows.bound_dereg", "Linux hw/mlx5/mr.c: nothing counts the windows of an MR"},
                                                  {"requester.longest", "max_msg_sz as devices report it; gloo issue 474"}};
                               return rules;
                             }};

}  // namespace
}  // namespace mtsim::verbs

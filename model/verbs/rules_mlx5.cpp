// mlx5: rdma-core providers/mlx5 and what is known of the devices behind it.
#include "verbs/rules.h"

namespace mtsim::verbs {
namespace {

std::unique_ptr<Rules> make() {
  auto rules = std::make_unique<Rules>(ib_rules());
  rules->name = "mlx5";
  rules->windows.bound_dereg = 0;
  rules->requester.longest = 1ull << 30;
  rules->requester.longest_element = (1ull << 31) - 1;
  // Where the specification leaves a post's answer to the provider, `ib` is as mlx5.
  for (const char* field :
       {"posting.send_below_rts", "posting.receive_in_reset", "posting.queue_full", "posting.send_elements", "posting.receive_elements",
        "posting.inline_bytes", "posting.inline_not_data", "posting.wrong_opcode", "posting.no_opcode", "posting.atomic_length",
        "posting.atomic_alignment", "posting.length_sum", "posting.bind_length", "posting.bind_form"})
    rules->evidence.push_back({field, "rdma-core providers/mlx5, qp.c and verbs.c"});
  rules->evidence.push_back({"posting.bind_pd", "rdma-core libibverbs/verbs.h, ibv_bind_mw"});
  for (const char* field : {"requester.gather_key", "responder.receive_key", "responder.key"})
    rules->evidence.push_back({field, "rdma-core providers/mlx5/cq.c; rdma-core tests/test_mr.py; public reports"});
  rules->evidence.push_back({"requester.longest_element", "rdma-core providers/mlx5: bit 31 of a data segment's length marks inline data"});
  rules->evidence.push_back({"requester.longest", "max_msg_sz as devices report it; gloo issue 474"});
  rules->evidence.push_back({"responder.raises_events", "Linux hw/mlx5/qp.c, mlx5_ib_qp_event"});
  rules->evidence.push_back({"windows.bound_dereg", "Linux hw/mlx5/mr.c: nothing counts the windows of an MR"});
  return rules;
}

const RuleSets::Entrant mlx5{"mlx5", "ConnectX-4 and later: rdma-core providers/mlx5 and Linux 6.12", make};

}  // namespace
}  // namespace mtsim::verbs

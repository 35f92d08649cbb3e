// mlx4: rdma-core providers/mlx4 and what is known of the devices behind it.
#include "verbs/rules.h"

namespace mtsim::verbs {
namespace {

std::unique_ptr<Rules> make() {
  auto rules = std::make_unique<Rules>(ib_rules());
  rules->name = "mlx4";
  Rules::Posting& posting = rules->posting;
  posting.send_below_rts = posting.receive_in_reset = posting.bind_length = 0;
  posting.receive_elements = ENOMEM;
  for (const char* field : {"posting.send_below_rts", "posting.receive_in_reset", "posting.queue_full", "posting.send_elements",
                            "posting.receive_elements", "posting.inline_bytes", "posting.inline_not_data", "posting.wrong_opcode",
                            "posting.no_opcode", "posting.atomic_length", "posting.atomic_alignment", "posting.bind_length"})
    rules->evidence.push_back({field, "rdma-core providers/mlx4, mlx4_post_send and mlx4_post_recv"});
  rules->evidence.push_back({"windows.bound_dereg", "Linux net/mlx4/mr.c: HW2SW_MPT fails, and its errno is passed on"});
  return rules;
}

const RuleSets::Entrant mlx4{"mlx4", "ConnectX-3: rdma-core providers/mlx4 and Linux 6.12", make};

}  // namespace
}  // namespace mtsim::verbs

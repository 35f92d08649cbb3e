// hns: HiSilicon Hip08 and later. What its devices answer on the wire is not known: as ib.
#include "verbs/rules.h"

namespace mtsim::verbs {
namespace {

std::unique_ptr<Rules> make() {
  auto rules = std::make_unique<Rules>(ib_rules());
  rules->name = "hns";
  Rules::Posting& posting = rules->posting;
  posting.send_below_rts = posting.send_elements = posting.inline_bytes = posting.inline_not_data = posting.wrong_opcode = EINVAL;
  for (const char* field : {"posting.send_below_rts", "posting.receive_in_reset", "posting.queue_full", "posting.send_elements",
                            "posting.inline_bytes", "posting.inline_not_data", "posting.wrong_opcode"})
    rules->evidence.push_back({field, "rdma-core providers/hns, hns_roce_u_v2_post_send and hns_roce_u_v2_post_recv"});
  return rules;
}

const RuleSets::Entrant hns{"hns", "HiSilicon Hip08 and later: rdma-core providers/hns", make};

}  // namespace
}  // namespace mtsim::verbs

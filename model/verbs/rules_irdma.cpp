// irdma: Intel E810 and X722, RoCE v2.
#include "verbs/rules.h"

namespace mtsim::verbs {
namespace {

const RuleSets::Entrant irdma{
    "irdma", "Intel E810: rdma-core providers/irdma and Linux 6.12", [] {
      auto rules = std::make_unique<Rules>(ib_rules());
      rules->name = "irdma";
      rules->posting.send_elements = EINVAL;
      rules->evidence = {{"posting.send_elements", "rdma-core providers/irdma, irdma_uk_post_send; SPDK issue 640"}};
      return rules;
    }};

}  // namespace
}  // namespace mtsim::verbs

// irdma: Intel E810, RoCE v2.
#include "verbs/rules.h"

namespace mtsim::verbs {
namespace {

std::unique_ptr<Rules> make() {
  auto rules = std::make_unique<Rules>(ib_rules());
  rules->name = "irdma";
  Rules::Posting& posting = rules->posting;
  posting.send_below_rts = posting.receive_in_reset = 0;
  posting.send_elements = posting.inline_bytes = EINVAL;
  posting.lacks = OpcodeSet(Opcode::cas, Opcode::faa);
  const std::string library = "rdma-core providers/irdma, irdma_upost_send and irdma_upost_recv";
  for (const char* field : {"posting.send_below_rts", "posting.receive_in_reset", "posting.queue_full", "posting.inline_bytes",
                            "posting.no_opcode", "posting.lacks"})
    rules->evidence.push_back({field, library});
  rules->evidence.push_back({"posting.send_elements", library + "; SPDK issue 640"});
  const std::string driver = "Linux hw/irdma/hw.c of 6.12, irdma_set_flush_fields";
  for (const char* field : {"requester.gather_key", "requester.gather_range", "requester.bind", "requester.answered"})
    rules->evidence.push_back({field, driver});
  return rules;
}

const RuleSets::Entrant irdma{"irdma", "Intel E810: rdma-core providers/irdma and Linux 6.12", make};

}  // namespace
}  // namespace mtsim::verbs

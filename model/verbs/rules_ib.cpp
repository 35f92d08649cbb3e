// The InfiniBand Architecture Specification, volume 1. Where it leaves the answer to the provider, as at posting, mlx5 is followed.
#include "verbs/rules.h"

namespace mtsim::verbs {

Rules ib_rules() {
  Rules rules;
  rules.name = "ib";
  const auto on = [&](Check check) -> Refusal& { return rules.responder.refusals[unsigned(check)]; };
  // 9.7.4.1: what comes of each check, and 10.10.2 and 11.6.3 for who is told.
  on(Check::opcode_sequence) = {Nak::invalid_request, Status::SUCCESS, Event::QP_REQ_ERR};
  on(Check::opcode) = on(Check::qp_access) = on(Check::no_read_atomic) = on(Check::length) = on(Check::opcode_sequence);
  on(Check::payload) = on(Check::alignment) = on(Check::opcode_sequence);
  on(Check::no_receive) = {Nak::receiver_not_ready, Status::SUCCESS, Event::none};
  on(Check::receive_malformed) = {Nak::remote_operational, Status::LOC_QP_OP_ERR, Event::none};
  on(Check::key) = {Nak::remote_access, Status::LOC_ACCESS_ERR, Event::QP_ACCESS_ERR};
  on(Check::receive_too_short) = {Nak::invalid_request, Status::LOC_LEN_ERR, Event::none};
  on(Check::receive_key) = {Nak::remote_operational, Status::LOC_PROT_ERR, Event::none};
  on(Check::dma) = {Nak::remote_operational, Status::SUCCESS, Event::QP_FATAL};
  on(Check::invalidation) = {Nak::none, Status::REM_INV_REQ_ERR, Event::none};
  on(Check::cq_overflow) = {Nak::none, Status::SUCCESS, Event::CQ_ERR};
  return rules;
}

std::shared_ptr<const Rules> the_ib_rules() { return std::make_shared<const Rules>(ib_rules()); }

namespace {

const RuleSets::Entrant ib{"ib", "the InfiniBand Architecture Specification", [] { return std::make_unique<Rules>(ib_rules()); }};

}  // namespace
}  // namespace mtsim::verbs

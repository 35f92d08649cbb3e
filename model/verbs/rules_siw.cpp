// siw, iWARP in software, as measured on Linux 6.1. There are no NAKs: a TERMINATE message ends the connection, and what has left counts
// as done.
#include "verbs/rules.h"

namespace mtsim::verbs {
namespace {

std::unique_ptr<Rules> make() {
  auto rules = std::make_unique<Rules>(ib_rules());
  rules->name = "siw";
  Rules::Posting& posting = rules->posting;
  posting.send_below_rts = ENOTCONN;
  posting.receive_in_reset = 0;
  posting.send_elements = posting.inline_bytes = EINVAL;
  posting.lacks = OpcodeSet(Opcode::send_imm, Opcode::write_imm, Opcode::cas, Opcode::faa, Opcode::bind_mw, Opcode::local_inv);
  Rules::Requester& requester = rules->requester;
  requester.gather_key = requester.gather_range = Status::LOC_QP_OP_ERR;
  requester.done_when_sent = true;
  requester.answered = {Status::SUCCESS,      Status::WR_FLUSH_ERR, Status::WR_FLUSH_ERR,
                        Status::WR_FLUSH_ERR, Status::WR_FLUSH_ERR, Status::WR_FLUSH_ERR};
  rules->responder.read_needs_right = false;
  rules->responder.places_what_fits = false;
  rules->responder.refusals[unsigned(Check::receive_key)].receive = Status::GENERAL_ERR;
  rules->responder.refusals[unsigned(Check::receive_key)].event = Event::QP_ACCESS_ERR;
  rules->responder.refusals[unsigned(Check::receive_too_short)].event = Event::QP_FATAL;
  rules->responder.refusals[unsigned(Check::no_receive)].nak = Nak::remote_operational;
  rules->windows.there_are = false;
  const std::string measured = "measured on siw of Linux 6.1";
  for (const char* field :
       {"posting.inline_bytes", "posting.no_opcode", "requester.gather_key", "requester.gather_range", "requester.scatter",
        "requester.done_when_sent", "requester.answered", "responder.no_receive", "responder.key", "responder.receive_too_short",
        "responder.receive_key", "responder.read_needs_right", "responder.places_what_fits", "windows.there_are"})
    rules->evidence.push_back({field, measured});
  for (const char* field :
       {"posting.receive_in_reset", "posting.queue_full", "posting.send_elements", "posting.receive_elements", "posting.lacks"})
    rules->evidence.push_back({field, "measured on siw of Linux 6.1; rdma-core providers/siw, siw_post_send and siw_post_recv"});
  rules->evidence.push_back({"posting.send_below_rts", "measured on siw of Linux 6.1; Linux sw/siw/siw_verbs.c, siw_post_send"});
  return rules;
}

const RuleSets::Entrant siw{"siw", "iWARP in software, of Linux 6.1", make};

}  // namespace
}  // namespace mtsim::verbs

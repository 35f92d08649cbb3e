// siw, iWARP in software, as measured on Linux 6.1. There are no NAKs: a TERMINATE message ends the connection, and what has left counts
// as done.
#include "verbs/rules.h"

namespace mtsim::verbs {
namespace {

std::unique_ptr<Rules> make() {
  auto rules = std::make_unique<Rules>(ib_rules());
  rules->name = "siw";
  Rules::Posting& posting = rules->posting;
  posting.send_below_rts = posting.send_elements = posting.inline_bytes = EINVAL;
  posting.lacks = OpcodeSet(Opcode::send_imm, Opcode::write_imm, Opcode::cas, Opcode::faa, Opcode::bind_mw);
  Rules::Requester& requester = rules->requester;
  requester.gather_key = requester.gather_range = Status::LOC_QP_OP_ERR;
  requester.done_when_sent = true;
  requester.answered = {Status::SUCCESS,      Status::WR_FLUSH_ERR, Status::WR_FLUSH_ERR,
                        Status::WR_FLUSH_ERR, Status::WR_FLUSH_ERR, Status::WR_FLUSH_ERR};
  rules->responder.read_needs_right = false;
  rules->responder.places_what_fits = false;
  rules->responder.refusals[unsigned(Check::receive_key)].receive = Status::GENERAL_ERR;
  rules->responder.refusals[unsigned(Check::receive_key)].event = Event::QP_ACCESS_ERR;
  rules->responder.refusals[unsigned(Check::no_receive)].nak = Nak::remote_operational;
  rules->windows.there_are = false;
  const std::string measured = "measured on siw of Linux 6.1";
  for (const char* field : {"posting.send_below_rts", "posting.inline_bytes", "posting.lacks", "requester.gather_key",
                            "requester.gather_range", "requester.done_when_sent", "requester.answered", "responder.read_needs_right",
                            "responder.places_what_fits", "responder.receive_key", "responder.no_receive", "windows.there_are"})
    rules->evidence.push_back({field, measured});
  return rules;
}

const RuleSets::Entrant siw{"siw", "iWARP in software, of Linux 6.1", make};

}  // namespace
}  // namespace mtsim::verbs

// rxe, RoCE in software, as measured on Linux 6.1 and 6.12 with rdma-core 44.
#include "verbs/rules.h"

namespace mtsim::verbs {
namespace {

Rules rxe() {
  Rules rules = ib_rules();
  Rules::Posting& posting = rules.posting;
  posting.send_below_rts = posting.send_elements = posting.inline_bytes = EINVAL;
  // The kernel's own posts are looked at more closely; a program's go to the library, which looks at no opcode and no sum.
  posting.atomic_length = posting.atomic_alignment = EINVAL;
  posting.bind_length = 0;
  posting.bind_elements = EINVAL;
  posting.room_last = posting.power_of_two_less_one = posting.inline_shares_elements = true;
  Rules::Requester& requester = rules.requester;
  requester.longest = 1ull << 31;
  requester.bad_response = Status::FATAL_ERR;
  requester.datagram_too_long = Status::SUCCESS;
  requester.stops_send_queue = false;
  requester.retry_7_is_forever = true;
  auto& refusals = rules.responder.refusals;
  refusals[unsigned(Check::receive_too_short)] = {Nak::remote_operational, Status::LOC_QP_OP_ERR, Event::none};
  refusals[unsigned(Check::receive_key)] = {Nak::remote_operational, Status::LOC_QP_OP_ERR, Event::none};
  refusals[unsigned(Check::key)].receive = Status::REM_ACCESS_ERR;
  rules.responder.raises_events = rules.responder.flushes_late_receives = false;
  rules.responder.judges_by_qp = rules.responder.waits_for_end = rules.responder.uses_up_shared = true;
  Rules::Windows& windows = rules.windows;
  windows.kinds_apart = windows.type_1_pd = windows.zero_inside = windows.invalidator = false;
  windows.bounds = false;
  windows.bound_dereg = EINVAL;
  const std::string source = "rdma-core providers/rxe, post_one_send and validate_send_wr";
  for (const char* field :
       {"posting.receive_in_reset", "posting.send_elements", "posting.inline_not_data", "posting.wrong_opcode", "posting.atomic_length",
        "posting.length_sum", "posting.bind_length", "posting.bind_elements", "posting.room_last"})
    rules.evidence.push_back({field, source});
  for (const char* field : {"posting.power_of_two_less_one", "posting.inline_shares_elements"})
    rules.evidence.push_back({field, "Linux sw/rxe: rxe_queue_init, rxe_qp_init_req; measured on Linux 6.12: 31 for 16"});
  const std::string kernel = "Linux sw/rxe of 6.12: rxe_comp.c, rxe_req.c";
  for (const char* field : {"requester.longest", "requester.bad_response", "requester.datagram_too_long", "requester.stops_send_queue",
                            "requester.retry_7_is_forever"})
    rules.evidence.push_back({field, kernel});
  const std::string measured = "measured on rxe of Linux 6.1 and 6.12";
  for (const char* field : {"posting.send_below_rts", "posting.queue_full", "posting.inline_bytes", "posting.atomic_alignment",
                            "requester.scatter", "requester.answered", "responder.qp_access", "responder.no_receive", "responder.key",
                            "responder.receive_too_short", "responder.receive_key", "responder.read_needs_right", "responder.raises_events",
                            "responder.places_what_fits", "windows.there_are", "windows.bounds", "windows.bound_dereg"})
    rules.evidence.push_back({field, measured});
  const std::string both = ", measured on rxe of Linux 6.1 and 6.12";
  for (const char* field : {"responder.waits_for_end", "responder.uses_up_shared"})
    rules.evidence.push_back({field, "Linux 6.1 rxe_responder()" + both});
  rules.evidence.push_back({"responder.judges_by_qp", "Linux 6.1 send_data_in()" + both});
  rules.evidence.push_back({"windows.kinds_apart", "Linux 6.1 rxe_bind_mw()" + both});
  rules.evidence.push_back({"windows.invalidator", "Linux 6.1 rxe_check_invalidate_mw()" + both});
  for (const char* field : {"windows.type_1_pd", "windows.zero_inside"})
    rules.evidence.push_back({field, "Linux 6.1 rxe_check_bind_mw(), measured on rxe of Linux 6.1"});
  rules.evidence.push_back({"responder.flushes_late_receives", "rdma-core providers/rxe, rxe_post_recv, measured on rxe of Linux 6.1"});
  return rules;
}

const RuleSets::Entrant rxe_6_1{
    "rxe-6.1", "RoCE in software, of Linux 6.1", [] {
      auto rules = std::make_unique<Rules>(rxe());
      rules->name = "rxe-6.1";
      rules->requester.gather_key = Status::LOC_QP_OP_ERR;
      rules->posting.keeps_refused = rules->requester.remembers_read = true;
      rules->windows.region_pd = false;
      const std::string measured = "measured on rxe of Linux 6.1";
      rules->evidence.push_back(
          {"posting.keeps_refused", "rdma-core providers/rxe, rxe_post_send; Linux 6.1 rxe_post_send(), " + measured});
      rules->evidence.push_back({"requester.remembers_read", "Linux 6.1 rxe_qp_reset(), check_ack(), " + measured});
      rules->evidence.push_back({"windows.region_pd", "Linux 6.1 rxe_check_bind_mw(), " + measured});
      for (const char* field :
           {"requester.unfit", "requester.gather_key", "requester.gather_range", "requester.bind", "requester.flushes_receives"})
        rules->evidence.push_back({field, measured});
      return rules;
    }};

/// The failing request itself comes back flushed: its cause is lost.
const RuleSets::Entrant rxe_6_12{
    "rxe-6.12", "RoCE in software, of Linux 6.12", [] {
      auto rules = std::make_unique<Rules>(rxe());
      rules->name = "rxe-6.12";
      Rules::Requester& requester = rules->requester;
      requester.gather_key = requester.gather_range = requester.unfit = requester.bind = requester.invalidate = Status::WR_FLUSH_ERR;
      for (const char* field : {"requester.gather_key", "requester.gather_range", "requester.unfit", "requester.bind",
                                "requester.flushes_receives", "windows.region_pd"})
        rules->evidence.push_back({field, "measured on rxe of Linux 6.12"});
      rules->evidence.push_back(
          {"requester.invalidate", "Linux sw/rxe/rxe_req.c of 6.12: the same way out as a bind's, which was measured"});
      return rules;
    }};

}  // namespace
}  // namespace mtsim::verbs

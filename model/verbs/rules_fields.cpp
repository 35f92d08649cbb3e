#include "verbs/rules_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace mtsim::verbs {
namespace {

/// As Rules::Evidence names them: responder.key.
constexpr std::array<std::string_view, check_count> check_names{
    "none", "opcode_sequence", "opcode",    "qp_access",         "no_read_atomic", "no_receive", "receive_malformed", "length",
    "key",  "payload",         "alignment", "receive_too_short", "receive_key",    "dma",        "invalidation",      "cq_overflow"};
constexpr std::array<std::string_view, 6> nak_names{
    "-", "sequence", "receiver not ready", "invalid request", "remote access", "remote operational"};

std::string text(int error) { return error == 0 ? "-" : std::string(errno_name(error)); }
std::string text(Status status) { return std::string(name(status)); }
std::string text(bool yes) { return yes ? "yes" : "no"; }
std::string text(std::uint64_t bytes) { return std::to_string(bytes); }
std::string text(OpcodeSet set) {
  std::string out;
  for (unsigned code = 0; code < opcode_count; ++code)
    if (set.has(Opcode(code))) out += fmt::format("{}{}", out.empty() ? "" : " ", name(Opcode(code)));
  return out.empty() ? "-" : out;
}
std::string text(const Refusal& refusal) {
  const auto receive = refusal.receive == Status::SUCCESS ? std::string_view("-") : name(refusal.receive);
  const auto event = refusal.event == Event::none ? std::string_view("-") : name(refusal.event);
  return fmt::format("{} / {} / {}", nak_names[unsigned(refusal.nak)], receive, event);
}
std::string text(const std::array<Status, 6>& answered) {
  std::string out;
  for (unsigned nak = 1; nak < answered.size(); ++nak) out += fmt::format("{}{}", nak == 1 ? "" : " ", name(answered[nak]));
  return out;
}

const RuleField* find(const std::vector<RuleField>& in, const std::string& name) {
  const auto found = std::find_if(in.begin(), in.end(), [&](const RuleField& field) { return field.name == name; });
  return found == in.end() ? nullptr : &*found;
}

}  // namespace

std::string check_field(Check check) { return fmt::format("responder.{}", check_names[unsigned(check)]); }

std::vector<RuleField> fields(const Rules& rules) {
  std::vector<RuleField> out;
  const auto add = [&](std::string name, const auto& value) { out.push_back({std::move(name), text(value)}); };
  // Bindings: a new member that is left out does not compile.
  const auto& [send_below_rts, receive_in_reset, queue_full, send_elements, receive_elements, inline_bytes, inline_not_data, wrong_opcode,
               no_opcode, atomic_length, atomic_alignment, length_sum, bind_length, bind_form, bind_pd, bind_elements, lacks, room_last,
               power_of_two_less_one, keeps_refused, inline_shares_elements] = rules.posting;
  add("posting.send_below_rts", send_below_rts);
  add("posting.receive_in_reset", receive_in_reset);
  add("posting.queue_full", queue_full);
  add("posting.send_elements", send_elements);
  add("posting.receive_elements", receive_elements);
  add("posting.inline_bytes", inline_bytes);
  add("posting.inline_not_data", inline_not_data);
  add("posting.wrong_opcode", wrong_opcode);
  add("posting.no_opcode", no_opcode);
  add("posting.atomic_length", atomic_length);
  add("posting.atomic_alignment", atomic_alignment);
  add("posting.length_sum", length_sum);
  add("posting.bind_length", bind_length);
  add("posting.bind_form", bind_form);
  add("posting.bind_pd", bind_pd);
  add("posting.bind_elements", bind_elements);
  add("posting.lacks", lacks);
  add("posting.room_last", room_last);
  add("posting.power_of_two_less_one", power_of_two_less_one);
  add("posting.keeps_refused", keeps_refused);
  add("posting.inline_shares_elements", inline_shares_elements);
  for (const QpType type : {QpType::rc, QpType::uc, QpType::ud}) add(fmt::format("opcodes.{}", name(type)), rules.opcodes[unsigned(type)]);
  const auto& [unfit, too_long, longest, longest_element, gather_key, gather_range, scatter, bind, invalidate, bad_response,
               datagram_too_long, stops_send_queue, flushes_receives, retry_7_is_forever, remembers_read, done_when_sent, answered] =
      rules.requester;
  add("requester.unfit", unfit);
  add("requester.too_long", too_long);
  add("requester.longest", longest);
  add("requester.longest_element", longest_element);
  add("requester.gather_key", gather_key);
  add("requester.gather_range", gather_range);
  add("requester.scatter", scatter);
  add("requester.bind", bind);
  add("requester.invalidate", invalidate);
  add("requester.bad_response", bad_response);
  add("requester.datagram_too_long", datagram_too_long);
  add("requester.stops_send_queue", stops_send_queue);
  add("requester.flushes_receives", flushes_receives);
  add("requester.retry_7_is_forever", retry_7_is_forever);
  add("requester.remembers_read", remembers_read);
  add("requester.done_when_sent", done_when_sent);
  add("requester.answered", answered);
  const auto& [refusals, read_needs_right, raises_events, flushes_late_receives, judges_by_qp, waits_for_end, uses_up_shared,
               places_what_fits] = rules.responder;
  for (unsigned check = 1; check < check_count; ++check) add(check_field(Check(check)), refusals[check]);
  add("responder.read_needs_right", read_needs_right);
  add("responder.raises_events", raises_events);
  add("responder.flushes_late_receives", flushes_late_receives);
  add("responder.judges_by_qp", judges_by_qp);
  add("responder.waits_for_end", waits_for_end);
  add("responder.uses_up_shared", uses_up_shared);
  add("responder.places_what_fits", places_what_fits);
  const auto& [there_are, kinds_apart, region_pd, type_1_pd, zero_inside, invalidator, bounds, bound_dereg] = rules.windows;
  add("windows.there_are", there_are);
  add("windows.kinds_apart", kinds_apart);
  add("windows.region_pd", region_pd);
  add("windows.type_1_pd", type_1_pd);
  add("windows.zero_inside", zero_inside);
  add("windows.invalidator", invalidator);
  add("windows.bounds", bounds);
  add("windows.bound_dereg", bound_dereg);
  return out;
}

std::string describe_rules() {
  std::string out;
  for (const auto& [name, entry] : RuleSets::entries()) {
    const auto rules = entry.make();
    out += fmt::format("{}{}: {}\n", out.empty() ? "" : "\n", name, entry.meaning);
    const std::vector<RuleField> all = fields(*rules);
    std::vector<Rules::Evidence> shown;
    if (name == "ib")
      for (const RuleField& field : all) shown.push_back({field.name, ""});
    for (const Rules::Evidence& evidence : rules->evidence) {
      const auto of_field = [&](const Rules::Evidence& e) { return e.field == evidence.field; };
      const auto known = std::find_if(shown.begin(), shown.end(), of_field);
      if (known == shown.end()) shown.push_back(evidence);
      else known->source = evidence.source;
    }
    for (const Rules::Evidence& evidence : shown) {
      const RuleField* field = find(all, evidence.field);
      if (field == nullptr) continue;
      const std::string line = fmt::format("  {:<29}  {:<44}  {}", field->name, field->value, evidence.source);
      out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
  }
  return out;
}

}  // namespace mtsim::verbs

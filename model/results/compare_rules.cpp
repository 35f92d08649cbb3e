#include "results/compare_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "verbs/rules_fields.h"

namespace mtsim::results {
namespace {

using verbs::Rules;
using verbs::Status;

/// What a request ends with by each rule that gives it a status.
struct Answer {
  std::string field;
  Status status;
};

std::vector<Answer> requests(const Rules& rules) {
  const Rules::Requester& r = rules.requester;
  std::vector<Answer> out{{"requester.unfit", r.unfit},           {"requester.too_long", r.too_long},
                          {"requester.gather_key", r.gather_key}, {"requester.gather_range", r.gather_range},
                          {"requester.scatter", r.scatter},       {"requester.bind", r.bind},
                          {"requester.invalidate", r.invalidate}, {"requester.bad_response", r.bad_response}};
  // What the peer's refusal makes of it.
  for (unsigned check = 1; check < verbs::check_count; ++check)
    out.push_back({verbs::check_field(verbs::Check(check)), rules.answered_status(rules.responder.refusals[check].nak)});
  return out;
}

/// The same of receives. A refusal without a status for the receive leaves it to be flushed.
std::vector<Answer> receives(const Rules& rules) {
  std::vector<Answer> out;
  for (unsigned check = 1; check < verbs::check_count; ++check) {
    const Status status = rules.responder.refusals[check].receive;
    out.push_back({verbs::check_field(verbs::Check(check)), status == Status::SUCCESS ? Status::WR_FLUSH_ERR : status});
  }
  return out;
}

std::string joined(const std::vector<std::string>& fields) { return fmt::format("{}", fmt::join(fields, ", ")); }

}  // namespace

Origin origin_of(const Report& report) {
  Origin out;
  const auto config = nlohmann::json::parse(report.config, nullptr, false);
  if (!config.is_object()) return out;
  const auto replay = config.find("replay");
  // A simulation has a section of that name too, with other settings.
  for (const auto& from : {config, replay == config.end() || !replay->is_object() ? nlohmann::json::object() : *replay})
    if (const auto rules = from.find("rules"); rules != from.end() && rules->is_string() && !rules->get_ref<const std::string&>().empty())
      out.rules = rules->get<std::string>();
  if (replay != config.end() && replay->is_object())
    if (const auto repeat = replay->find("repeat"); repeat != replay->end() && repeat->is_number_unsigned())
      out.runs = std::max<std::uint64_t>(1, repeat->get<std::uint64_t>());
  return out;
}

std::string licence(const OperationDifference& difference, const Rules& a, const Rules& b) {
  if (a.name == b.name) return {};
  const auto& [host, wr, in_a, in_b, unused] = difference;
  const bool receive = (in_a ? in_a : in_b)->opcode == verbs::Opcode::recv;
  if (!in_a || !in_b) {
    const bool flushed = receive && (in_a ? in_a : in_b)->status == Status::WR_FLUSH_ERR;
    const bool set_a = a.responder.flushes_late_receives, set_b = b.responder.flushes_late_receives;
    if (!flushed || set_a == set_b || set_a != in_a.has_value()) return {};
    return fmt::format("{} flushes no receives that are posted in ERR where {} does (responder.flushes_late_receives)",
                       set_a ? b.name : a.name, set_a ? a.name : b.name);
  }
  if (in_a->status == in_b->status) return {};
  const std::vector<Answer> by_a = receive ? receives(a) : requests(a), by_b = receive ? receives(b) : requests(b);
  std::vector<std::string> fields;
  for (std::size_t i = 0; i < by_a.size(); ++i)
    if (by_a[i].status == in_a->status && by_b[i].status == in_b->status) fields.push_back(by_a[i].field);
  if (fields.empty()) return {};
  return fmt::format("{} answers {} where {} answers {} ({})", b.name, verbs::name(in_b->status), a.name, verbs::name(in_a->status),
                     joined(fields));
}

}  // namespace mtsim::results

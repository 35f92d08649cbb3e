#include "system/collect_refusals.h"

#include <fmt/format.h>

#include <algorithm>

namespace mtsim::system {
namespace {

std::string rights(verbs::Access access) { return access == verbs::Access::none ? "no further right" : verbs::words(access); }

std::string what_it_gives(const verbs::Grant& grant) {
  if (verbs::is_window(grant) && grant.length.raw == 0)
    return fmt::format("the key's memory window, of PD {}, is {}", grant.pd, grant.valid ? "bound to nothing" : "not bound");
  return fmt::format("the key's memory {} is {:#x}+{}, {}, PD {}", verbs::is_window(grant) ? "window" : "region", grant.start.raw,
                     grant.length.raw, grant.valid ? rights(grant.access) : std::string("not valid"), grant.pd);
}

std::string detail_of(const verbs::Decision& d) {
  if (d.bind != verbs::BindCheck::none || d.invalidate != verbs::InvalidateCheck::none) return fmt::format("key {:#010x}", d.wish.key.raw);
  if (d.verdict == verbs::Verdict::granted && !d.no_translation) return {};
  std::string out = fmt::format("key {:#010x}, {:#x}+{}, {}, PD {}", d.wish.key.raw, d.wish.address.raw, d.wish.length.raw,
                                rights(d.wish.access), d.wish.pd);
  if (d.grant) out += "; " + what_it_gives(*d.grant);
  return out;
}

results::Refusal in_words(const std::string& host, const OperationLog::Refused& refused) {
  const verbs::Decision& d = refused.decision;
  const std::string operation(verbs::name(d.opcode));
  return {refused.at,        host,        refused.qpn, d.wr == 0 ? operation + " of a peer" : fmt::format("{} wr={}", operation, d.wr),
          verbs::explain(d), detail_of(d)};
}

}  // namespace

void collect_refusals(const std::vector<std::unique_ptr<Host>>& hosts, results::Report& report) {
  for (const auto& host : hosts) {
    report.refusals_total += host->operations.refusals_total();
    for (const OperationLog::Refused& refused : host->operations.refusals()) report.refusals.push_back(in_words(host->title, refused));
  }
  std::stable_sort(report.refusals.begin(), report.refusals.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
  if (report.refusals.size() > OperationLog::refusals_kept) report.refusals.resize(OperationLog::refusals_kept);
}

}  // namespace mtsim::system

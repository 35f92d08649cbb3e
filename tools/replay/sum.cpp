#include "sum.h"

#include <algorithm>

#include "program/actors.h"

namespace mtsim::replay {

void add(results::Report& sum, const results::Report& more, How how) {
  for (const results::OperationStats& op : more.operations) {
    auto at = std::find_if(sum.operations.begin(), sum.operations.end(), [&](const auto& o) { return o.opcode >= op.opcode; });
    if (at == sum.operations.end() || at->opcode != op.opcode) {
      sum.operations.insert(at, op);
      continue;
    }
    at->posted += op.posted;
    at->completed += op.completed;
    at->bytes += op.bytes;
    at->latency.merge(op.latency);
  }
  const auto add_calls = [](results::CallStats& to, const results::CallStats& from) {
    to.calls += from.calls;
    for (const auto& [error, count] : from.failed) to.failed[error] += count;
    to.bytes += from.bytes;
    to.pages += from.pages;
    to.latency.merge(from.latency);
  };
  const auto add_named = [&](std::vector<results::NamedCalls>& to, const std::vector<results::NamedCalls>& from) {
    for (const results::NamedCalls& calls : from) {
      const auto at = std::find_if(to.begin(), to.end(), [&](const auto& c) { return c.name == calls.name; });
      if (at == to.end()) to.push_back(calls);
      else add_calls(*at, calls);
    }
  };
  for (unsigned status = 0; status < verbs::status_count; ++status) sum.completions[status] += more.completions[status];
  add_calls(sum.registration.reg_mr, more.registration.reg_mr);
  add_calls(sum.registration.dereg_mr, more.registration.dereg_mr);
  add_named(sum.registration.others, more.registration.others);
  add_named(sum.calls, more.calls);
  if (how == How::after) {
    sum.registration.pinned_now = more.registration.pinned_now;
    sum.registration.pinned_most = std::max(sum.registration.pinned_most, more.registration.pinned_most);
    sum.simulated += more.simulated;
    sum.window_end += more.window_end;
  } else {
    sum.registration.pinned_now += more.registration.pinned_now;
    sum.registration.pinned_most += more.registration.pinned_most;
    sum.simulated = std::max(sum.simulated, more.simulated);
    sum.window_end = std::max(sum.window_end, more.window_end);
  }
  sum.unexpected_total += more.unexpected_total;
  for (const results::Unexpected& u : more.unexpected)
    if (sum.unexpected.size() < program::Tally::kept) sum.unexpected.push_back(u);
  for (const auto& [call, by_errno] : more.failed_calls)
    for (const auto& [error, count] : by_errno) sum.failed_calls[call][error] += count;
  for (const results::Counter& counter : more.counters) {
    const auto at = std::find_if(sum.counters.begin(), sum.counters.end(), [&](const auto& c) { return c.name == counter.name; });
    if (at == sum.counters.end()) sum.counters.push_back(counter);
    else at->value += counter.value;
  }
  sum.partial = sum.partial || more.partial;
}

}  // namespace mtsim::replay

#include "results/text.h"

#include <fmt/format.h>

#include <array>

#include "results/derived.h"
#include "results/human.h"
#include "results/text_parts.h"

namespace mtsim::results {
namespace {

// From the roomiest to one that keeps the fullest report to 50 lines: CPUs and PCIe give way first, then what waits and caches have, and
// the steps of latencies.
constexpr std::array<Room, 10> rooms{{{4, 9, 0, 5, 4, 4, 4, 4, 4, 5},
                                      {4, 9, 0, 5, 4, 4, 3, 2, 3, 5},
                                      {4, 9, 0.005, 5, 3, 4, 3, 1, 2, 3},
                                      {4, 9, 0.005, 4, 3, 4, 2, 1, 1, 3},
                                      {4, 8, 0.005, 4, 3, 3, 2, 1, 1, 3},
                                      {4, 7, 0.005, 4, 3, 3, 2, 1, 1, 3},
                                      {4, 7, 0.005, 3, 2, 2, 2, 1, 1, 3},
                                      {4, 6, 0.005, 3, 2, 2, 1, 1, 1, 2},
                                      {3, 5, 0.005, 2, 2, 2, 1, 1, 1, 1},
                                      {3, 4, 0.005, 1, 1, 1, 1, 1, 1, 1}}};
constexpr std::ptrdiff_t page_lines = 50;

void opening(Page& page, const Report& r) {
  std::string title = fmt::format("mtsim {}: {}, seed {}", r.version, r.trace.empty() ? "no trace" : r.trace, r.seed);
  if (!r.measured_on.empty()) title = fmt::format("mtsim {}: {}, measured", r.version, r.trace);
  if (r.partial) title += ", INCOMPLETE: what was measured before it stopped";
  page.heading(title);
  const std::string how = r.measured_on.empty() ? fmt::format("({} simulated)", human::time(r.simulated)) : "on " + r.measured_on;
  page.line(fmt::format("{} operations at {}, {} of payload at {}, in {} {}", human::count(completed_operations(r)),
                        human::rate(operations_per_s(r)), human::bytes(payload(r)), human::bit_rate(goodput_bits_per_s(r)),
                        human::time(r.window()), how));
  std::string answers;
  for (unsigned s = 0; s < r.completions.size(); ++s)
    if (r.completions[s] > 0)
      answers += fmt::format("{}{} {}", answers.empty() ? "" : ", ", human::count(r.completions[s]), verbs::name(verbs::Status(s)));
  if (!answers.empty()) page.line("Completions: " + answers);
  std::string failures;
  for (const auto& [call, by_errno] : r.failed_calls)
    for (const auto& [error, n] : by_errno)
      failures += fmt::format("{}{} {} {}", failures.empty() ? "" : ", ", human::count(n), call, verbs::errno_name(error));
  if (!failures.empty()) page.line("Calls that failed: " + failures);
}

/// The ends that the levels of a host came to, as far as the series still has them.
void levels(Page& page, const MemorySeries& s) {
  if (s.at.empty()) return;
  const auto least = std::min_element(s.free.begin(), s.free.end());
  page.line(fmt::format("  {:<9}least free {} at {}; at most {} pinned, {} in swap", "", human::bytes(*least),
                        human::time(s.at[static_cast<std::size_t>(least - s.free.begin())]),
                        human::bytes(*std::max_element(s.pinned.begin(), s.pinned.end())),
                        human::bytes(*std::max_element(s.swapped.begin(), s.swapped.end()))));
}

void memory(Page& page, const std::vector<MemoryStats>& hosts, const std::vector<MemorySeries>& series) {
  if (hosts.empty()) return;
  page.gap();
  page.heading("Memory");
  for (const MemoryStats& m : hosts) {
    page.line(fmt::format("  {:<9}{} pages swapped out, {} read back, {} of files dropped, {} moved", m.host, human::count(m.swapped_out),
                          human::count(m.swapped_in), human::count(m.dropped), human::count(m.migrated)));
    for (const MemorySeries& s : series)
      if (s.host == m.host) levels(page, s);
    if (m.left_pins != 0)
      page.line(fmt::format("  {:<9}hazard: {} pinned pages that the program no longer sees, written to after a fork", "",
                            human::count(m.left_pins)));
    if (m.killed == 0) continue;
    page.line(fmt::format("  {:<9}out of memory at {}: the kernel killed {}; {} of {} were in frames,", "", human::time(m.killed_at),
                          human::killed(m.killed_process, m.processes), human::bytes(m.resident), human::bytes(m.size)));
    page.line(fmt::format("  {:<9}{} pinned by {} regions, {} lay in swap", "", human::bytes(m.pinned), human::count(m.pinned_regions),
                          human::bytes(m.in_swap)));
  }
}

/// `3 requests and 1 receive ended with SUCCESS and stale data; its NIC moved stale data 4 times`
std::string counted(const HazardStats::Counts& c, const char* kind) {
  const auto number = [](std::uint64_t n, const char* what) { return fmt::format("{} {}{}", human::count(n), what, n == 1 ? "" : "s"); };
  std::string out;
  if (c.requests != 0) out += number(c.requests, "request");
  if (c.receives != 0) out += (out.empty() ? "" : " and ") + number(c.receives, "receive");
  if (!out.empty()) out += fmt::format(" ended with SUCCESS and {} data", kind);
  if (c.transfers != 0) out += fmt::format("{}its NIC moved {} data {}", out.empty() ? "" : "; ", kind, number(c.transfers, "time"));
  return out;
}

std::string explained(const HazardEvent& e) {
  switch (e.why) {
    case HazardReason::unmapped:
      return fmt::format("the program has no memory at {:#x} any more", e.memory);
    case HazardReason::other_page:
      return e.writes ? fmt::format("the program has another page at {:#x} and does not see it", e.memory)
                      : fmt::format("the program has other data at {:#x}", e.memory);
    case HazardReason::other_key:
      return "the key has come to stand for another registration";
  }
  return {};
}

void hazards(Page& page, const Report& r, const Room& room) {
  if (r.hazards.empty()) return;
  page.gap();
  page.heading("Hazards");
  for (const HazardStats& h : r.hazards)
    for (const auto& [counts, kind] : {std::pair(h.stale, "stale"), std::pair(h.foreign, "foreign")}) {
      if (counts.any()) page.line(fmt::format("  {:<9}{}", h.host, counted(counts, kind)));
    }
  const std::size_t shown = std::min(room.unexpected, r.hazard_events.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const HazardEvent& e = r.hazard_events[i];
    page.line(fmt::format("  {:>10}  {}: {} {} address {:#x} of key {:#x}:", human::time(e.at), e.host, e.operation,
                          e.writes ? "wrote" : "read", e.address, e.key));
    page.line(fmt::format("  {:>10}  {}", "", explained(e)));
  }
}

void registration(Page& page, const RegistrationStats& r) {
  if (r.reg_mr.calls + r.dereg_mr.calls == 0) return;
  page.gap();
  page.heading("Registration");
  const auto call = [&](const char* name, const CallStats& c) {
    if (c.calls == 0) return;
    std::string failed;
    for (const auto& [error, n] : c.failed) failed += fmt::format(", {} {}", human::count(n), verbs::errno_name(error));
    page.line(fmt::format("  {:<8} {} calls{}; {}, {} pages; {} a call, p99 {}, {} in all", name, human::count(c.calls), failed,
                          human::bytes(c.bytes), human::count(c.pages.raw), human::time_ns(c.latency.latency().mean_ns()),
                          human::time(c.latency.latency().quantile(0.99)),
                          human::time_ns(static_cast<double>(c.latency.latency().sum().raw) / 1e3)));
  };
  call("reg_mr", r.reg_mr);
  for (const NamedCalls& other : r.others) call(other.name.c_str(), other);
  call("dereg_mr", r.dereg_mr);
  page.line(fmt::format("  pinned   {} now, {} at most", human::bytes(r.pinned_now), human::bytes(r.pinned_most)));
}

void calls(Page& page, const std::vector<NamedCalls>& all) {
  if (all.empty()) return;
  page.gap();
  page.heading("Other calls");
  for (const NamedCalls& c : all) {
    std::string failed;
    for (const auto& [error, n] : c.failed) failed += fmt::format(", {} {}", human::count(n), verbs::errno_name(error));
    page.line(fmt::format("  {:<12} {}{}; {} each, p99 {}", c.name, human::count(c.calls), failed,
                          human::time_ns(c.latency.latency().mean_ns()), human::time(c.latency.latency().quantile(0.99))));
  }
}

void phases(Page& page, const std::vector<PhaseStats>& all) {
  if (all.empty()) return;
  page.gap();
  page.heading("Phases");
  for (const PhaseStats& p : all) {
    const double each = p.times == 0 ? 0.0 : static_cast<double>(p.time.raw) / 1e3 / static_cast<double>(p.times);
    const std::string rate = p.bytes.raw == 0 ? "" : fmt::format("; {} at {}", human::bytes(p.bytes), human::byte_rate(bytes_per_s(p)));
    page.line(fmt::format("  {:<16}{} of {}{}", p.name, human::count(p.times), human::time_ns(each), rate));
  }
}

void unexpected(Page& page, const Report& r, const Room& room) {
  if (r.unexpected_total == 0) return;
  page.gap();
  page.alarm(fmt::format("{} answer{} not as the program expected:", human::count(r.unexpected_total), r.unexpected_total == 1 ? "" : "s"));
  const std::size_t shown = std::min(room.unexpected, r.unexpected.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Unexpected& u = r.unexpected[i];
    page.line(fmt::format("  line {}: {} {}: expected {}, got {}", u.line, u.actor, u.operation, u.expected, u.got));
  }
  if (r.unexpected_total > shown) page.line(fmt::format("  and {} more", human::count(r.unexpected_total - shown)));
}

void refusals(Page& page, const Report& r, const Room& room) {
  if (r.refusals_total == 0) return;
  page.gap();
  page.heading(fmt::format("Refused by NICs: {}", human::count(r.refusals_total)));
  const std::size_t shown = std::min(room.unexpected, r.refusals.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Refusal& u = r.refusals[i];
    page.paragraph(fmt::format("  {} QP {} at {}, {}: {}{}", u.host, u.qpn, human::time(u.at), u.operation, u.reason,
                               u.detail.empty() ? "" : " (" + u.detail + ")"));
  }
  if (r.refusals_total > shown) page.line(fmt::format("  and {} more", human::count(r.refusals_total - shown)));
}

std::string composed(const Report& r, TextOptions options, const Room& room) {
  Page page(options.colour);
  const auto operations = foremost(r.operations, room.opcodes, [](const OperationStats& o) { return o.completed; });
  opening(page, r);
  latency(page, r, operations);
  phases(page, r.phases);
  registration(page, r.registration);
  calls(page, r.calls);
  memory(page, r.memory, r.memory_series);
  hazards(page, r, room);
  charts(page, r, operations, room);
  waits(page, r, operations, room);
  if (const std::string limit = what_saturates(r); !limit.empty()) {
    page.gap();
    page.paragraph(limit);
  }
  page.gap();
  tables(page, r, room);
  refusals(page, r, room);
  unexpected(page, r, room);
  return page.text();
}

}  // namespace

std::string titled(const char* title, std::size_t all, std::size_t shown) {
  return all > shown ? fmt::format("{} ({} of {})", title, shown, all) : title;
}

std::string summary(const Report& r, TextOptions options) {
  std::string text;
  for (const Room& room : rooms) {
    text = composed(r, options, room);
    if (std::count(text.begin(), text.end(), '\n') <= page_lines) break;
  }
  return text;
}

}  // namespace mtsim::results

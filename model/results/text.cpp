#include "results/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "results/derived.h"
#include "results/human.h"
#include "results/page.h"

namespace mtsim::results {
namespace {

/// How many rows each part of the page may take.
struct Room {
  std::size_t opcodes, steps, rows, unexpected;
};
// From the roomiest to one that keeps the fullest report to 50 lines.
constexpr std::array<Room, 3> rooms{{{4, 9, 4, 5}, {4, 7, 3, 3}, {3, 5, 2, 1}}};
constexpr std::ptrdiff_t page_lines = 50;
constexpr std::size_t charts_shown = 4, name_width = 30, figure_width = 10;

template <class T>
using Shown = std::vector<const T*>;

/// The `most` items of highest `weight` in their own order; items that weigh nothing are left out.
template <class T, class F>
Shown<T> foremost(const std::vector<T>& all, std::size_t most, F weight) {
  Shown<T> out;
  for (const T& item : all)
    if (weight(item) > 0) out.push_back(&item);
  std::stable_sort(out.begin(), out.end(), [&](const T* a, const T* b) { return weight(*a) > weight(*b); });
  if (out.size() > most) out.resize(most);
  std::sort(out.begin(), out.end());
  return out;
}

std::string titled(const char* title, std::size_t all, std::size_t shown) {
  return all > shown ? fmt::format("{} ({} of {})", title, shown, all) : title;
}

double seconds(Time t) { return static_cast<double>(t.raw) / 1e12; }

void opening(Page& page, const Report& r) {
  std::string title = fmt::format("mtsim {}: {}, seed {}", r.version, r.trace.empty() ? "no trace" : r.trace, r.seed);
  if (r.partial) title += ", INCOMPLETE: what was measured before it stopped";
  page.heading(title);
  page.line(fmt::format("{} operations at {}, {} of payload at {}, in {} ({} simulated)", human::count(completed_operations(r)),
                        human::rate(operations_per_s(r)), human::bytes(payload(r)), human::bit_rate(goodput_bits_per_s(r)),
                        human::time(r.window()), human::time(r.simulated)));
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

void latency(Page& page, const Report& r, const Shown<OperationStats>& shown) {
  if (shown.empty()) return;
  page.gap();
  page.heading_row({"Latency", "completed", "min", "median", "p90", "p99", "p99.9", "max", "mean"}, 12, 11);
  for (const OperationStats* o : shown) {
    const Histogram& h = o->latency.latency();
    std::vector<std::string> cells{std::string(verbs::name(o->opcode)), human::count(o->completed), human::time(h.min())};
    for (const double q : {0.5, 0.9, 0.99, 0.999}) cells.push_back(human::time(h.quantile(q)));
    cells.push_back(human::time(h.max()));
    cells.push_back(human::time_ns(h.mean_ns()));
    page.row(cells, 12, 11);
  }
  if (r.operations.size() > shown.size()) page.line(fmt::format("and {} more opcodes", r.operations.size() - shown.size()));
}

/// The mean's breakdown as a chart 48 columns wide: step, time, share, bar.
std::vector<std::string> chart(const std::string& name, const LatencyTable& t, std::size_t steps_shown) {
  const double mean = t.latency().mean_ns();
  std::vector<std::string> out{fmt::format("Mean {}: {}", name, human::time_ns(mean))};
  const auto share_of = [&](double ns) { return mean > 0 ? ns / mean : 0.0; };
  const auto row = [&](const std::string& step, double ns) {
    out.push_back(fmt::format("  {:<16}{:>9}{:>5.0f} %  {}", human::cut(step, 16), human::time_ns(ns), share_of(ns) * 100,
                              human::bar(share_of(ns), 13)));
  };
  std::vector<std::size_t> steps(t.steps().size());
  std::iota(steps.begin(), steps.end(), std::size_t{0});
  std::erase_if(steps, [&](std::size_t i) { return t.total(i).raw == 0; });
  std::stable_sort(steps.begin(), steps.end(), [&](std::size_t a, std::size_t b) { return t.total(a) > t.total(b); });
  const std::size_t shown = steps.size() > steps_shown ? steps_shown - 1 : steps.size();
  double rest = 0;
  for (std::size_t i = shown; i < steps.size(); ++i) rest += t.mean_ns(steps[i]);
  const std::size_t left = steps.size() - shown;
  steps.resize(shown);
  std::sort(steps.begin(), steps.end());
  for (const std::size_t i : steps) row(t.steps()[i], t.mean_ns(i));
  if (left > 0) row(fmt::format("{} other steps", left), rest);
  return out;
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

void charts(Page& page, const Report& r, const Shown<OperationStats>& operations, const Room& room) {
  std::vector<std::vector<std::string>> all;
  const auto add = [&](const std::string& name, const LatencyTable& t) {
    if (all.size() < charts_shown && t.latency().count() > 0 && !t.steps().empty()) all.push_back(chart(name, t, room.steps));
  };
  for (std::size_t i = 0; i < std::min<std::size_t>(2, operations.size()); ++i)
    add(std::string(verbs::name(operations[i]->opcode)), operations[i]->latency);
  add("reg_mr", r.registration.reg_mr.latency);
  add("dereg_mr", r.registration.dereg_mr.latency);
  for (std::size_t i = 0; i < all.size(); i += 2) {
    page.gap();
    page.beside(all[i], i + 1 < all.size() ? all[i + 1] : std::vector<std::string>{});
  }
}

/// One table of the page: a heading, and a row for each of the busiest items.
template <class T, class Weight, class Cells>
void table(Page& page, const Room& room, const char* title, std::vector<std::string> columns, const std::vector<T>& all, Weight weight,
           Cells cells) {
  const auto used = foremost(all, all.size(), weight);
  if (used.empty()) return;
  const auto shown = foremost(all, room.rows, weight);
  columns.insert(columns.begin(), titled(title, used.size(), shown.size()));
  page.heading_row(columns, name_width, figure_width);
  for (const T* item : shown) page.row(cells(*item), name_width, figure_width);
}

void tables(Page& page, const Report& r, const Room& room) {
  const double window = seconds(r.window());
  const auto share = [&](double part, double whole) { return human::percent(whole > 0 ? part / whole : 0.0); };

  table(
      page, room, "Resources", {"in use", "requests", "mean wait", "longest", "most", "of"}, r.resources,
      [](const ResourceStats& s) { return static_cast<double>(s.busy.raw) / static_cast<double>(s.capacity); },
      [&](const ResourceStats& s) -> std::vector<std::string> {
        return {"  " + s.name,
                human::percent(utilisation(s, r.window())),
                human::count(s.requests),
                human::time_ns(mean_ns(s.waited, s.requests)),
                human::time(s.longest_wait),
                human::count(s.most_in_use),
                human::count(s.capacity)};
      });
  table(
      page, room, "Caches", {"look-ups", "hits", "cold", "capacity", "conflict", "evictions", "miss"}, r.caches,
      [](const CacheStats& c) { return c.lookups; },
      [&](const CacheStats& c) -> std::vector<std::string> {
        return {"  " + c.name,
                human::count(c.lookups),
                share(static_cast<double>(c.hits), static_cast<double>(c.lookups)),
                human::count(c.misses_cold),
                human::count(c.misses_capacity),
                human::count(c.misses_conflict),
                human::count(c.evictions),
                human::time_ns(mean_ns(c.miss_time, c.misses()))};
      });
  table(
      page, room, "CPU time", {"CPUs", "user", "syscall", "register", "interrupt", "polling", "idle"}, r.cpus,
      [](const CpuStats& c) { return (c.user + c.system_call + c.registering() + c.interrupt + c.polling).raw; },
      [&](const CpuStats& c) {
        std::vector<std::string> cells{"  " + c.host, human::count(c.cpus)};
        for (const Time t : {c.user, c.system_call, c.registering(), c.interrupt, c.polling, c.idle})
          cells.push_back(share(seconds(t), static_cast<double>(c.cpus) * window));
        return cells;
      });
  table(
      page, room, "PCIe", {"reads", "writes", "answers", "payload", "headers", "stalled", "busy"}, r.pcie,
      [](const PcieStats& p) { return p.reads + p.writes + p.completions; },
      [&](const PcieStats& p) -> std::vector<std::string> {
        return {"  " + p.name,
                human::count(p.reads),
                human::count(p.writes),
                human::count(p.completions),
                human::bytes(p.payload),
                human::bytes(p.header),
                human::time(p.tag_stall_time + p.credit_stall_time),
                share(seconds(p.busy), window)};
      });
}

/// What the bytes of each direction that is in use at all were for, as a share of its time: they add up to how busy it is.
void purposes(Page& page, const Report& r, const Room& room) {
  constexpr double told_from = 0.01;
  static const std::vector<std::string> names{"payload", "tables", "wqes", "cqes", "commands", "doorbells"};
  const double window = seconds(r.window());
  const auto bytes = [&](const PcieStats& p, const std::string& purpose) {
    const auto found =
        std::find_if(r.counters.begin(), r.counters.end(), [&](const Counter& c) { return c.name == p.name + "." + purpose; });
    return found == r.counters.end() ? 0.0 : static_cast<double>(found->value);
  };
  table(
      page, room, "PCIe by purpose", names, r.pcie,
      [&](const PcieStats& p) { return seconds(p.busy) >= told_from * window ? seconds(p.busy) : 0; },
      [&](const PcieStats& p) {
        std::vector<std::string> cells{"  " + p.name};
        const auto all = static_cast<double>((p.payload + p.header).raw);
        for (const std::string& name : names)
          cells.push_back(all <= 0 || window <= 0 ? "0.0 %" : human::percent(bytes(p, name) / all * seconds(p.busy) / window));
        return cells;
      });
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

std::string composed(const Report& r, TextOptions options, const Room& room) {
  Page page(options.colour);
  const auto operations = foremost(r.operations, room.opcodes, [](const OperationStats& o) { return o.completed; });
  opening(page, r);
  latency(page, r, operations);
  phases(page, r.phases);
  registration(page, r.registration);
  memory(page, r.memory, r.memory_series);
  charts(page, r, operations, room);
  if (const std::string limit = what_saturates(r); !limit.empty()) {
    page.gap();
    page.paragraph(limit);
  }
  page.gap();
  tables(page, r, room);
  purposes(page, r, room);
  unexpected(page, r, room);
  return page.text();
}

}  // namespace

std::string summary(const Report& r, TextOptions options) {
  std::string text;
  for (const Room& room : rooms) {
    text = composed(r, options, room);
    if (std::count(text.begin(), text.end(), '\n') <= page_lines) break;
  }
  return text;
}

}  // namespace mtsim::results

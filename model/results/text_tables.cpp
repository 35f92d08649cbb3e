#include <fmt/format.h>

#include <array>

#include "results/derived.h"
#include "results/human.h"
#include "results/text_parts.h"

namespace mtsim::results {
namespace {

constexpr std::size_t name_width = 30;

/// What is in use for less than a hundredth of its time is idle.
bool in_use(Time busy, Time whole) { return busy.raw > 0 && busy.raw >= whole.raw / 100; }

double seconds(Time t) { return static_cast<double>(t.raw) / 1e12; }

/// One table of the page: a heading, and a row for each of the `most` items of highest weight.
template <class T, class Weight, class Cells>
void table(Page& page, std::size_t most, const char* title, std::vector<std::string> columns, const std::vector<T>& all, Weight weight,
           Cells cells) {
  const auto used = foremost(all, all.size(), weight);
  if (used.empty()) return;
  const auto shown = foremost(all, most, weight);
  columns.insert(columns.begin(), titled(title, used.size(), shown.size()));
  // Names give way where there are many columns.
  const std::size_t first = std::min(name_width, Page::width - (columns.size() - 1) * figure_width);
  page.heading_row(columns, first, figure_width);
  for (const T* item : shown) page.row(cells(*item), first, figure_width);
}

/// How much a resource is in use and how many wait for it, on average: the first up to 1, the second too however many they are.
double strain(const ResourceStats& s, Time window) {
  if (window.raw == 0) return 0;
  const double waiting = static_cast<double>(s.waited.raw) / static_cast<double>(window.raw);
  return utilisation(s, window) + waiting / (1 + waiting);
}

/// What look-ups that missed had to fetch, line by line.
void chains(Page& page, const Report& r, const Room& room) {
  struct Row {
    std::string name;
    std::uint64_t all, most;
    const MissChains::Chain* chain;
  };
  std::vector<Row> rows;
  for (const MissChains& m : r.miss_chains)
    for (const MissChains::Chain& c : m.chains) rows.push_back({"  " + m.name + ": " + c.lines, m.lookups(), m.most, &c});
  table(
      page, room.chains, "Misses in a row", {"look-ups", "of all", "mean", "longest", "at once", "most"}, rows,
      [](const Row& row) { return row.chain->total.raw; },
      [&](const Row& row) -> std::vector<std::string> {
        const MissChains::Chain& c = *row.chain;
        return {row.name,
                human::count(c.lookups),
                human::percent(static_cast<double>(c.lookups) / static_cast<double>(row.all)),
                human::time_ns(mean_ns(c.total, c.lookups)),
                human::time(c.longest),
                fmt::format("{:.2f}", static_cast<double>(c.total.raw) / static_cast<double>(r.window().raw)),
                human::count(row.most)};
      });
}

/// Of each direction of PCIe that is in use: how busy it is, and what for, in shares of its time that add up to that. Purposes that take
/// next to nothing of all directions shown are left out.
void pcie(Page& page, const Report& r, const Room& room) {
  static constexpr std::array purposes{"payload", "tables", "wqes", "cqes", "commands", "doorbells"};
  constexpr double blank = 0.0005;
  const double window = seconds(r.window());
  const auto weight = [&](const PcieStats& p) { return in_use(p.busy, r.window()) ? p.busy.raw : 0; };
  const auto share = [&](const PcieStats& p, const char* purpose) {
    const std::string name = p.name + "." + purpose;
    const auto found = std::find_if(r.counters.begin(), r.counters.end(), [&](const Counter& c) { return c.name == name; });
    if (found == r.counters.end() || found->value == 0) return 0.0;
    return static_cast<double>(found->value) / static_cast<double>((p.payload + p.header).raw) * seconds(p.busy) / window;
  };
  const auto stalled = [](const PcieStats& p) { return p.tag_stall_time + p.credit_stall_time; };

  const Shown<PcieStats> shown = foremost(r.pcie, room.pcie, weight);
  const auto any = [&](auto is) { return std::any_of(shown.begin(), shown.end(), [&](const PcieStats* p) { return is(*p); }); };
  std::vector<const char*> told;
  for (const char* purpose : purposes)
    if (any([&](const PcieStats& p) { return share(p, purpose) >= blank; })) told.push_back(purpose);
  const bool stalls = any([&](const PcieStats& p) { return stalled(p) != Time(); });

  std::vector<std::string> columns{"busy"};
  columns.insert(columns.end(), told.begin(), told.end());
  if (stalls) columns.emplace_back("stalled");
  table(page, room.pcie, "PCIe", columns, r.pcie, weight, [&](const PcieStats& p) {
    std::vector<std::string> cells{"  " + p.name, human::percent(seconds(p.busy) / window)};
    for (const char* purpose : told) cells.push_back(share(p, purpose) >= blank ? human::percent(share(p, purpose)) : "-");
    if (stalls) cells.push_back(stalled(p) == Time() ? "-" : human::time(stalled(p)));
    return cells;
  });
}

}  // namespace

void tables(Page& page, const Report& r, const Room& room) {
  const double window = seconds(r.window());
  const auto share = [&](double part, double whole) { return human::percent(whole > 0 ? part / whole : 0.0); };

  table(
      page, room.resources, "Resources", {"in use", "requests", "mean wait", "longest", "most", "of"}, r.resources,
      [&](const ResourceStats& s) { return strain(s, r.window()); },
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
      page, room.caches, "Caches", {"look-ups", "hits", "cold", "capacity", "conflict", "evictions", "miss"}, r.caches,
      // Those that always hit come last.
      [](const CacheStats& c) { return static_cast<double>(c.misses()) + (c.lookups == 0 ? 0 : 0.5); },
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
  chains(page, r, room);
  table(
      page, room.cpus, "CPU time", {"CPUs", "user", "syscall", "register", "interrupt", "polling", "idle"}, r.cpus,
      [&](const CpuStats& c) {
        const Time active = c.user + c.system_call + c.registering() + c.interrupt + c.polling;
        return in_use(active, r.window() * c.cpus) ? active.raw : 0;
      },
      [&](const CpuStats& c) {
        std::vector<std::string> cells{"  " + c.host, human::count(c.cpus)};
        for (const Time t : {c.user, c.system_call, c.registering(), c.interrupt, c.polling, c.idle})
          cells.push_back(share(seconds(t), static_cast<double>(c.cpus) * window));
        return cells;
      });
  pcie(page, r, room);
}

}  // namespace mtsim::results

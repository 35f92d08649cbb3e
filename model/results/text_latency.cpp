#include <fmt/format.h>

#include <numeric>

#include "results/derived.h"
#include "results/human.h"
#include "results/text_parts.h"

namespace mtsim::results {
namespace {

constexpr std::size_t charts_shown = 4, wait_width = 50;
constexpr double wait_told_from = 0.0005;  ///< of the latency

/// The mean's breakdown as a chart 48 columns wide: step, time, share, bar.
std::vector<std::string> chart(const std::string& name, const LatencyTable& t, const Room& room) {
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
  // Where room is short those that are nothing beside the rest go together.
  const auto tells = [&](std::size_t i) { return share_of(t.mean_ns(i)) >= room.step_share; };
  std::size_t shown = static_cast<std::size_t>(std::count_if(steps.begin(), steps.end(), tells));
  if (shown + 1 >= steps.size()) shown = steps.size();
  if (shown + (shown < steps.size()) > room.steps) shown = room.steps - 1;
  double rest = 0;
  for (std::size_t i = shown; i < steps.size(); ++i) rest += t.mean_ns(steps[i]);
  const std::size_t left = steps.size() - shown;
  steps.resize(shown);
  std::sort(steps.begin(), steps.end());
  for (const std::size_t i : steps) row(t.steps()[i], t.mean_ns(i));
  if (left > 0) row(fmt::format("{} other steps", left), rest);
  return out;
}

}  // namespace

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

void charts(Page& page, const Report& r, const Shown<OperationStats>& operations, const Room& room) {
  std::vector<std::vector<std::string>> all;
  const auto add = [&](const std::string& name, const LatencyTable& t) {
    if (all.size() < charts_shown && t.latency().count() > 0 && !t.steps().empty()) all.push_back(chart(name, t, room));
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

/// Service and the longest of the waits of all opcodes.
void waits(Page& page, const Report& r, const Shown<OperationStats>& operations, const Room& room) {
  struct Row {
    const OperationStats* of;
    const WaitStats* wait;
  };
  std::vector<Row> rows;
  TotalTime latency, served;
  std::uint64_t opcodes = 0, n = 0;
  for (const OperationStats& o : r.operations) {
    // Of a message its sender tells, unless nobody does.
    if (o.opcode == verbs::Opcode::recv && operations.size() > 1) continue;
    opcodes += o.latency.latency().count() != 0;
    n += o.latency.latency().count();
    latency += o.latency.latency().sum();
    served += service(o);
    for (const WaitStats& w : o.waits) rows.push_back({&o, &w});
  }
  if (rows.empty()) return;
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.wait->total > b.wait->total; });
  const auto tells = [&](const Row& row) {
    return static_cast<double>(row.wait->total.raw) >= wait_told_from * static_cast<double>(latency.raw);
  };
  const auto told = static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), tells));
  const std::size_t shown = std::min(std::max<std::size_t>(told, 1), room.waits);
  const auto share = [&](TotalTime part) { return human::percent(static_cast<double>(part.raw) / static_cast<double>(latency.raw)); };
  page.gap();
  page.heading_row({titled("What operations waited for", rows.size(), shown), "share", "mean", "p99", "longest", "waited"}, wait_width,
                   figure_width);
  page.row({"  nothing: they were served", share(served), human::time_ns(mean_ns(served, n))}, wait_width, figure_width);
  for (std::size_t i = 0; i < shown; ++i) {
    const OperationStats& o = *rows[i].of;
    const WaitStats& w = *rows[i].wait;
    const std::string of = opcodes > 1 ? std::string(verbs::name(o.opcode)) + ", " : "";
    const std::uint64_t all = o.latency.latency().count();
    page.row({"  " + of + w.name, share(w.total), human::time_ns(mean_ns(w.total, all)), human::time(w.p99), human::time(w.longest),
              human::percent(static_cast<double>(w.operations) / static_cast<double>(all))},
             wait_width, figure_width);
  }
}

}  // namespace mtsim::results

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "results/derived.h"
#include "results/human.h"
#include "results/page.h"
#include "results/text.h"

namespace mtsim::results {
namespace {

constexpr std::size_t block = 4, label_width = 28, column_width = 18;

/// A variant with what several rows need.
struct Column {
  const Variant* variant;
  LatencyTable operations;
  double per;  ///< what registration is divided by: operations, or calls where there are none
};

using Cell = std::function<std::string(const Column&)>;

std::vector<Column> columns_of(std::span<const Variant> variants) {
  std::vector<Column> out;
  for (const Variant& v : variants) {
    const std::uint64_t operations = completed_operations(v.report);
    out.push_back({&v, all_latencies(v.report), static_cast<double>(operations > 0 ? operations : v.report.registration.reg_mr.calls)});
  }
  return out;
}

class Table {
 public:
  Table(Page& page, std::span<const Column> columns) : page_(page), columns_(columns) {}

  void names(const std::string& title) {
    std::vector<std::string> cells{title};
    for (const Column& c : columns_) cells.push_back(human::cut(c.variant->name, column_width - 1));
    page_.heading_row(cells, label_width, column_width);
  }
  /// Left out when no column has anything to say.
  void row(const std::string& label, const Cell& cell) {
    std::vector<std::string> cells{label};
    for (const Column& c : columns_) cells.push_back(cell(c));
    const bool empty = std::all_of(cells.begin() + 1, cells.end(), [](const std::string& text) { return text == "-"; });
    if (!empty) page_.row(cells, label_width, column_width);
  }
  /// The steps of the tables that `of` finds, in the order in which the columns name them, each divided by what `per` says.
  void steps(const std::function<const LatencyTable&(const Column&)>& of, const std::function<double(const Column&)>& per) {
    std::vector<std::string> all;
    for (const Column& c : columns_)
      for (const std::string& step : of(c).steps())
        if (std::find(all.begin(), all.end(), step) == all.end()) all.push_back(step);
    for (const std::string& step : all)
      row("    " + step, [&](const Column& c) -> std::string {
        const LatencyTable& t = of(c);
        const auto at = static_cast<std::size_t>(std::find(t.steps().begin(), t.steps().end(), step) - t.steps().begin());
        if (at == t.steps().size() || t.total(at).raw == 0 || per(c) == 0) return "-";
        return human::time_ns(static_cast<double>(t.total(at).raw) / 1e3 / per(c));
      });
  }

 private:
  Page& page_;
  std::span<const Column> columns_;
};

std::string time_or_dash(double ns) { return ns == 0 ? "-" : human::time_ns(ns); }

void throughput(Table& table) {
  table.row("operations", [](const Column& c) { return human::count(completed_operations(c.variant->report)); });
  table.row("payload", [](const Column& c) { return human::bytes(payload(c.variant->report)); });
  table.row("simulated time", [](const Column& c) { return human::time(c.variant->report.simulated); });
  table.row("goodput", [](const Column& c) { return human::bit_rate(goodput_bits_per_s(c.variant->report)); });
  table.row("operation rate", [](const Column& c) { return human::rate(operations_per_s(c.variant->report)); });
  table.row("latency, median", [](const Column& c) { return human::time(c.operations.latency().quantile(0.5)); });
  table.row("latency, p99", [](const Column& c) { return human::time(c.operations.latency().quantile(0.99)); });
  table.row("unexpected answers", [](const Column& c) -> std::string {
    return c.variant->report.unexpected_total == 0 ? "-" : human::count(c.variant->report.unexpected_total);
  });
  table.row("CPU share of registration", [](const Column& c) -> std::string {
    const double share = registration_cpu_share(c.variant->report);
    return share == 0 ? "-" : human::percent(share);
  });
  table.row("memory pinned, most", [](const Column& c) { return human::bytes(c.variant->report.registration.pinned_most); });
  table.row("busiest resource", [](const Column& c) -> std::string {
    const ResourceStats* r = busiest(c.variant->report);
    return r == nullptr ? "-" : human::percent(utilisation(*r, c.variant->report.window()));
  });
}

/// Each phase of any column: the mean time of one, and what was registered by its time.
void phases(Table& table, std::span<const Column> columns) {
  std::vector<std::string> names;
  for (const Column& c : columns)
    for (const PhaseStats& p : c.variant->report.phases)
      if (std::find(names.begin(), names.end(), p.name) == names.end()) names.push_back(p.name);
  for (const std::string& name : names) {
    const auto of = [&name](const Column& c, auto figure) -> std::string {
      for (const PhaseStats& p : c.variant->report.phases)
        if (p.name == name && p.times != 0) return figure(p);
      return "-";
    };
    table.row(name + ", time", [&](const Column& c) {
      return of(c, [](const PhaseStats& p) { return time_or_dash(static_cast<double>(p.time.raw) / 1e3 / static_cast<double>(p.times)); });
    });
    table.row(name + ", rate", [&](const Column& c) {
      return of(c, [](const PhaseStats& p) { return p.bytes.raw == 0 ? "-" : human::byte_rate(bytes_per_s(p)); });
    });
  }
}

void times(Table& table) {
  const auto transfer = [](const Column& c) -> const LatencyTable& { return c.operations; };
  table.row("  transfer", [](const Column& c) { return time_or_dash(c.operations.latency().mean_ns()); });
  table.steps(transfer, [](const Column& c) { return static_cast<double>(c.operations.latency().count()); });
  const auto calls = [&](const char* label, CallStats RegistrationStats::*which) {
    const auto of = [which](const Column& c) -> const LatencyTable& { return (c.variant->report.registration.*which).latency; };
    const auto per = [](const Column& c) { return c.per; };
    table.row(label, [&](const Column& c) {
      return c.per == 0 ? "-" : time_or_dash(static_cast<double>(of(c).latency().sum().raw) / 1e3 / c.per);
    });
    table.steps(of, per);
  };
  calls("  reg_mr", &RegistrationStats::reg_mr);
  calls("  dereg_mr", &RegistrationStats::dereg_mr);
}

void closing(Page& page, std::span<const Variant> variants) {
  page.gap();
  for (const Variant& v : variants) {
    std::string sentence = what_saturates(v.report);
    if (v.report.partial) sentence += " Interrupted: what was measured so far.";
    if (!sentence.empty()) page.paragraph(fmt::format("{}: {}", v.name, sentence));
  }
  for (const Variant& v : variants) {
    if (v.report.unexpected.empty()) continue;
    const Unexpected& u = v.report.unexpected.front();
    page.alarm(fmt::format("{}: first unexpected answer: line {}: {} {}: expected {}, got {}", v.name, u.line, u.actor, u.operation,
                           u.expected, u.got));
  }
}

}  // namespace

std::string side_by_side(std::span<const Variant> variants, TextOptions options) {
  Page page(options.colour);
  if (variants.empty()) return {};
  const Report& first = variants.front().report;
  page.heading(fmt::format("mtsim {}: {}, {} variants", first.version, first.trace.empty() ? "no trace" : first.trace, variants.size()));
  for (std::size_t at = 0; at < variants.size(); at += block) {
    const std::vector<Column> columns = columns_of(variants.subspan(at, std::min(block, variants.size() - at)));
    Table table(page, columns);
    page.gap();
    table.names("Variant");
    throughput(table);
    phases(table, columns);
    table.names("Mean time an operation");
    times(table);
  }
  closing(page, variants);
  return page.text();
}

}  // namespace mtsim::results

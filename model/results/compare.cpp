#include "results/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "results/compare_rules.h"

namespace mtsim::results {
namespace {

using statistics::Sample;

/// Figures by name, in the order in which A has them; then those that B has alone.
class Counts {
 public:
  /// Each side's figures are taken so many times.
  Counts(std::uint64_t times_a, std::uint64_t times_b) : times_a_(times_a), times_b_(times_b) {}
  void add(const std::string& name, std::uint64_t CountRow::*side, std::uint64_t n) {
    const auto [at, fresh] = at_.try_emplace(name, rows_.size());
    if (fresh) rows_.push_back({name, 0, 0});
    rows_[at->second].*side += n * (side == &CountRow::a ? times_a_ : times_b_);
  }
  /// `operations`: also those by opcode.
  void add(const Report& r, std::uint64_t CountRow::*side, bool operations) {
    for (unsigned s = 0; s < r.completions.size(); ++s)
      if (r.completions[s] != 0) add(fmt::format("completions {}", verbs::name(verbs::Status(s))), side, r.completions[s]);
    if (operations)
      for (const OperationStats& o : r.operations) {
        const std::string name(verbs::name(o.opcode));
        add(name + " posted", side, o.posted);
        add(name + " completed", side, o.completed);
        add(name + " bytes", side, o.bytes.raw);
      }
    for (const auto& [call, by_errno] : r.failed_calls)
      for (const auto& [error, n] : by_errno) add(fmt::format("failed {} {}", call, verbs::errno_name(error)), side, n);
    calls("reg_mr", r.registration.reg_mr, side);
    calls("dereg_mr", r.registration.dereg_mr, side);
    for (const NamedCalls& other : r.registration.others) calls(other.name, other, side);
    add("unexpected answers", side, r.unexpected_total);
  }
  std::vector<CountRow> rows() && { return std::move(rows_); }

 private:
  void calls(const std::string& name, const CallStats& c, std::uint64_t CountRow::*side) {
    // There is a work request of the same name.
    add(name + " calls", side, c.calls);
    add(name + " calls, bytes", side, c.bytes.raw);
  }
  std::uint64_t times_a_, times_b_;
  std::vector<CountRow> rows_;
  std::map<std::string, std::size_t> at_;
};

TimesComparison::Figures figures(const Sample& s) { return {s.min(), s.quantile(0.5), s.quantile(0.9), s.quantile(0.99), s.mean()}; }

TimesComparison times_of(std::string name, const Sample& a, const Sample& b, std::span<const statistics::Pair> pairs = {}) {
  TimesComparison out;
  out.name = std::move(name);
  out.n_a = a.size();
  out.n_b = b.size();
  out.a = figures(a);
  out.b = figures(b);
  out.ks = statistics::ks_distance(a, b);
  out.critical = out.comparable() ? statistics::ks_critical(a.size(), b.size()) : 0;
  out.explanation = statistics::explain(a, b, pairs);
  return out;
}

/// From the histograms of both reports.
void add_histograms(std::vector<TimesComparison>& out, const std::string& name, const LatencyTable* a, const LatencyTable* b) {
  const auto sample = [](const LatencyTable* t) { return t == nullptr ? Sample() : Sample::of(t->latency()); };
  const Sample in_a = sample(a), in_b = sample(b);
  if (in_a.size() + in_b.size() == 0) return;
  out.push_back(times_of(name, in_a, in_b));
  out.back().approximate = true;
}

void add_latencies(std::vector<TimesComparison>& out, const Report& a, const Report& b) {
  const auto of = [](const Report& r, verbs::Opcode opcode) -> const LatencyTable* {
    const auto found = std::find_if(r.operations.begin(), r.operations.end(), [&](const auto& o) { return o.opcode == opcode; });
    return found == r.operations.end() ? nullptr : &found->latency;
  };
  for (unsigned code = 0; code < verbs::opcode_count; ++code)
    add_histograms(out, std::string(verbs::name(verbs::Opcode(code))), of(a, verbs::Opcode(code)), of(b, verbs::Opcode(code)));
}

void add_registration(std::vector<TimesComparison>& out, const RegistrationStats& a, const RegistrationStats& b) {
  add_histograms(out, "reg_mr call", &a.reg_mr.latency, &b.reg_mr.latency);
  add_histograms(out, "dereg_mr call", &a.dereg_mr.latency, &b.dereg_mr.latency);
  std::set<std::string> names;
  for (const RegistrationStats* r : {&a, &b})
    for (const NamedCalls& other : r->others) names.insert(other.name);
  const auto of = [](const RegistrationStats& r, const std::string& name) -> const LatencyTable* {
    for (const NamedCalls& other : r.others)
      if (other.name == name) return &other.latency;
    return nullptr;
  };
  for (const std::string& name : names) add_histograms(out, name + " call", of(a, name), of(b, name));
}

void add_operations(std::vector<TimesComparison>& out, const OperationsComparison& operations) {
  for (const OperationTimes& t : operations.times) {
    std::string name(verbs::name(t.opcode));
    if (t.size_class) name += t.least == t.most ? fmt::format(" {} B", t.least) : fmt::format(" {}-{} B", t.least, t.most);
    out.push_back(times_of(std::move(name), t.a, t.b, t.pairs));
    out.back().part = t.size_class.has_value();
  }
}

/// Whether a table of operations is that of the run whose report stands beside it.
void check_completed(const char* side, std::uint64_t runs, const Report& r, const std::array<std::uint64_t, verbs::opcode_count>& rows,
                     std::vector<std::string>& notes) {
  std::array<std::uint64_t, verbs::opcode_count> counted{};
  for (const OperationStats& o : r.operations) counted[unsigned(o.opcode)] += o.completed;
  for (unsigned code = 0; code < verbs::opcode_count; ++code)
    if (rows[code] * runs != counted[code])
      notes.push_back(fmt::format(
          "{}'s operations file has {} completed {} in the measured window, its report counts {}{}: they are not of "
          "one run, or a part of the file is missing.",
          side, rows[code], verbs::name(verbs::Opcode(code)), counted[code], runs == 1 ? "" : fmt::format(" in {} runs", runs)));
}

void add_licences(Comparison& c) {
  if (!c.operations || !c.a.rules || !c.b.rules) return;
  const auto a = verbs::RuleSets::make(*c.a.rules), b = verbs::RuleSets::make(*c.b.rules);
  if (!a || !b) return;
  for (auto* list : {&c.operations->differing, &c.operations->only_a, &c.operations->only_b})
    for (OperationDifference& d : *list) d.licence = licence(d, *a, *b);
}

std::vector<std::string> notes_of(const Comparison& c, const Report& a, const Report& b) {
  std::vector<std::string> out;
  if (a.trace != b.trace || a.trace_hash != b.trace_hash)
    out.push_back(fmt::format("The programs differ ({}{} and {}{}): what follows compares results of two programs.", a.trace,
                              a.trace_hash.empty() ? "" : ", hash " + a.trace_hash, b.trace,
                              b.trace_hash.empty() ? "" : ", hash " + b.trace_hash));
  for (const auto& [side, claimed, report] : {std::tuple("A", c.a.rules, &a), std::tuple("B", c.b.rules, &b)})
    if (const auto own = origin_of(*report).rules; own && claimed != own)
      out.push_back(fmt::format("{} was run under the rules {}, although it is said to follow {}.", side, *own, *claimed));
  for (const auto& [side, report] : {std::pair("A", &a), std::pair("B", &b)})
    if (report->partial) out.push_back(fmt::format("{} is incomplete: what was measured before it stopped.", side));
  if (c.a.runs != c.b.runs)
    out.push_back(fmt::format("A's report is of {} run{}, B's of {}: counts are taken for as many of each.", c.a.runs,
                              c.a.runs == 1 ? "" : "s", c.b.runs));
  if (c.a.rules && c.b.rules && *c.a.rules != *c.b.rules)
    out.push_back(
        fmt::format("A was run under the rules {}, B claims {}: differences that come of that tell nothing of either. Where one "
                    "of them does, the rule is named; it remains a difference. To do without: --set rules={} for A.",
                    *c.a.rules, *c.b.rules, *c.b.rules));
  if (c.operations) {
    check_completed("A", c.a.runs, a, c.operations->completed_a, out);
    check_completed("B", c.b.runs, b, c.operations->completed_b, out);
  }
  return out;
}

}  // namespace

std::size_t Comparison::counts_differing() const {
  return static_cast<std::size_t>(std::count_if(counts.begin(), counts.end(), [](const CountRow& row) { return row.differs(); }));
}

bool Comparison::differs() const { return counts_differing() != 0 || (operations && operations->differs()); }

Comparison compare(const ComparedSide& a, const Report& report_a, const ComparedSide& b, const Report& report_b,
                   std::optional<OperationsComparison> operations) {
  Comparison out{a, b, {}, {}, std::move(operations), {}};
  for (const auto& [side, report] : {std::pair(&out.a, &report_a), std::pair(&out.b, &report_b)}) {
    side->trace = report->trace;
    side->version = report->version;
    side->measured_on = report->measured_on;
    const Origin origin = origin_of(*report);
    side->runs = origin.runs;
    if (!side->rules) side->rules = origin.rules;
  }
  const bool same_runs = out.a.runs == out.b.runs;
  Counts counts(same_runs ? 1 : out.b.runs, same_runs ? 1 : out.a.runs);
  // Of a device the operations are those that are known to have ended, and they are compared one by one.
  const bool measured = !report_a.measured_on.empty() || !report_b.measured_on.empty();
  const bool by_opcode = !(measured && out.operations);
  counts.add(report_a, &CountRow::a, by_opcode);
  counts.add(report_b, &CountRow::b, by_opcode);
  out.counts = std::move(counts).rows();
  if (out.operations) add_operations(out.times, *out.operations);
  else add_latencies(out.times, report_a, report_b);
  add_registration(out.times, report_a.registration, report_b.registration);
  add_licences(out);
  out.notes = notes_of(out, report_a, report_b);
  return out;
}

}  // namespace mtsim::results

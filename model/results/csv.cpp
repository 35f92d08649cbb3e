#include "results/csv.h"

#include <fmt/format.h>

#include <string_view>

#include "results/fields.h"
#include "results/quoted.h"

namespace mtsim::results {
namespace {

std::string name_of(const std::string& name) { return name; }
std::string name_of(verbs::Opcode opcode) { return std::string(verbs::name(opcode)); }

class CsvWriter {
 public:
  CsvWriter(std::string& out, std::string variant) : out_(out), variant_(std::move(variant)) {}

  template <class F>
  void group(const std::string& name, F fill) {
    const std::size_t before = path_.size();
    // The first level is the section; names below it are joined to the metric's.
    const bool is_section = section_.empty();
    if (is_section) section_ = name;
    else path_ += name + ".";
    fill(*this);
    path_.resize(before);
    if (is_section) section_.clear();
  }
  void count(const std::string& name, std::uint64_t n) { row(name, "count", fmt::format("{}", n)); }
  void bytes(const std::string& name, Bytes n) { row(name, "bytes", fmt::format("{}", n.raw)); }
  void time(const std::string& name, Time t) { derived(name, "ns", static_cast<double>(t.raw) / 1e3); }
  void total(const std::string& name, TotalTime t) { row(name, "ps", fmt::format("{}", t.raw)); }
  /// A table of single figures has no place for a series: the JSON has it.
  template <class Value>
  void series(const std::string&, const std::vector<Value>&) {}
  static bool has(const std::string&, bool) { return false; }
  void text(const std::string& name, const std::string& t) {
    if (!t.empty() && name != "yaml") row(name, "text", t);
  }
  void flag(const std::string& name, bool v) { row(name, "bool", v ? "true" : "false"); }
  template <class Enum, std::size_t N>
  void word(const std::string& name, Enum value, const std::array<const char*, N>& words) {
    row(name, "text", words[static_cast<std::size_t>(value)]);
  }
  void derived(const std::string& name, const std::string& unit, double v) { row(name, unit, fmt::format("{}", v)); }
  void derived(const std::string& name, const std::string& unit, std::uint64_t n) { row(name, unit, fmt::format("{}", n)); }
  void derived(const std::string& name, const std::string& unit, const std::string& t) { row(name, unit, t); }

  void errnos(const std::string& name, const std::map<int, std::uint64_t>& failed) {
    group(name, [&](CsvWriter& in) {
      for (const auto& [error, n] : failed) in.count(std::string(verbs::errno_name(error)), n);
    });
  }
  void errnos(const std::string& name, const std::map<std::string, std::map<int, std::uint64_t>>& failed) {
    group(name, [&](CsvWriter& in) {
      for (const auto& [call, by_errno] : failed) in.errnos(call, by_errno);
    });
  }
  void statuses(const std::string& name, const std::array<std::uint64_t, verbs::status_count>& counts) {
    group(name, [&](CsvWriter& in) {
      for (unsigned s = 0; s < counts.size(); ++s)
        if (counts[s] > 0) in.count(std::string(verbs::name(verbs::Status(s))), counts[s]);
    });
  }
  void steps(const std::string& name, const std::vector<StepTime>& steps) {
    group(name, [&](CsvWriter& in) {
      for (const StepTime& s : steps) in.time(s.step, s.time);
    });
  }
  void table(const std::string& name, const LatencyTable& t) {
    const Histogram& h = t.latency();
    if (h.count() == 0) return;
    group(name, [&](CsvWriter& in) {
      in.count("count", h.count());
      in.time("min", h.min());
      in.time("median", h.quantile(0.5));
      in.time("p90", h.quantile(0.9));
      in.time("p99", h.quantile(0.99));
      in.time("p99_9", h.quantile(0.999));
      in.time("max", h.max());
      in.derived("mean", "ns", h.mean_ns());
      for (std::size_t i = 0; i < t.steps().size(); ++i) in.derived("mean." + t.steps()[i], "ns", t.mean_ns(i));
    });
  }
  template <class Item, class Key, class F>
  void items(const std::string& name, const std::vector<Item>& all, Key Item::*key_member, F fill) {
    group(name, [&](CsvWriter& in) {
      for (const Item& item : all) in.group(name_of(item.*key_member), [&](CsvWriter& each) { fill(each, item); });
    });
  }
  template <class Item, class F>
  void list(const std::string& name, const std::vector<Item>& all, F fill) {
    for (std::size_t i = 0; i < all.size(); ++i) group(fmt::format("{}.{}", name, i), [&](CsvWriter& each) { fill(each, all[i]); });
  }

 private:
  void row(const std::string& name, const std::string& unit, const std::string& value) {
    std::string metric = path_ + (name.empty() ? unit : name);
    out_ += fmt::format("{},{},{},{},{}\n", quoted(variant_), section_.empty() ? "run" : section_, quoted(metric), unit, quoted(value));
  }
  std::string& out_;
  std::string variant_, section_, path_;
};

}  // namespace

std::string to_csv(std::span<const Variant> variants) {
  std::string out = "variant,section,metric,unit,value\n";
  for (const Variant& v : variants) {
    CsvWriter writer(out, v.name);
    report_fields(writer, v.report);
  }
  return out;
}

std::string occupancy_csv(std::span<const Variant> variants) {
  std::string out = "variant,from_ns,to_ns,unit,capacity,in_use\n";
  for (const Variant& v : variants) {
    const Occupancy& o = v.report.occupancy;
    for (const Occupancy::Unit& unit : o.units)
      for (std::size_t i = 0; i < o.at.size(); ++i)
        out += fmt::format("{},{},{},{},{},{}\n", quoted(v.name), static_cast<double>((i == 0 ? o.from : o.at[i - 1]).raw) / 1e3,
                           static_cast<double>(o.at[i].raw) / 1e3, quoted(unit.name), unit.capacity, unit.in_use[i]);
  }
  return out;
}

}  // namespace mtsim::results

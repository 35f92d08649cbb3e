#include "validation/print.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace mtsim::validation {
namespace {

/// Four significant digits, as measurements deserve; counts in full.
std::string number(double v) {
  const double size = std::abs(v);
  if (v == std::floor(v) && size < 1e15) return fmt::format("{:.0f}", v);
  if (size >= 1000) return fmt::format("{:.0f}", v);
  if (size >= 100) return fmt::format("{:.1f}", v);
  if (size >= 10) return fmt::format("{:.2f}", v);
  return size >= 1 ? fmt::format("{:.3f}", v) : fmt::format("{:.4f}", v);
}

/// As it was written.
std::string as_published(double v) { return v == std::floor(v) && std::abs(v) < 1e15 ? fmt::format("{:.0f}", v) : fmt::format("{:g}", v); }

std::string published(const Finding& f) {
  if (f.low && f.high && *f.low != *f.high) return as_published(*f.low) + ".." + as_published(*f.high);
  return as_published(f.low ? *f.low : f.high.value_or(0));
}

std::string simulated(const Finding& f) { return f.kind == Finding::Kind::step ? fmt::format("{:.1f}", f.simulated) : number(f.simulated); }

std::string error(const Finding& f) {
  if (!f.error) return "";
  // Minus zero would be a sign without a meaning.
  return std::abs(*f.error) < 0.0005 ? "0.0 %" : fmt::format("{:+.1f} %", *f.error * 100);
}

std::string verdict(const SeriesFindings& s, const Finding& f, bool colour) {
  if (!s.judged) return "not judged";
  const char* word = f.within ? "ok" : "MISS";
  if (!colour) return word;
  return fmt::format("\x1b[{}m{}\x1b[0m", f.within ? 32 : 31, word);
}

const char* kind_name(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::point:
      return "point";
    case Finding::Kind::line:
      return "line";
    case Finding::Kind::order:
      return "order";
    case Finding::Kind::step:
      return "step";
  }
  return "";
}

}  // namespace

std::string table(const RowFindings& row, bool colour) {
  constexpr const char* form = "  {:<28} {:>14} {:>12} {:>10} {:>10}  {}\n";
  std::string out = fmt::format("{}: {}\n  {}\n", row.row.name, row.row.title, row.row.source);
  out += fmt::format(form, "", "published", "simulated", "error", "tolerance", "");
  for (const SeriesFindings& s : row.series) {
    out += fmt::format("  {}, {}{}\n", s.name, s.unit, s.fitted ? " (fitted)" : "");
    for (const Finding& f : s.findings) {
      const std::string name = "  " + f.name + (f.unit == s.unit || f.unit.empty() ? "" : ", " + f.unit);
      out += fmt::format(form, name, published(f), simulated(f), error(f), f.tolerance, verdict(s, f, colour));
    }
  }
  out += fmt::format("  {} of {} within tolerance\n", row.judged() - row.misses(), row.judged());
  if (!row.row.notes.empty()) out += fmt::format("  {}\n", row.row.notes);
  return out;
}

std::string closing(const std::vector<RowFindings>& rows) {
  std::size_t judged = 0, misses = 0;
  std::string with_misses;
  for (const RowFindings& r : rows) {
    judged += r.judged();
    misses += r.misses();
    if (r.misses() != 0) with_misses += fmt::format("{}{} ({})", with_misses.empty() ? "" : ", ", r.row.name, r.misses());
  }
  return fmt::format("{} row{}: {} of {} figures within tolerance{}\n", rows.size(), rows.size() == 1 ? "" : "s", judged - misses, judged,
                     with_misses.empty() ? "" : "; misses in " + with_misses);
}

nlohmann::ordered_json to_json(const RowFindings& row) {
  using Json = nlohmann::ordered_json;
  Json out;
  out["row"] = row.row.name;
  out["group"] = row.row.group;
  out["title"] = row.row.title;
  out["source"] = row.row.source;
  if (!row.row.notes.empty()) out["notes"] = row.row.notes;
  out["judged"] = row.judged();
  out["misses"] = row.misses();
  Json& all = out["series"] = Json::array();
  for (const SeriesFindings& s : row.series) {
    Json series;
    series["name"] = s.name;
    series["unit"] = s.unit;
    series["fitted"] = s.fitted;
    series["judged"] = s.judged;
    Json points = Json::array(), checks = Json::array();
    for (const Finding& f : s.findings) {
      Json one;
      const bool point = f.kind == Finding::Kind::point;
      if (!point) one["kind"] = kind_name(f.kind);
      one[point ? "variant" : "name"] = f.name;
      if (f.unit != s.unit && !f.unit.empty()) one["unit"] = f.unit;
      if (f.low && f.high && *f.low == *f.high) {
        one["published"] = *f.low;
      } else {
        if (f.low) one["published_low"] = *f.low;
        if (f.high) one["published_high"] = *f.high;
      }
      one["simulated"] = f.simulated;
      if (f.error) one["error_share"] = *f.error;
      one["tolerance"] = f.tolerance;
      one["within"] = f.within;
      (point ? points : checks).push_back(std::move(one));
    }
    series["points"] = std::move(points);
    if (!checks.empty()) series["checks"] = std::move(checks);
    all.push_back(std::move(series));
  }
  return out;
}

}  // namespace mtsim::validation

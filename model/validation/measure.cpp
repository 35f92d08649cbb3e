#include "validation/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "validation/unit.h"

namespace mtsim::validation {
namespace {

using Json = nlohmann::json;

std::string spelled_out(const std::string& path) {
  const auto& names = named_measures();
  const auto found = std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.first == path; });
  return found == names.end() ? path : found->second;
}

[[noreturn]] void fail(const Measure::Term& term, const std::string& what) {
  throw UserError(fmt::format("{}: measure: {}", term.place.text(), what));
}

std::string names_in(const Json& object, std::size_t most) {
  std::vector<std::string> keys;
  for (const auto& item : object.items()) keys.push_back(item.key());
  const std::size_t shown = std::min(most, keys.size());
  const std::string more = shown < keys.size() ? fmt::format(" and {} more", keys.size() - shown) : "";
  return fmt::format("{}{}", fmt::join(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(shown), ", "), more);
}

/// Keys may hold dots themselves (`caches.server.nic.mtt_cache.hits`): at each level the longest key that fits is taken.
const Json& follow(const Json& report, const Measure::Term& term, const std::string& path, std::string& last_key) {
  const Json* at = &report;
  for (std::size_t from = 0; from < path.size();) {
    std::size_t end = std::string::npos;
    std::string key = path.substr(from);
    while (!at->is_object() || !at->contains(key)) {
      end = key.rfind('.');
      if (end == std::string::npos) {
        const std::string word = path.substr(from, path.find('.', from) - from);
        const std::string where = from == 0 ? "in a report" : fmt::format("at '{}'", path.substr(0, from - 1));
        if (!at->is_object()) fail(term, fmt::format("'{}': a single value stands {}", path, where));
        std::vector<std::string> known;
        for (const auto& item : at->items()) known.push_back(item.key());
        if (from == 0)
          for (const auto& named : named_measures()) known.push_back(named.first);
        fail(term, fmt::format("'{}': there is no '{}' {}, but {}{}", path, word, where, names_in(*at, 20), did_you_mean(word, known)));
      }
      key.resize(end);
    }
    at = &(*at)[key];
    last_key = key;
    from += key.size() + 1;
  }
  return *at;
}

double number(const Json& value, const Measure::Term& term) {
  if (value.is_number()) return value.get<double>();
  // Sums beyond 64 bits are text.
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    if (!text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) return std::stod(text);
  }
  fail(term, fmt::format("'{}' is no number, but {}", term.path, value.is_object() ? "holds " + names_in(value, 20) : value.dump()));
}

}  // namespace

const std::vector<std::pair<std::string, std::string>>& named_measures() {
  static const std::vector<std::pair<std::string, std::string>> all{
      {"reg_mr_mean", "registration.reg_mr.latency.mean_ns"},
      {"reg_mr_total", "registration.reg_mr.latency.total_ps"},
      {"dereg_mr_mean", "registration.dereg_mr.latency.mean_ns"},
      {"dereg_mr_total", "registration.dereg_mr.latency.total_ps"},
      {"registration_cpu", "summary.registration_cpu_share"},
      {"operation_rate", "summary.operations_rate_per_s"},
      {"goodput", "summary.goodput_gbit_per_s"},
      {"read_mean", "latency.read.mean_ns"},
      {"write_mean", "latency.write.mean_ns"},
      {"measured_time", "summary.window_end_ns -summary.window_start_ns"},
  };
  return all;
}

double measure(const Json& report, const Measure& what, const std::string& unit) {
  double sum = 0;
  for (const Measure::Term& term : what.terms) {
    std::istringstream paths(spelled_out(term.path));
    for (std::string path; paths >> path;) {
      const double sign = path.front() == '-' ? -1 : 1;
      if (sign < 0) path.erase(0, 1);
      std::string key;
      const double value = sign * number(follow(report, term, path, key), term);
      if (unit.empty()) {
        sum += value;
        continue;
      }
      const Unit has = unit_of_key(key), wanted = unit_of(unit);
      if (has.of != wanted.of) fail(term, fmt::format("'{}' is in units of {}, which cannot be shown in {}", term.path, has.of, unit));
      sum += value * has.scale / wanted.scale;
    }
  }
  return sum;
}

}  // namespace mtsim::validation

// The archive that fields.h writes JSON through. Included by json.cpp alone.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "results/report.h"

namespace mtsim::results::json {

using Json = nlohmann::ordered_json;

/// `busy` and `ns` give `busy_ns`; no name gives the unit alone, no unit the name alone.
inline std::string key(std::string_view name, std::string_view unit) {
  if (name.empty()) return std::string(unit);
  return unit == "text" || unit == "count" ? std::string(name) : fmt::format("{}_{}", name, unit);
}
inline double to_ns(Time t) { return static_cast<double>(t.raw) / 1e3; }
inline std::string name_of(const std::string& name) { return name; }
inline std::string name_of(verbs::Opcode opcode) { return std::string(verbs::name(opcode)); }

class Writer {
 public:
  explicit Writer(Json& object) : object_(object) {}

  /// Writes nothing when the group comes out empty.
  template <class F>
  void group(const std::string& name, F fill) {
    Json inner = Json::object();
    Writer in(inner);
    fill(in);
    if (!inner.empty()) object_[name] = std::move(inner);
  }
  void count(const std::string& name, std::uint64_t n) { object_[name] = n; }
  void bytes(const std::string& name, Bytes n) { object_[key(name, "bytes")] = n.raw; }
  void time(const std::string& name, Time t) { object_[key(name, "ns")] = to_ns(t); }
  void total(const std::string& name, TotalTime t) {
    const bool fits = t.raw <= std::numeric_limits<std::int64_t>::max();
    object_[key(name, "ps")] = fits ? Json(static_cast<std::int64_t>(t.raw)) : Json(fmt::format("{}", t.raw));
  }
  void series(const std::string& name, const std::vector<Time>& all) {
    Json& array = object_[key(name, "ns")] = Json::array();
    for (const Time t : all) array.push_back(to_ns(t));
  }
  void series(const std::string& name, const std::vector<Bytes>& all) {
    Json& array = object_[key(name, "bytes")] = Json::array();
    for (const Bytes n : all) array.push_back(n.raw);
  }
  void series(const std::string& name, const std::vector<double>& all) {
    Json& array = object_[name] = Json::array();
    // Whole numbers as such.
    for (const double v : all) array.push_back(v == std::floor(v) ? Json(static_cast<std::int64_t>(v)) : Json(v));
  }
  /// Whether a part that may be missing is to be written; of a reader, whether the key is there.
  static bool has(const std::string&, bool wanted) { return wanted; }
  void number(const std::string& name, double v) { object_[name] = v; }
  void text(const std::string& name, const std::string& t) {
    if (!t.empty()) object_[name] = t;
  }
  void flag(const std::string& name, bool v) { object_[name] = v; }
  template <class Enum, std::size_t N>
  void word(const std::string& name, Enum value, const std::array<const char*, N>& words) {
    object_[name] = words[static_cast<std::size_t>(value)];
  }
  template <class Value>
  void derived(const std::string& name, const std::string& unit, const Value& value) {
    object_[key(name, unit)] = value;
  }

  void errnos(const std::string& name, const std::map<int, std::uint64_t>& failed) {
    group(name, [&](Writer& in) {
      for (const auto& [error, n] : failed) in.count(std::string(verbs::errno_name(error)), n);
    });
  }
  void errnos(const std::string& name, const std::map<std::string, std::map<int, std::uint64_t>>& failed) {
    group(name, [&](Writer& in) {
      for (const auto& [call, by_errno] : failed) in.errnos(call, by_errno);
    });
  }
  void statuses(const std::string& name, const std::array<std::uint64_t, verbs::status_count>& counts) {
    group(name, [&](Writer& in) {
      for (unsigned s = 0; s < counts.size(); ++s)
        if (counts[s] > 0) in.count(std::string(verbs::name(verbs::Status(s))), counts[s]);
    });
  }
  void steps(const std::string& name, const std::vector<StepTime>& steps) {
    group(name, [&](Writer& in) {
      for (const StepTime& s : steps) in.time(s.step, s.time);
    });
  }
  void table(const std::string& name, const LatencyTable& t) {
    const Histogram& h = t.latency();
    if (h.count() == 0) return;
    group(name, [&](Writer& in) {
      in.count("count", h.count());
      in.time("min", h.min());
      in.time("median", h.quantile(0.5));
      in.time("p90", h.quantile(0.9));
      in.time("p99", h.quantile(0.99));
      in.time("p99_9", h.quantile(0.999));
      in.time("max", h.max());
      in.derived("mean", "ns", h.mean_ns());
      in.total("total", h.sum());
      in.group("steps", [&](Writer& steps) {
        for (std::size_t i = 0; i < t.steps().size(); ++i)
          steps.group(t.steps()[i], [&](Writer& step) {
            step.derived("mean", "ns", t.mean_ns(i));
            step.total("total", t.total(i));
          });
      });
      in.group("histogram", [&](Writer& bins) { bins.bins(h); });
    });
  }

  template <class Item, class Key, class F>
  void items(const std::string& name, const std::vector<Item>& all, Key Item::*key_member, F fill) {
    group(name, [&](Writer& in) {
      for (const Item& item : all) in.group(name_of(item.*key_member), [&](Writer& each) { fill(each, item); });
    });
  }
  template <class Item, class F>
  void list(const std::string& name, const std::vector<Item>& all, F fill) {
    if (all.empty()) return;
    Json& array = object_[name] = Json::array();
    for (const Item& item : all) {
      Writer each(array.emplace_back(Json::object()));
      fill(each, item);
    }
  }

 private:
  void bins(const Histogram& h) {
    Json low = Json::array(), count = Json::array();
    for (const Histogram::Bin& b : h.bins()) {
      low.push_back(to_ns(b.low));
      count.push_back(b.count);
    }
    object_["low_ns"] = std::move(low);
    object_["count"] = std::move(count);
  }
  Json& object_;
};

/// Two spaces a level, a list of plain values on one line: a histogram is two lines, not two thousand.
inline void print(const Json& value, unsigned indent, std::string& out) {
  const auto scalar = [](const Json& v) { return v.dump(-1, ' ', false, Json::error_handler_t::replace); };
  const bool plain_array = value.is_array() && std::none_of(value.begin(), value.end(), [](const Json& v) { return v.is_structured(); });
  if (!value.is_structured() || value.empty() || plain_array) {
    out += scalar(value);
    return;
  }
  const std::string margin(indent + 2, ' ');
  out += value.is_object() ? '{' : '[';
  bool first = true;
  for (const auto& [name, element] : value.items()) {
    out += first ? "\n" : ",\n";
    first = false;
    out += margin;
    if (value.is_object()) out += scalar(Json(name)) + ": ";
    print(element, indent + 2, out);
  }
  out += '\n';
  out.append(indent, ' ');
  out += value.is_object() ? '}' : ']';
}

}  // namespace mtsim::results::json

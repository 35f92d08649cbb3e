// The archive that fields.h reads JSON through: the inverse of json_writer.h. Included by json.cpp alone.
#pragma once

#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "results/json_writer.h"

namespace mtsim::results::json {

inline Time from_ns(double ns) {
  // Also refuses what is no number.
  if (!(ns >= 0 && ns <= 9.2e15)) throw std::invalid_argument(fmt::format("{} ns is no time", ns));
  return Time(std::llround(ns * 1e3));
}
inline TotalTime to_total(const Json& value) {
  if (!value.is_string()) return TotalTime(value.get<std::int64_t>());
  TotalTime sum;
  for (const char digit : value.get_ref<const std::string&>()) {
    if (digit < '0' || digit > '9') throw std::invalid_argument("a total is not a number");
    sum.raw = sum.raw * 10 + (digit - '0');
  }
  return sum;
}
template <class Value>
Value known(std::optional<Value> value, const std::string& word) {
  if (!value) throw std::invalid_argument(fmt::format("unknown word '{}'", word));
  return *value;
}
inline void set_name(std::string& name, const std::string& text) { name = text; }
inline void set_name(verbs::Opcode& opcode, const std::string& text) { opcode = known(verbs::parse_opcode(text), text); }

/// Throws what nlohmann::json throws, or std::invalid_argument, for a document of another shape. Lists and groups that are empty, and
/// texts, may be missing; figures may not.
class Reader {
 public:
  explicit Reader(const Json& object) : object_(object) {}

  template <class F>
  void group(const std::string& name, F fill) {
    static const Json empty = Json::object();
    const auto found = object_.find(name);
    Reader in(found == object_.end() ? empty : *found);
    fill(in);
  }
  void count(const std::string& name, std::uint64_t& n) { n = object_.at(name).get<std::uint64_t>(); }
  void bytes(const std::string& name, Bytes& n) { n = Bytes(object_.at(key(name, "bytes")).get<std::uint64_t>()); }
  void time(const std::string& name, Time& t) { t = from_ns(object_.at(key(name, "ns")).get<double>()); }
  void total(const std::string& name, TotalTime& t) { t = to_total(object_.at(key(name, "ps"))); }
  void series(const std::string& name, std::vector<Time>& all) {
    for (const double t : object_.at(key(name, "ns")).get<std::vector<double>>()) all.push_back(from_ns(t));
  }
  void series(const std::string& name, std::vector<Bytes>& all) {
    for (const std::uint64_t n : object_.at(key(name, "bytes")).get<std::vector<std::uint64_t>>()) all.emplace_back(n);
  }
  void series(const std::string& name, std::vector<double>& all) { all = object_.at(name).get<std::vector<double>>(); }
  bool has(const std::string& name, bool) const { return object_.contains(name); }
  void number(const std::string& name, double& v) { v = object_.at(name).get<double>(); }
  void text(const std::string& name, std::string& t) { t = object_.value(name, std::string()); }
  void flag(const std::string& name, bool& v) { v = object_.at(name).get<bool>(); }
  template <class Enum, std::size_t N>
  void word(const std::string& name, Enum& value, const std::array<const char*, N>& words) {
    const auto& text = object_.at(name).get_ref<const std::string&>();
    const auto found = std::find(words.begin(), words.end(), text);
    if (found == words.end()) throw std::invalid_argument(fmt::format("unknown word '{}'", text));
    value = Enum(found - words.begin());
  }
  template <class Value>
  void derived(const std::string&, const std::string&, const Value&) {}

  void errnos(const std::string& name, std::map<int, std::uint64_t>& failed) {
    each(name, [&](const std::string& word, const Json& n) { failed[known(verbs::parse_errno(word), word)] = n.get<std::uint64_t>(); });
  }
  void errnos(const std::string& name, std::map<std::string, std::map<int, std::uint64_t>>& failed) {
    group(name, [&](Reader& in) {
      for (const auto& [call, by_errno] : in.object_.items()) in.errnos(call, failed[call]);
    });
  }
  void statuses(const std::string& name, std::array<std::uint64_t, verbs::status_count>& counts) {
    each(name, [&](const std::string& word, const Json& n) {
      counts[std::size_t(known(verbs::parse_status(word), word))] = n.get<std::uint64_t>();
    });
  }
  void steps(const std::string& name, std::vector<StepTime>& steps) {
    each(name, [&](const std::string& step, const Json& ns) {
      steps.push_back({step.substr(0, step.rfind("_ns")), from_ns(ns.get<double>())});
    });
  }
  void table(const std::string& name, LatencyTable& t) {
    if (!object_.contains(name)) return;
    group(name, [&](Reader& in) { t = in.latencies(); });
  }

  template <class Item, class Key, class F>
  void items(const std::string& name, std::vector<Item>& all, Key Item::*key_member, F fill) {
    each(name, [&](const std::string& word, const Json& value) {
      Item item;
      set_name(item.*key_member, word);
      Reader in(value);
      fill(in, item);
      all.push_back(std::move(item));
    });
  }
  template <class Item, class F>
  void list(const std::string& name, std::vector<Item>& all, F fill) {
    each(name, [&](const std::string&, const Json& value) {
      Reader in(value);
      fill(in, all.emplace_back());
    });
  }

 private:
  template <class F>
  void each(const std::string& name, F visit) {
    if (const auto found = object_.find(name); found != object_.end())
      for (const auto& [word, value] : found->items()) visit(word, value);
  }
  LatencyTable latencies() {
    std::vector<std::string> steps;
    std::vector<TotalTime> totals;
    each("steps", [&](const std::string& step, const Json& value) {
      steps.push_back(step);
      totals.push_back(to_total(value.at("total_ps")));
    });
    const auto low = object_.at("histogram").at("low_ns").get<std::vector<double>>();
    const auto count = object_.at("histogram").at("count").get<std::vector<std::uint64_t>>();
    if (low.size() != count.size()) throw std::invalid_argument("a histogram's lists differ in length");
    std::vector<Histogram::Bin> bins;
    for (std::size_t i = 0; i < low.size(); ++i) bins.push_back({from_ns(low[i]), Time(0), count[i]});
    Time min, max;
    TotalTime sum;
    time("min", min);
    time("max", max);
    total("total", sum);
    return LatencyTable(std::move(steps), std::move(totals), Histogram(bins, min, max, sum));
  }
  const Json& object_;
};

}  // namespace mtsim::results::json

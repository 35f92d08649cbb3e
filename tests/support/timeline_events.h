// A timeline, read back as a viewer does: spans by row, lives of operations, arrows, levels. Throws where the file is not what a viewer
// expects.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace mtsim::test {

struct DrawnSpan {
  std::int64_t begin = 0, end = 0;  ///< picoseconds
  std::string name;
  nlohmann::json facts;
  std::vector<DrawnSpan> inner;  ///< in order
  std::size_t partner = 0;       ///< number of the event that ends it
};

struct DrawnPoint {
  std::int64_t at = 0;
  std::string row, span;  ///< the span that a viewer hangs it on
  char phase = ' ';
};

struct DrawnTimeline {
  nlohmann::json notes;
  std::size_t events = 0;                              ///< without metadata
  std::map<std::string, std::vector<DrawnSpan>> rows;  ///< by `host/row`: of exclusive ones
  std::map<std::string, std::vector<DrawnSpan>> async;
  std::map<std::string, std::vector<std::pair<std::int64_t, std::uint64_t>>> levels;
  std::map<std::string, std::vector<DrawnPoint>> flows;

  /// Lives of operations: the spans just below those of QPs' rows.
  std::vector<DrawnSpan> operations() const {
    std::vector<DrawnSpan> out;
    for (const auto& [row, spans] : async)
      if (row.find("/QP ") != std::string::npos)
        for (const DrawnSpan& span : spans) out.push_back(span.inner.at(0));
    return out;
  }
};

class TimelineReader {
 public:
  static DrawnTimeline read(const std::string& text) { return TimelineReader(nlohmann::json::parse(text)).out_; }

 private:
  using Json = nlohmann::json;

  /// Perfetto takes times as doubles, cuts them to nanoseconds and sorts by them, those of one nanosecond in the order of the file.
  explicit TimelineReader(const Json& json) : events_(json.at("traceEvents")) {
    out_.notes = json.at("otherData");
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (events_[i].at("ph") == "M") metadata(events_[i]);
      else order.push_back(i);
    }
    out_.events = order.size();
    find_partners(order);
    const auto ns = [&](std::size_t i) { return static_cast<std::int64_t>(events_[i].at("ts").get<double>() * 1000.0); };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return ns(a) < ns(b); });
    for (const std::size_t i : order) event(i);
    for (const auto& [key, stack] : open_)
      if (!stack.empty()) throw std::runtime_error("a span has no end");
  }

  void metadata(const Json& e) {
    const std::string name = e.at("name");
    if (name == "process_name") processes_[e.at("pid")] = e.at("args").at("name");
    if (name == "thread_name") threads_[e.at("tid")] = processes_.at(e.at("pid")) + "/" + e.at("args").at("name").get<std::string>();
  }

  /// What an event opens or closes: a thread's spans, or those of one asynchronous id of a process.
  static std::string key(const Json& e) {
    if (!e.contains("id2")) return std::to_string(e.at("tid").get<int>());
    return std::to_string(e.at("pid").get<int>()) + ":" + e.at("id2").at("local").get<std::string>();
  }

  void find_partners(const std::vector<std::size_t>& order) {
    std::map<std::string, std::vector<std::size_t>> open;
    for (const std::size_t i : order) {
      const std::string phase = events_[i].at("ph");
      if (phase == "B" || phase == "b") open[key(events_[i])].push_back(i);
      if (phase != "E" && phase != "e") continue;
      auto& stack = open.at(key(events_[i]));
      partner_[stack.back()] = i;
      stack.pop_back();
    }
  }

  void event(std::size_t i) {
    const Json& e = events_[i];
    const std::string phase = e.at("ph");
    const std::int64_t at = std::llround(e.at("ts").get<double>() * 1e6);
    if (at < 0) throw std::runtime_error("a negative time");
    if (phase == "B" || phase == "b") {
      open_[key(e)].push_back({at, 0, e.at("name"), e.value("args", Json{}), {}, partner_.at(i)});
    } else if (phase == "E" || phase == "e") {
      auto& stack = open_.at(key(e));
      DrawnSpan span = stack.back();
      stack.pop_back();
      span.end = at;
      if (span.partner != i || span.end < span.begin || e.value("name", span.name) != span.name)
        throw std::runtime_error("spans are not nested");
      const bool async = phase == "e";
      const std::string row = async ? processes_.at(e.at("pid")) + "/" + span.name : threads_.at(e.at("tid"));
      (!stack.empty() ? stack.back().inner : async ? out_.async[row] : out_.rows[row]).push_back(span);
    } else if (phase == "X") {
      if (e.at("dur") != 0 || !open_[key(e)].empty()) throw std::runtime_error("only what takes no time is a complete event");
      out_.rows[threads_.at(e.at("tid"))].push_back({at, at, e.at("name"), e.value("args", Json{}), {}, 0});
    } else if (phase == "C") {
      for (const auto& [unit, value] : e.at("args").items())
        out_.levels[processes_.at(e.at("pid")) + "/" + e.at("name").get<std::string>() + " " + unit].emplace_back(at, value);
    } else if (phase == "s" || phase == "t" || phase == "f") {
      const std::string row = threads_.at(e.at("tid"));
      const auto& stack = open_[key(e)];
      const DrawnSpan* span = !stack.empty() ? &stack.back() : !out_.rows[row].empty() ? &out_.rows[row].back() : nullptr;
      if (span == nullptr || (stack.empty() && span->begin != at)) throw std::runtime_error("an arrow hangs on no span");
      out_.flows[e.at("id")].push_back({at, row, span->name, phase[0]});
    } else {
      throw std::runtime_error("an event of phase " + phase);
    }
  }

  const Json events_;
  DrawnTimeline out_;
  std::map<int, std::string> processes_, threads_;
  std::map<std::size_t, std::size_t> partner_;
  std::map<std::string, std::vector<DrawnSpan>> open_;
};

inline DrawnTimeline read_timeline(const std::string& text) { return TimelineReader::read(text); }

/// Whether one span of a row is over before the next begins.
inline bool one_at_a_time(const std::vector<DrawnSpan>& spans) {
  for (std::size_t i = 1; i < spans.size(); ++i)
    if (spans[i].begin < spans[i - 1].end) return false;
  return true;
}

}  // namespace mtsim::test

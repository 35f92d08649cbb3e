// A timeline, read back: spans by row, lives of operations, arrows, levels. Throws where the file is not what a viewer expects.
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
  std::vector<DrawnSpan> inner;  ///< of an asynchronous one, in order
};

struct DrawnPoint {
  std::int64_t at = 0;
  std::string row;
  char phase = ' ';
};

struct DrawnTimeline {
  nlohmann::json notes;
  std::size_t events = 0;                              ///< without metadata
  std::map<std::string, std::vector<DrawnSpan>> rows;  ///< by `host/row`: complete events
  std::map<std::string, std::vector<DrawnSpan>> async;
  std::map<std::string, std::vector<std::pair<std::int64_t, std::uint64_t>>> levels;
  std::map<std::uint64_t, std::vector<DrawnPoint>> flows;

  /// Lives of operations: the spans just below those of QPs' rows.
  std::vector<DrawnSpan> operations() const {
    std::vector<DrawnSpan> out;
    for (const auto& [row, spans] : async)
      if (row.find("/QP ") != std::string::npos)
        for (const DrawnSpan& span : spans) out.push_back(span.inner.at(0));
    return out;
  }
};

inline DrawnTimeline read_timeline(const std::string& text) {
  const auto ps = [](const nlohmann::json& us) { return static_cast<std::int64_t>(std::llround(us.get<double>() * 1e6)); };
  const auto json = nlohmann::json::parse(text);
  DrawnTimeline out;
  out.notes = json.at("otherData");
  std::map<int, std::string> processes, threads;
  std::map<std::uint64_t, std::vector<DrawnSpan>> open;
  for (const auto& e : json.at("traceEvents")) {
    const std::string phase = e.at("ph"), name = e.at("name");
    const int pid = e.at("pid"), tid = e.at("tid");
    if (phase == "M") {
      if (name == "process_name") processes[pid] = e.at("args").at("name");
      if (name == "thread_name") threads[tid] = processes.at(pid) + "/" + e.at("args").at("name").get<std::string>();
      continue;
    }
    ++out.events;
    const std::int64_t at = ps(e.at("ts"));
    if (at < 0) throw std::runtime_error("a negative time");
    if (phase == "X") {
      if (e.at("dur").get<double>() < 0) throw std::runtime_error("a span ends before it begins");
      out.rows[threads.at(tid)].push_back({at, at + ps(e.at("dur")), name, e.value("args", nlohmann::json{}), {}});
    } else if (phase == "b") {
      open[e.at("id")].push_back({at, 0, name, e.value("args", nlohmann::json{}), {}});
    } else if (phase == "e") {
      auto& stack = open.at(e.at("id"));
      DrawnSpan span = stack.back();
      stack.pop_back();
      span.end = at;
      if (span.name != name || span.end < span.begin) throw std::runtime_error("asynchronous spans are not nested");
      (stack.empty() ? out.async[processes.at(pid) + "/" + name] : stack.back().inner).push_back(span);
    } else if (phase == "C") {
      out.levels[processes.at(pid) + "/" + name].emplace_back(at, e.at("args").at("value"));
    } else if (phase == "s" || phase == "t" || phase == "f") {
      out.flows[e.at("id")].push_back({at, threads.at(tid), phase[0]});
    } else {
      throw std::runtime_error("an event of phase " + phase);
    }
  }
  for (const auto& [id, stack] : open)
    if (!stack.empty()) throw std::runtime_error("an asynchronous span has no end");
  return out;
}

/// Whether spans lie beside or within each other; with `apart` only beside.
inline bool well_nested(std::vector<DrawnSpan> spans, bool apart) {
  std::stable_sort(spans.begin(), spans.end(),
                   [](const DrawnSpan& a, const DrawnSpan& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
  std::vector<std::int64_t> ends;
  for (const DrawnSpan& span : spans) {
    while (!ends.empty() && ends.back() <= span.begin) ends.pop_back();
    if (!ends.empty() && (apart || span.end > ends.back())) return false;
    ends.push_back(span.end);
  }
  return true;
}

}  // namespace mtsim::test

#include "results/timeline_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/quantity_text.h"

namespace mtsim::results {
namespace {

/// Thread numbers tell hosts apart too, and differ from those of processes: viewers take a thread with its process's number for its main.
constexpr std::uint32_t threads_a_process = 100'000;
/// Readers in JavaScript lose the last digits of larger numbers: those are written as text.
constexpr std::uint64_t largest_number = std::uint64_t{1} << 53;

std::string escaped(std::string_view text) {
  return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Spreads the bits, so that a remainder of the result takes any regular sequence of keys evenly.
std::uint64_t mixed(std::uint64_t key) {
  key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9;
  key = (key ^ key >> 27) * 0x94d049bb133111eb;
  return key ^ key >> 31;
}

}  // namespace

TimelineFile::TimelineFile(OutputFile& file, const TimelineOptions& options) : out_(file), options_(options) {
  out_.add("{\"displayTimeUnit\": \"ns\",\n\"traceEvents\": [");
}

Timeline::Row TimelineFile::row(std::string_view process, std::string_view name, Kind kind) {
  auto known = std::find(processes_.begin(), processes_.end(), process);
  const auto index = static_cast<std::uint32_t>(known - processes_.begin());
  if (known == processes_.end()) {
    processes_.emplace_back(process);
    threads_.push_back(0);
    add_metadata("process_name", index + 1, 0, "name", escaped(process));
    add_metadata("process_sort_index", index + 1, 0, "sort_index", std::to_string(index));
  }
  Line line;
  line.kind = kind;
  line.process = index + 1;
  line.thread = threads_a_process * line.process + ++threads_[index];
  if (kind == Kind::level) {
    // Viewers show a counter as its name and the name of the value in it.
    const std::size_t unit = name.rfind(' ');
    line.unit = name.substr(unit + 1);
    name = name.substr(0, unit);
  }
  line.name = escaped(name);
  if (kind != Kind::level) {
    add_metadata("thread_name", line.process, line.thread, "name", line.name);
    add_metadata("thread_sort_index", line.process, line.thread, "sort_index", std::to_string(threads_[index]));
  }
  rows_.push_back(std::move(line));
  return static_cast<Row>(rows_.size() - 1);
}

bool TimelineFile::samples(std::uint64_t key) const { return options_.sample == 1 || mixed(key) % options_.sample == 0; }

void TimelineFile::span(Row row, std::string_view name, Time begin, Time end, Facts facts) {
  if (covers(begin, end) && samples_next(row)) draw(row, name, begin, end, facts);
}

bool TimelineFile::draw(Row row, std::string_view name, Time begin, Time end, Facts facts, std::span<const Part> within) {
  const Line& line = rows_[row];
  const bool instant = begin == end && line.kind == Kind::exclusive;
  if (!covers(begin, end) || !take(instant ? 1 : 2 + 2 * within.size(), end)) return false;
  if (line.kind == Kind::overlapping) {
    const std::uint64_t id = next_id_++;
    add_async('b', line, id, line.name, begin, facts);
    add_async('e', line, id, line.name, end);
  } else if (instant) {
    // Of a span that ends as it begins an arrow would find nothing open.
    begin_event('X', line, begin, quoted(name));
    out_.add(",\"dur\":0");
    add_facts(facts);
    out_.add('}');
  } else {
    add_part(line, name, begin, end, facts, within);
  }
  return true;
}

// Those within stand between begin and end in the file as well: where viewers see one time they go by the order of the file.
void TimelineFile::add_part(const Line& line, std::string_view name, Time begin, Time end, Facts facts, std::span<const Part> within) {
  begin_event('B', line, begin, quoted(name));
  add_facts(facts);
  out_.add('}');
  for (const Part& part : within) add_part(line, part.name, part.begin, part.end, {}, {});
  begin_event('E', line, end);
  out_.add('}');
}

void TimelineFile::draw_life(Row row, std::string_view name, Time begin, std::span<const Time> ends, std::span<const std::string> steps,
                             Facts facts) {
  std::uint64_t passed = 0;
  Time at = begin;
  for (const Time step_end : ends) {
    passed += step_end > at;
    at = std::max(at, step_end);
  }
  if (!covers(begin, at) || !take(4 + 2 * passed, at)) return;
  const Line& line = rows_[row];
  const std::uint64_t id = next_id_++;
  const std::string own = quoted(name);
  // The outermost span carries the name of the row: viewers show asynchronous spans of one name together.
  add_async('b', line, id, line.name, begin);
  add_async('b', line, id, own, begin, facts);
  at = begin;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i] <= at) continue;
    const std::string step = quoted(steps[i]);
    add_async('b', line, id, step, at);
    add_async('e', line, id, step, ends[i]);
    at = ends[i];
  }
  add_async('e', line, id, own, at);
  add_async('e', line, id, line.name, at);
}

void TimelineFile::draw_flow(std::span<const Anchor> anchors) {
  if (anchors.size() < 2 || !take(anchors.size(), anchors.back().at)) return;
  const std::uint64_t id = next_flow_++;
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    const char phase = i == 0 ? 's' : i + 1 < anchors.size() ? 't' : 'f';
    begin_event(phase, rows_[anchors[i].row], anchors[i].at, "\"operation\"");
    // Without bp the end would bind to the span that begins next, not to the one in which it lies.
    out_.add(phase == 's' ? ",\"cat\":\"flow\"" : ",\"cat\":\"flow\",\"bp\":\"e\"");
    out_.add(",\"id\":\"0x");
    out_.add_hex(id);
    out_.add("\"}");
  }
}

void TimelineFile::level(Row row, Time at, std::uint64_t value) {
  Line& line = rows_[row];
  if (at < options_.from) {
    line.before = value;
    return;
  }
  if (at > options_.to || !samples_next(row)) return;
  const bool was_higher = !line.risen && line.before != 0;
  if (!take(was_higher ? 2 : 1, at)) return;
  if (was_higher) add_level(line, options_.from, line.before);
  line.risen = true;
  add_level(line, at, value);
}

void TimelineFile::finish(const TimelineNotes& notes) {
  out_.add("\n],\n\"otherData\": {");
  bool first = true;
  const auto note = [&](const std::string& name, const std::string& value) {
    out_.add(fmt::format("{}\n  {}: {}", first ? "" : ",", escaped(name), value));
    first = false;
  };
  for (const auto& [name, text] : notes) note(name, escaped(text));
  note("from", escaped(text::show(options_.from)));
  if (options_.to.raw != std::numeric_limits<std::int64_t>::max()) note("to", escaped(text::show(options_.to)));
  note("sample", std::to_string(options_.sample));
  note("events", std::to_string(events_));
  if (cut_) note("cut", escaped(cut()));
  out_.add("\n}}\n");
  out_.finish();
}

std::string TimelineFile::cut() const {
  if (!cut_) return {};
  return fmt::format(
      "the timeline was cut at its limit of {} events: what ended later than about {:.1f} us is missing; draw a part (--from, --to) or a "
      "sample "
      "(--sample)",
      options_.most_events, static_cast<double>(cut_at_.raw) / 1e6);
}

bool TimelineFile::take(std::uint64_t n, Time at) {
  if (cut_) return false;
  if (events_ + n > options_.most_events) {
    cut_ = true;
    cut_at_ = at;
    return false;
  }
  events_ += n;
  return true;
}

void TimelineFile::begin_event(char phase, const Line& line, Time at) {
  out_.add(first_ ? "\n" : ",\n");
  first_ = false;
  out_.add("{\"ph\":\"");
  out_.add(phase);
  out_.add("\",\"pid\":");
  out_.add(std::uint64_t{line.process});
  out_.add(",\"tid\":");
  out_.add(std::uint64_t{line.thread});
  out_.add(",\"ts\":");
  out_.add_us(at);
}

void TimelineFile::begin_event(char phase, const Line& line, Time at, std::string_view quoted_name) {
  begin_event(phase, line, at);
  out_.add(",\"name\":");
  out_.add(quoted_name);
}

void TimelineFile::add_async(char phase, const Line& line, std::uint64_t id, std::string_view quoted_name, Time at, Facts facts) {
  begin_event(phase, line, at, quoted_name);
  out_.add(",\"cat\":\"async\",\"id2\":{\"local\":\"0x");
  out_.add_hex(id);
  out_.add("\"}");
  add_facts(facts);
  out_.add('}');
}

void TimelineFile::add_level(const Line& line, Time at, std::uint64_t value) {
  begin_event('C', line, at, line.name);
  add_facts({{line.unit, value}});
  out_.add('}');
}

void TimelineFile::add_facts(Facts facts) {
  if (facts.size() == 0) return;
  out_.add(",\"args\":");
  char before = '{';
  for (const Fact& fact : facts) {
    out_.add(before);
    before = ',';
    out_.add('"');
    out_.add(fact.name);
    out_.add("\":");
    const bool as_text = !fact.text.empty() || fact.number > largest_number;
    if (as_text) out_.add('"');
    if (fact.text.empty()) out_.add(fact.number);
    else out_.add(fact.text);
    if (as_text) out_.add('"');
  }
  out_.add('}');
}

void TimelineFile::add_metadata(const char* what, std::uint32_t process, std::uint32_t thread, std::string_view argument,
                                std::string_view value) {
  out_.add(fmt::format("{}{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":\"{}\",\"args\":{{\"{}\":{}}}}}", first_ ? "\n" : ",\n", process,
                       thread, what, argument, value));
  first_ = false;
}

}  // namespace mtsim::results

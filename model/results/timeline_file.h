// A timeline as trace events in JSON, as Perfetto (ui.perfetto.dev) and chrome://tracing open them: `--timeline FILE`.
//
// Times are microseconds with six decimals, so that no picosecond is lost. Viewers cut them to nanoseconds; so spans have a begin and an
// end event, which a viewer cuts alike, and no duration ("X"): Perfetto drops a span that ends a nanosecond after the one around it. Spans
// of an exclusive row are "B" and "E" on a thread of that name; those of an overlapping row are asynchronous ("b", "e") within their
// process, all under the row's name, by which viewers gather them.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/timeline.h"
#include "results/block_writer.h"

namespace mtsim::results {

struct TimelineOptions {
  /// Only what touches this window is drawn, but that as a whole.
  Time from, to{std::numeric_limits<std::int64_t>::max()};
  std::uint64_t sample = 1;  ///< of operations about one in so many, of each row's other spans every so-many-th
  std::uint64_t most_events = 2'000'000;
};

/// What the file says of itself: names with texts.
using TimelineNotes = std::vector<std::pair<std::string, std::string>>;

class TimelineFile final : public Timeline {
 public:
  /// `file` must outlive this; the caller commits it.
  TimelineFile(OutputFile& file, const TimelineOptions& options);

  Row row(std::string_view process, std::string_view name, Kind kind) override;
  void span(Row row, std::string_view name, Time begin, Time end, Facts facts = {}) override;
  void level(Row row, Time at, std::uint64_t value) override;

  /// Whether [begin, end] touches the window.
  bool covers(Time begin, Time end) const { return begin <= options_.to && end >= options_.from; }
  /// Whether the operation that `key` stands for is one of those drawn.
  bool samples(std::uint64_t key) const;
  /// Whether the next span of that row is one of those drawn; to be asked once a span.
  bool samples_next(Row row) { return rows_[row].seen++ % options_.sample == 0; }

  struct Part {
    std::string_view name;
    Time begin, end;
  };
  /// A span whatever sampling says, with those that stand within it one after the other: an exclusive row takes such. Returns whether it
  /// was drawn: it touches the window and there was room.
  bool draw(Row row, std::string_view name, Time begin, Time end, Facts facts = {}, std::span<const Part> within = {});

  /// The life of an operation on an overlapping row: its steps, which end at `ends`, stand within a span called `name`. A step that was
  /// skipped has an earlier time.
  void draw_life(Row row, std::string_view name, Time begin, std::span<const Time> ends, std::span<const std::string> steps, Facts facts);

  /// The beginning of a span on an exclusive row that has been drawn.
  struct Anchor {
    Row row = 0;
    Time at;
  };
  /// An arrow from each anchor to the next; fewer than two draw nothing.
  void draw_flow(std::span<const Anchor> anchors);

  /// Ends the file. Throws UserError when some of it could not be written.
  void finish(const TimelineNotes& notes);
  /// What a user must know of what is missing; empty when the bound on events was not reached.
  std::string cut() const;

 private:
  struct Line {
    Kind kind = Kind::exclusive;
    std::uint32_t process = 0, thread = 0;
    std::string name;  ///< in quotes, escaped
    std::string unit;  ///< of a level
    std::uint64_t seen = 0;
    bool risen = false;        ///< a level: drawn within the window
    std::uint64_t before = 0;  ///< a level: what it was when the window began
  };

  /// Room for `n` more events, all or none: what belongs together is not torn.
  bool take(std::uint64_t n, Time at);
  void begin_event(char phase, const Line& line, Time at);
  void begin_event(char phase, const Line& line, Time at, std::string_view quoted_name);
  void add_part(const Line& line, std::string_view name, Time begin, Time end, Facts facts, std::span<const Part> within);
  void add_async(char phase, const Line& line, std::uint64_t id, std::string_view quoted_name, Time at, Facts facts = {});
  void add_level(const Line& line, Time at, std::uint64_t value);
  void add_facts(Facts facts);
  void add_metadata(const char* what, std::uint32_t process, std::uint32_t thread, std::string_view argument, std::string_view value);
  std::string quoted(std::string_view plain) const { return '"' + std::string(plain) + '"'; }

  BlockWriter out_;
  TimelineOptions options_;
  std::vector<std::string> processes_;
  std::vector<std::uint32_t> threads_;  ///< by process: how many there are
  std::vector<Line> rows_;
  bool first_ = true;
  std::uint64_t events_ = 0, next_id_ = 1, next_flow_ = 1;
  bool cut_ = false;
  Time cut_at_;
};

}  // namespace mtsim::results

// Where units of the model draw what they did when. Who keeps the picture, and whether anybody does, is none of their business.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "base/units.h"

namespace mtsim {

class Timeline {
 public:
  using Row = std::uint32_t;
  enum class Kind : std::uint8_t {
    exclusive,    ///< of something that does one thing at a time: spans do not overlap, but may stand within each other
    overlapping,  ///< spans lie as they like
    level,        ///< of a quantity that rises and falls; the row's name ends with its unit (`pinned bytes`)
  };
  /// Something to tell about a span: a number, or a text where there is one. A name carries the unit; neither name nor text needs escapes.
  struct Fact {
    std::string_view name;
    std::uint64_t number = 0;
    std::string_view text = {};
  };
  using Facts = std::initializer_list<Fact>;

  /// A new row of `process` (a host), below those that it has.
  virtual Row row(std::string_view process, std::string_view name, Kind kind) = 0;
  /// Something that went on in [begin, end], told once it is over. `name` needs no escapes.
  virtual void span(Row row, std::string_view name, Time begin, Time end, Facts facts = {}) = 0;
  /// The quantity has this value from `at` on; calls for a row come in order of time.
  virtual void level(Row row, Time at, std::uint64_t value) = 0;

 protected:
  ~Timeline() = default;
};

/// A unit's own row. False where nobody draws: the one branch that a timeline costs when it is off.
class TimelineRow {
 public:
  TimelineRow() = default;
  TimelineRow(Timeline& timeline, std::string_view process, std::string_view name, Timeline::Kind kind = Timeline::Kind::exclusive)
      : timeline_(&timeline), row_(timeline.row(process, name, kind)) {}

  explicit operator bool() const { return timeline_ != nullptr; }
  void span(std::string_view name, Time begin, Time end, Timeline::Facts facts = {}) const {
    timeline_->span(row_, name, begin, end, facts);
  }
  void level(Time at, std::uint64_t value) const { timeline_->level(row_, at, value); }

 private:
  Timeline* timeline_ = nullptr;
  Timeline::Row row_ = 0;
};

}  // namespace mtsim

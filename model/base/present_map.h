// The pages of a range that have a frame, and whether each may be written: a list with holes, as on-demand paging keeps it. By extents.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/frame_law.h"
#include "base/units.h"

namespace mtsim {

class PresentMap {
 public:
  /// Pages [first, end()) of the range, in frames of consecutive numbers.
  struct Part {
    std::uint64_t first = 0;
    FrameExtent frames;
    bool writable = false;
    std::uint64_t end() const { return first + frames.count; }
  };
  struct Hit {
    Pa address;
    bool writable = false;
  };

  explicit PresentMap(FrameLaw law = {}) : law_(law) {}

  /// Puts the part in the place of whatever its pages had before.
  void set(const Part& part);
  /// Pages [first, end) have no frame any more; returns those that had, lowest first.
  std::vector<Part> clear(std::uint64_t first, std::uint64_t end);
  /// Pages [first, end) become what they are in `other`.
  void copy(const PresentMap& other, std::uint64_t first, std::uint64_t end);

  /// Nothing when the page is absent.
  std::optional<Hit> at(std::uint64_t page) const;
  /// The first part that has a page at or after `page`, from there on and up to `high`; nothing when there is none.
  std::optional<Part> part_from(std::uint64_t page, std::uint64_t high) const;
  std::uint64_t pages() const { return pages_; }

 private:
  struct Entry {
    FrameExtent frames;
    bool writable;
  };
  void cut(std::uint64_t page);

  FrameLaw law_;
  std::map<std::uint64_t, Entry> entries_;  ///< by first page; no two overlap
  std::uint64_t pages_ = 0;
};

}  // namespace mtsim

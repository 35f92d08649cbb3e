// A cache of table lines, seen from the Walker.
#pragma once

#include <cstdint>
#include <systemc>

#include "translate/architecture.h"

namespace mtsim::ports {

/// What the table's lines hold now.
class LineSource {
 public:
  virtual translate::Content content(std::uint64_t tag) const = 0;

 protected:
  ~LineSource() = default;
};

class LineCache : public virtual sc_core::sc_interface {
 public:
  /// The content of line `tag`, or null. Counts a look-up.
  virtual const translate::Content* find(std::uint64_t tag) = 0;
  /// The same without counting or ageing.
  virtual bool holds(std::uint64_t tag) const = 0;
  /// A line has come, for a look-up on behalf of the protection domain `pd`.
  virtual void fill(std::uint64_t tag, translate::Content content, std::uint32_t pd) = 0;
  /// The same for a line that no look-up has asked for yet.
  virtual void fill_ahead(std::uint64_t tag, translate::Content content, std::uint32_t pd) { fill(tag, content, pd); }
  /// Whether the line that the last find() gave came by fill_ahead() and was found for the first time.
  virtual bool found_ahead() const { return false; }
  /// Forgets `count` lines from `first` on.
  virtual void drop(std::uint64_t first, std::uint64_t count) = 0;
  /// The table has been written there: a cache forgets these lines, or takes their new content from `table`.
  virtual void written(std::uint64_t first, std::uint64_t count, const LineSource& table) {
    static_cast<void>(table);
    drop(first, count);
  }
};

}  // namespace mtsim::ports

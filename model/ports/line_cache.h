// A cache of table lines, seen from the Walker.
#pragma once

#include <cstdint>
#include <systemc>

#include "translate/architecture.h"

namespace mtsim::ports {

class LineCache : public virtual sc_core::sc_interface {
 public:
  /// The content of line `tag`, or null. Counts a look-up.
  virtual const translate::Content* find(std::uint64_t tag) = 0;
  /// The same without counting or ageing.
  virtual bool holds(std::uint64_t tag) const = 0;
  virtual void fill(std::uint64_t tag, translate::Content content) = 0;
  /// Forgets `count` lines from `first` on.
  virtual void drop(std::uint64_t first, std::uint64_t count) = 0;
};

}  // namespace mtsim::ports

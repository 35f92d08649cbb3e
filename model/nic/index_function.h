// Which row of a cache a line belongs in: pure. A function is one file that registers itself.
#pragma once

#include <cstdint>
#include <optional>

#include "base/registry.h"

namespace mtsim::nic {

class IndexFunction {
 public:
  virtual ~IndexFunction() = default;
  /// The row of line `tag` in a way, below the number of rows.
  virtual std::uint32_t row(std::uint64_t tag, std::uint32_t way) const = 0;
  /// Where the row is `tag` and a mask, whatever the way: the mask, for a caller in a hurry.
  virtual std::optional<std::uint64_t> mask() const { return std::nullopt; }
  /// Whether a line's row may differ from way to way.
  virtual bool skewed() const { return false; }
};

/// Made for a number of rows, at least one.
using IndexFunctions = Registry<IndexFunction, std::uint32_t>;

}  // namespace mtsim::nic

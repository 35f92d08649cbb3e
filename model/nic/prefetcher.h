// Which table line is fetched before anybody asks for it: pure state. A policy is one file that registers itself.
#pragma once

#include <cstdint>
#include <optional>

#include "base/registry.h"
#include "base/units.h"

namespace mtsim::nic {

class Prefetcher {
 public:
  virtual ~Prefetcher() = default;
  /// A look-up for `key` misses line `tag`, or is the first to find it after it was fetched ahead. The line to fetch ahead now, if any; one
  /// that the table does not have, or that is here already, is left out.
  virtual std::optional<std::uint64_t> ahead(Key key, std::uint64_t tag) = 0;
};

/// `none` gives null.
using Prefetchers = Registry<Prefetcher>;

}  // namespace mtsim::nic

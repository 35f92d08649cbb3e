// Units of published figures, and of the report's by the end of a JSON key.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mtsim::validation {

/// What a unit counts in, and how many of those it is: `us` is 1e-6 of "time".
struct Unit {
  std::string of;  ///< "time", "rate", "bits", "bytes", "share" or "count"
  double scale = 1;
};

/// The words a row may use: ns, us, ms, s, /s, K/s, M/s, Gb/s, B, KB, MB, GB, %, share, count.
const std::vector<std::string>& unit_names();
/// Of such a word, which must be one.
Unit unit_of(std::string_view name);
/// Of the last key of a path in the report's JSON: `mean_ns` gives nanoseconds, a key without a unit counts.
Unit unit_of_key(std::string_view key);

}  // namespace mtsim::validation

#include "system/require.h"

#include <fmt/format.h>

#include <bit>

#include "base/error.h"

namespace mtsim::system {

void require_power_of_two(const Config& config, const std::string& path, std::uint64_t value) {
  if (!std::has_single_bit(value)) config.fail(path, "must be a power of two");
}

void require_known(const Config& config, const ComponentKey& key, const std::string& value) {
  if (key.known.count(value) != 0) return;
  const auto names = key.names();
  config.fail(key.path,
              fmt::format("there is no {} '{}'; known: {}{}", key.kind, value, fmt::join(names, ", "), did_you_mean(value, names)));
}

}  // namespace mtsim::system

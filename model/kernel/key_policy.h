// How a driver hands out memory keys: pure state. The key's low byte is its variant, the rest its index.
#pragma once

#include <cstdint>
#include <optional>

#include "base/registry.h"
#include "base/units.h"

namespace mtsim::kernel {

struct KeyGrant {
  Key key;
  /// The device knows it already; otherwise a command must create it first.
  bool created = false;
};

class KeyPolicy {
 public:
  virtual ~KeyPolicy() = default;
  /// A key for a table of `entries` entries; nothing when all are in use (ENOMEM).
  virtual std::optional<KeyGrant> take(std::uint64_t entries) = 0;
  /// Whether the key of such a table stays known to the device when its MR goes, so that it is only revoked and not destroyed.
  virtual bool keeps(std::uint64_t entries) const = 0;
  /// Nothing reaches memory by the key any more. `created`: the device still knows it.
  virtual void give_back(KeyGrant grant, std::uint64_t entries) = 0;
};

struct KeyPolicyOptions {
  std::uint64_t most_keys = 0;
};
using KeyPolicies = Registry<KeyPolicy, const KeyPolicyOptions&>;

}  // namespace mtsim::kernel

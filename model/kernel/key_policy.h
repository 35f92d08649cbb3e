// How a driver hands out memory keys: pure state. The key's low byte is its variant, the rest its index. What a policy wants done on the
// side (keys made ahead, old ones destroyed) it names as chores; key_keeper.h gives them their time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/registry.h"
#include "base/units.h"
#include "verbs/types.h"

namespace mtsim::kernel {

/// What a key is wanted for.
struct KeyNeed {
  std::uint64_t entries = 0;  ///< of its table
  /// Access flags of the MR that the device cannot change in a key which it knows.
  verbs::Access fixed = verbs::Access::none;
  bool window = false;  ///< of a memory window: without a table, and known to the device only once it has been created
};

struct KeyGrant {
  Key key;
  /// The device knows it already; otherwise a command must create it first.
  bool created = false;
  /// That command goes alone: one such creation at a time in the whole driver.
  bool alone = false;
  /// Size of the class that the key belongs to, in table entries.
  std::uint64_t entries = 0;
  verbs::Access fixed = verbs::Access::none;  ///< as it was needed
};

/// A command of the driver's own, outside of any call.
struct KeyChore {
  enum class Kind : std::uint8_t { create, destroy } kind = Kind::create;
  Key key;
  std::uint64_t entries = 0;
};

/// For the report. A level is what there is now, anything else what has been counted so far.
struct KeyCount {
  const char* name;
  const char* meaning;
  std::uint64_t value = 0;
  bool level = false;
};

/// Keys whose table holds keys have a class of their own (the KSM entry of mlx5's cache): their size is given with this bit.
inline constexpr std::uint64_t table_of_keys = std::uint64_t{1} << 63;
/// How many keys such a table has for an implicit region: one for each GiB of user space (hw/mlx5/odp.c, mlx5_imr_ksm_entries).
inline constexpr std::uint64_t implicit_region_keys = std::uint64_t{1} << 17;

class KeyPolicy {
 public:
  virtual ~KeyPolicy() = default;
  /// A key; nothing when all are in use (ENOMEM). Times never go back.
  virtual std::optional<KeyGrant> take(const KeyNeed& need, Time now) = 0;
  /// Whether the key stays known to the device when its MR goes, so that it is only revoked and not destroyed.
  virtual bool keeps(const KeyGrant& grant) const = 0;
  /// Nothing reaches memory by the key any more. `grant.created`: the device still knows it.
  virtual void give_back(const KeyGrant& grant, Time now) = 0;

  /// The next chore to begin now, besides those begun before. Each that was returned ends with `done`.
  virtual std::optional<KeyChore> next_chore(Time) { return std::nullopt; }
  virtual void done(const KeyChore&, Time) {}
  /// Whether it is the device that has no more keys when `take` gives nothing: then a command has been refused.
  virtual bool of_device() const { return false; }
  /// Places for contexts that the device must have so that no two keys share one: a key's place is its index modulo their number, which is
  /// a power of two. 0: as many as there are keys.
  virtual std::uint64_t places() const { return 0; }
  virtual std::vector<KeyCount> counts() const { return {}; }
};

struct KeyCacheOptions {
  std::vector<std::uint32_t> limits;  ///< by class of 4 << i entries; a class is filled up to twice its limit
  std::uint32_t in_flight = 8;        ///< creations on the side at most, for each class
  Time age, temporary_age;            ///< after which parked keys go: of a class beyond twice its limit, of a class made for one size
  bool prefill = true;                ///< begin with full classes
};

struct KeyPolicyOptions {
  std::uint64_t most_keys = 0;
  std::uint64_t seed = 1;  ///< of what is random in a key
  KeyCacheOptions cache;
};
using KeyPolicies = Registry<KeyPolicy, const KeyPolicyOptions&>;

}  // namespace mtsim::kernel

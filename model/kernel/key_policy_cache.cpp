// mlx5's mkey cache, Linux 6.12 hw/mlx5/mr.c. Keys are parked by size class when their MR goes, and the one parked last is taken first:
// registering again gives the very same key. Left out: the asynchronous refill of a class that runs low, and the ageing of keys beyond
// what a class was filled with.
#include <array>
#include <bit>
#include <vector>

#include "kernel/key_index.h"
#include "kernel/key_policy.h"

namespace mtsim::kernel {
namespace {

/// Classes of 4 << i entries. The limits of the default profile (net/mlx5/core/main.c); a class is filled up to twice its limit.
constexpr std::array<unsigned, 21> class_limits{250, 250, 250, 250, 250, 250, 250, 250, 250, 250, 250, 250, 32, 16, 8, 4, 0, 0, 0, 0, 0};

class CachedKeys : public KeyPolicy {
 public:
  explicit CachedKeys(const KeyPolicyOptions& options) : indices_(options.most_keys) {
    for (std::size_t i = 0; i < class_limits.size(); ++i)
      for (unsigned n = 0; n < 2 * class_limits[i]; ++n)
        if (const auto index = indices_.take()) parked_[i].emplace_back(*index, variant_++);
  }

  std::optional<KeyGrant> take(std::uint64_t entries) override {
    const std::size_t size = class_of(entries);
    if (size < parked_.size() && !parked_[size].empty()) {
      const Key key = parked_[size].back();
      parked_[size].pop_back();
      return KeyGrant{key, true};
    }
    const auto index = indices_.take();
    if (!index) return std::nullopt;
    // create_cache_mkey leaves the variant 0; only keys outside of every class get one.
    return KeyGrant{Key(*index, size < parked_.size() ? std::uint8_t{0} : variant_++), false};
  }

  bool keeps(std::uint64_t entries) const override { return class_of(entries) < parked_.size(); }

  void give_back(KeyGrant grant, std::uint64_t entries) override {
    if (grant.created && keeps(entries)) parked_[class_of(entries)].push_back(grant.key);
    else indices_.give_back(grant.key.index());
  }

 private:
  /// The smallest class that has room for the entries, or one past the last.
  static std::size_t class_of(std::uint64_t entries) {
    return entries <= 4 ? 0 : static_cast<std::size_t>(std::bit_width(entries - 1)) - 2;
  }

  KeyIndices indices_;
  std::array<std::vector<Key>, class_limits.size()> parked_;
  std::uint8_t variant_ = 0;
};

const KeyPolicies::Entrant registered("cache", "keys are parked by size and used again, the last one first (mlx5)",
                                      [](const KeyPolicyOptions& options) { return std::make_unique<CachedKeys>(options); });

}  // namespace
}  // namespace mtsim::kernel

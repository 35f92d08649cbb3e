// Each registration creates a key, each deregistration destroys it. The variant is a counter of the device's, from 1 on (mlx5 without its
// cache, Linux hw/mlx5/mr.c, assign_mkey_variant).
#include "kernel/key_index.h"
#include "kernel/key_policy.h"

namespace mtsim::kernel {
namespace {

class CountedKeys : public KeyPolicy {
 public:
  explicit CountedKeys(const KeyPolicyOptions& options) : indices_(options.most_keys) {}

  std::optional<KeyGrant> take(const KeyNeed&, Time) override {
    const auto index = indices_.take();
    if (!index) return std::nullopt;
    return KeyGrant{Key(*index, ++variant_)};
  }
  bool keeps(const KeyGrant&) const override { return false; }
  bool of_device() const override { return true; }
  void give_back(const KeyGrant& grant, Time) override { indices_.give_back(grant.key.index()); }

 private:
  KeyIndices indices_;
  std::uint8_t variant_ = 0;
};

const KeyPolicies::Entrant registered("counter", "a new key for each registration, its variant a counter (mlx5 without mkey cache)",
                                      [](const KeyPolicyOptions& options) { return std::make_unique<CountedKeys>(options); });

}  // namespace
}  // namespace mtsim::kernel

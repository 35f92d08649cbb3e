// Keys that the device names in its answer (efa, mana). How it finds them is not published; here it uses the one freed last first. These
// devices answer with an lkey and an rkey that may differ: driver.rkey.
#include "kernel/key_index.h"
#include "kernel/key_policy.h"

namespace mtsim::kernel {
namespace {

class DeviceKeys : public KeyPolicy {
 public:
  explicit DeviceKeys(const KeyPolicyOptions& options) : indices_(options.most_keys) {}

  std::optional<KeyGrant> take(const KeyNeed&, Time) override {
    const auto index = indices_.take();
    if (!index) return std::nullopt;
    return KeyGrant{Key(*index, 0)};
  }
  bool keeps(const KeyGrant&) const override { return false; }
  bool of_device() const override { return true; }
  void give_back(const KeyGrant& grant, Time) override { indices_.give_back(grant.key.index()); }

 private:
  KeyIndices indices_;
};

const KeyPolicies::Entrant registered("device", "the device names the key (efa, mana)",
                                      [](const KeyPolicyOptions& options) { return std::make_unique<DeviceKeys>(options); });

}  // namespace
}  // namespace mtsim::kernel

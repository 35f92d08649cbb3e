// hns's keys, Linux 6.12 hw/hns/hns_roce_mr.c: the lowest free index, rotated left by 8, so that the variant is 0 and a key that has gone
// comes back at once.
#include "kernel/key_index.h"
#include "kernel/key_policy.h"

namespace mtsim::kernel {
namespace {

class LowestKeys : public KeyPolicy {
 public:
  explicit LowestKeys(const KeyPolicyOptions& options) : indices_(options.most_keys + 1) {}

  std::optional<KeyGrant> take(const KeyNeed&, Time) override {
    const auto index = indices_.take(0);
    if (!index) return std::nullopt;
    return KeyGrant{Key(*index, 0)};
  }
  bool keeps(const KeyGrant&) const override { return false; }
  void give_back(const KeyGrant& grant, Time) override { indices_.give_back(grant.key.index()); }

 private:
  IndexBitmap indices_;
};

const KeyPolicies::Entrant registered("lowest", "the lowest free index, variant 0: the same key comes back at once (hns)",
                                      [](const KeyPolicyOptions& options) { return std::make_unique<LowestKeys>(options); });

}  // namespace
}  // namespace mtsim::kernel

// erdma's keys, Linux 6.12 hw/erdma/erdma_verbs.c: the next free index after the one given last, variant 0.
#include "kernel/key_index.h"
#include "kernel/key_policy.h"

namespace mtsim::kernel {
namespace {

class SequentialKeys : public KeyPolicy {
 public:
  explicit SequentialKeys(const KeyPolicyOptions& options) : indices_(options.most_keys + 1) {}

  std::optional<KeyGrant> take(const KeyNeed&, Time) override {
    const auto index = indices_.take(next_);
    if (!index) return std::nullopt;
    next_ = *index + 1;
    return KeyGrant{Key(*index, 0)};
  }
  bool keeps(const KeyGrant&) const override { return false; }
  void give_back(const KeyGrant& grant, Time) override { indices_.give_back(grant.key.index()); }

 private:
  IndexBitmap indices_;
  std::uint64_t next_ = 1;
};

const KeyPolicies::Entrant registered("sequential", "indices in turn, variant 0 (erdma)",
                                      [](const KeyPolicyOptions& options) { return std::make_unique<SequentialKeys>(options); });

}  // namespace
}  // namespace mtsim::kernel

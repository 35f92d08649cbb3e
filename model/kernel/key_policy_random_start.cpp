// siw's keys, Linux 6.12 sw/siw/siw_mem.c: each time the first free of the 24-bit indices from a random one on; the variant is what the
// library asks for, and rdma-core's asks for 0.
#include <random>

#include "kernel/key_index.h"
#include "kernel/key_policy.h"

namespace mtsim::kernel {
namespace {

class RandomStartKeys : public KeyPolicy {
 public:
  explicit RandomStartKeys(const KeyPolicyOptions& options)
      : indices_(std::uint64_t{1} << 24), left_(options.most_keys), random_(options.seed) {}

  std::optional<KeyGrant> take(const KeyNeed&, Time) override {
    if (left_ == 0) return std::nullopt;
    const auto index = indices_.take(random_() & 0xff'ffff);
    if (!index) return std::nullopt;
    --left_;
    return KeyGrant{Key(*index, 0)};
  }
  bool keeps(const KeyGrant&) const override { return false; }
  std::uint64_t places() const override { return std::uint64_t{1} << 24; }
  void give_back(const KeyGrant& grant, Time) override {
    indices_.give_back(grant.key.index());
    ++left_;
  }

 private:
  IndexBitmap indices_;
  std::uint64_t left_;
  std::mt19937_64 random_;
};

const KeyPolicies::Entrant registered("random_start", "the first free index from a random one on, variant 0 (siw)",
                                      [](const KeyPolicyOptions& options) { return std::make_unique<RandomStartKeys>(options); });

}  // namespace
}  // namespace mtsim::kernel

// irdma's keys, Linux 6.12 hw/irdma/verbs.c, irdma_create_stag: the first free slot of a bitmap from a random one on, random bits above
// the slot number, and a random byte as variant.
#include <algorithm>
#include <bit>
#include <random>

#include "kernel/key_index.h"
#include "kernel/key_policy.h"

namespace mtsim::kernel {
namespace {

class RandomBitsKeys : public KeyPolicy {
 public:
  explicit RandomBitsKeys(const KeyPolicyOptions& options)
      : slots_(options.most_keys),
        slot_bits_(std::max(14, static_cast<int>(std::bit_width(options.most_keys - 1)))),
        random_(options.seed) {}

  std::optional<KeyGrant> take(const KeyNeed&, Time) override {
    const auto slot = slots_.take(random_());
    if (!slot) return std::nullopt;
    const std::uint32_t above = static_cast<std::uint32_t>(random_()) << slot_bits_ & 0xff'ffff;
    return KeyGrant{Key(above | *slot, static_cast<std::uint8_t>(random_()))};
  }
  bool keeps(const KeyGrant&) const override { return false; }
  void give_back(const KeyGrant& grant, Time) override { slots_.give_back(grant.key.index() & ((1u << slot_bits_) - 1)); }

 private:
  IndexBitmap slots_;
  int slot_bits_;  ///< the driver's bits lie above 14 bits at least (hw/irdma/hw.c, mrdrvbits)
  std::mt19937_64 random_;
};

const KeyPolicies::Entrant registered("random_bits", "a free slot from a random one on, random bits above it and as variant (irdma)",
                                      [](const KeyPolicyOptions& options) { return std::make_unique<RandomBitsKeys>(options); });

}  // namespace
}  // namespace mtsim::kernel

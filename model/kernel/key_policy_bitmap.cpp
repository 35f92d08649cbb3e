// mlx4's keys, Linux net/mlx4/alloc.c and mr.c: a bitmap of slots of which the lowest free one is taken, and a generation above the slot
// number that moves on with every slot freed, so that a key does not come back for long. The key is that number rotated left by 8.
#include <bit>
#include <set>

#include "kernel/key_policy.h"

namespace mtsim::kernel {
namespace {

class BitmapKeys : public KeyPolicy {
 public:
  explicit BitmapKeys(const KeyPolicyOptions& options) : slots_(static_cast<std::uint32_t>(std::bit_ceil(options.most_keys))) {}

  std::optional<KeyGrant> take(const KeyNeed&, Time) override {
    std::uint32_t slot = next_;
    if (!freed_.empty()) {
      slot = *freed_.begin();
      freed_.erase(freed_.begin());
    } else if (next_ < slots_) {
      ++next_;
    } else {
      // mlx4_bitmap_alloc looks from the beginning once more, under the next generation, before it gives up.
      generation_ += slots_;
      return std::nullopt;
    }
    return KeyGrant{Key(std::rotl(slot | generation_, 8))};
  }

  bool keeps(const KeyGrant&) const override { return false; }

  void give_back(const KeyGrant& grant, Time) override {
    freed_.insert(std::rotr(grant.key.raw, 8) & (slots_ - 1));
    generation_ += slots_;
  }

 private:
  std::uint32_t slots_;
  std::uint32_t next_ = 1;  ///< slot 0 is the driver's own
  std::uint32_t generation_ = 0;
  std::set<std::uint32_t> freed_;
};

const KeyPolicies::Entrant registered("bitmap", "lowest free slot of a bitmap under a generation that moves on (mlx4)",
                                      [](const KeyPolicyOptions& options) { return std::make_unique<BitmapKeys>(options); });

}  // namespace
}  // namespace mtsim::kernel

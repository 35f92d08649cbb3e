// rdmavt's keys (hfi1, qib), Linux 6.12 sw/rdmavt/mr.c, rvt_alloc_lkey: slots of a table in turn at the top of the key, below them a
// generation that moves on with each key, and a low byte of 0.
#include <algorithm>
#include <bit>

#include "kernel/key_index.h"
#include "kernel/key_policy.h"

namespace mtsim::kernel {
namespace {

class GenerationKeys : public KeyPolicy {
 public:
  explicit GenerationKeys(const KeyPolicyOptions& options)
      : slot_bits_(std::min(23, static_cast<int>(std::bit_width(options.most_keys)) - 1)), slots_(std::uint64_t{1} << slot_bits_) {}

  std::optional<KeyGrant> take(const KeyNeed&, Time) override {
    const auto slot = slots_.take(next_);
    if (!slot) return std::nullopt;
    next_ = *slot + 1;
    const std::uint32_t generations = 1u << (24 - slot_bits_);
    return KeyGrant{Key(*slot << (24 - slot_bits_) | (++generation_ & (generations - 1)), 0)};
  }
  bool keeps(const KeyGrant&) const override { return false; }
  std::uint64_t places() const override { return std::uint64_t{1} << 24; }
  void give_back(const KeyGrant& grant, Time) override { slots_.give_back(grant.key.index() >> (24 - slot_bits_)); }

 private:
  int slot_bits_;  ///< the table holds the greatest power of two up to the number of keys
  IndexBitmap slots_;
  std::uint32_t next_ = 1;  ///< slot 0 stands for key 0, which reaches all of memory
  std::uint32_t generation_ = 0;
};

const KeyPolicies::Entrant registered("generation", "slots in turn above a generation that moves on, low byte 0 (rdmavt)",
                                      [](const KeyPolicyOptions& options) { return std::make_unique<GenerationKeys>(options); });

}  // namespace
}  // namespace mtsim::kernel

// rxe's keys, Linux 6.12 sw/rxe/rxe_pool.c and rxe_mr.c: the index goes up from 1 and round, so that a key does not come back for long; the
// variant is a random byte. In life indices of memory windows lie above those of MRs (rkey_is_mw); here both share one row.
#include <random>

#include "kernel/key_index.h"
#include "kernel/key_policy.h"

namespace mtsim::kernel {
namespace {

class CyclicKeys : public KeyPolicy {
 public:
  explicit CyclicKeys(const KeyPolicyOptions& options) : indices_(options.most_keys + 1), random_(options.seed) {}

  std::optional<KeyGrant> take(const KeyNeed&, Time) override {
    const auto index = indices_.take(next_);
    if (!index) return std::nullopt;
    next_ = *index + 1;
    return KeyGrant{Key(*index, static_cast<std::uint8_t>(random_()))};
  }
  bool keeps(const KeyGrant&) const override { return false; }
  void give_back(const KeyGrant& grant, Time) override { indices_.give_back(grant.key.index()); }

 private:
  IndexBitmap indices_;
  std::uint64_t next_ = 1;
  std::mt19937_64 random_;
};

const KeyPolicies::Entrant registered("cyclic", "indices in turn, a random byte as variant (rxe)",
                                      [](const KeyPolicyOptions& options) { return std::make_unique<CyclicKeys>(options); });

}  // namespace
}  // namespace mtsim::kernel

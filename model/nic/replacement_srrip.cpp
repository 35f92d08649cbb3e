// Static RRIP: a line comes in as one for the far future and is proven by a hit, so that a scan does not sweep the cache.
#include "nic/rrip.h"

namespace mtsim::nic {
namespace {

class Srrip final : public ReplacementPolicy {
 public:
  explicit Srrip(const CacheShape& shape) : intervals_(shape) {}
  void used(Slot slot) override { intervals_.set(slot, Intervals::near); }
  void filled(Slot slot) override { intervals_.set(slot, Intervals::far); }
  Slot victim(const Candidates& candidates) override { return intervals_.victim(candidates); }

 private:
  Intervals intervals_;
};

const ReplacementPolicies::Entrant registered("srrip", "static RRIP of two bits: a line that was not used again goes first",
                                              [](const CacheShape& shape) { return std::make_unique<Srrip>(shape); });

}  // namespace
}  // namespace mtsim::nic

// Any line goes, drawn from the cache's own seed.
#include <bit>
#include <random>

#include "nic/replacement.h"

namespace mtsim::nic {
namespace {

class RandomLine final : public ReplacementPolicy {
 public:
  explicit RandomLine(const CacheShape& shape) : random_(shape.seed) {}
  void used(Slot) override {}
  void filled(Slot) override {}
  Slot victim(const Candidates& candidates) override {
    if (candidates.ways > 64) return candidates.slot(static_cast<std::uint32_t>(random_() % candidates.ways));
    const int allowed = std::popcount(candidates.allowed & all_ways >> (64 - candidates.ways));
    auto draw = random_() % static_cast<unsigned>(allowed);
    std::uint32_t way = 0;
    while (!candidates.allows(way) || draw-- != 0) ++way;
    return candidates.slot(way);
  }

 private:
  std::mt19937_64 random_;
};

const ReplacementPolicies::Entrant registered("random", "any line goes, drawn from the cache's seed",
                                              [](const CacheShape& shape) { return std::make_unique<RandomLine>(shape); });

}  // namespace
}  // namespace mtsim::nic

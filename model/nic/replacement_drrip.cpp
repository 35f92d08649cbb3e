// Dynamic RRIP: some sets fill as SRRIP does, some as BRRIP (nearly every line for the distant future, so that a part of a working set that
// is too large stays), and the others as those do that miss less.
#include "nic/rrip.h"

namespace mtsim::nic {
namespace {

class Drrip final : public ReplacementPolicy {
 public:
  explicit Drrip(const CacheShape& shape)
      : ways_(shape.ways),
        pairs_(std::min(most_pairs, shape.rows / 2)),
        stride_(pairs_ == 0 ? 1 : shape.rows / pairs_),
        intervals_(shape) {}

  void used(Slot slot) override { intervals_.set(slot, Intervals::near); }

  // Every fill follows a miss, so that fills tell which leaders miss more.
  void filled(Slot slot) override {
    const std::uint32_t set = slot / ways_, place = set % stride_;
    // A cache of one set has nothing to compare with.
    const bool duel = set / stride_ < pairs_;
    bool bimodal = selector_ > middle;
    if (duel && place == 0) {
      bimodal = false;
      selector_ = std::min(selector_ + 1, 2 * middle + 1);
    } else if (duel && place == stride_ - 1) {
      bimodal = true;
      selector_ = selector_ == 0 ? 0 : selector_ - 1;
    }
    const bool distant = bimodal && ++bimodal_fills_ % rare != 0;
    intervals_.set(slot, distant ? Intervals::distant : Intervals::far);
  }
  Slot victim(const Candidates& candidates) override { return intervals_.victim(candidates); }

 private:
  static constexpr std::uint32_t most_pairs = 32;  ///< of leaders, one of each kind
  static constexpr std::uint32_t middle = 511;     ///< of a selector of ten bits
  static constexpr std::uint32_t rare = 32;        ///< one BRRIP fill in so many is for the far future

  std::uint32_t ways_, pairs_, stride_;  ///< of each `stride_` sets the first and the last are a pair of leaders
  Intervals intervals_;
  std::uint32_t selector_ = middle, bimodal_fills_ = 0;
};

const ReplacementPolicies::Entrant registered("drrip", "dynamic RRIP: sets that duel choose how lines come in; not for a skewed index",
                                              [](const CacheShape& shape) -> std::unique_ptr<ReplacementPolicy> {
                                                if (shape.skewed) return nullptr;
                                                return std::make_unique<Drrip>(shape);
                                              });

}  // namespace
}  // namespace mtsim::nic

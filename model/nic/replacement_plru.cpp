// Tree-PLRU: a binary tree of bits for each set. Each bit points to the half that was not used last; the line at the end of the bits goes.
#include <bit>
#include <vector>

#include "nic/replacement.h"

namespace mtsim::nic {
namespace {

class TreePlru final : public ReplacementPolicy {
 public:
  explicit TreePlru(const CacheShape& shape)
      : ways_(shape.ways), leaves_(std::bit_ceil(shape.ways)), right_(std::uint64_t{shape.rows} * leaves_) {}

  void used(Slot slot) override { point_away(slot); }
  void filled(Slot slot) override { point_away(slot); }

  // Down from the root (node 1; the children of n are 2n and 2n + 1), turning aside where a half has nothing that may go.
  Slot victim(const Candidates& candidates) override {
    const std::uint64_t tree = std::uint64_t{candidates.first / ways_} * leaves_;
    std::uint32_t node = 1, first = 0;
    for (std::uint32_t half = leaves_ / 2; half != 0; half /= 2) {
      bool right = right_[tree + node];
      if (!any(candidates, right ? first + half : first, half)) right = !right;
      if (right) first += half;
      node = 2 * node + right;
    }
    return candidates.first + first;
  }

 private:
  void point_away(Slot slot) {
    const std::uint64_t tree = std::uint64_t{slot / ways_} * leaves_;
    for (std::uint32_t node = leaves_ + slot % ways_; node > 1; node /= 2) right_[tree + node / 2] = node % 2 == 0;
  }
  /// Whether any of `n` ways from `first` on may go.
  bool any(const Candidates& candidates, std::uint32_t first, std::uint32_t n) const {
    if (first >= ways_) return false;
    if (ways_ > 64) return true;
    return (candidates.allowed >> first & ((WayMask{1} << n) - 1) & (all_ways >> (64 - (ways_ - first)))) != 0;
  }

  std::uint32_t ways_, leaves_;
  std::vector<bool> right_;  ///< by set and node: the right half is the one to go
};

const ReplacementPolicies::Entrant registered("plru",
                                              "tree-PLRU: a tree of bits in each set leads to the line that goes; not for a skewed index",
                                              [](const CacheShape& shape) -> std::unique_ptr<ReplacementPolicy> {
                                                if (shape.skewed) return nullptr;
                                                return std::make_unique<TreePlru>(shape);
                                              });

}  // namespace
}  // namespace mtsim::nic

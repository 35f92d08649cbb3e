// The indices of keys that the firmware hands out: the one freed last is used first, as a free list does. What real firmware does is not
// published.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace mtsim::kernel {

class KeyIndices {
 public:
  explicit KeyIndices(std::uint64_t most) : most_(most) {}

  /// Index 0 is never given out: with variant 0 it would be key 0, which no MR has.
  std::optional<std::uint32_t> take() {
    if (!freed_.empty()) {
      const std::uint32_t index = freed_.back();
      freed_.pop_back();
      return index;
    }
    if (used_ == most_) return std::nullopt;
    return static_cast<std::uint32_t>(++used_);
  }
  void give_back(std::uint32_t index) { freed_.push_back(index); }

 private:
  std::uint64_t most_;
  std::uint64_t used_ = 0;
  std::vector<std::uint32_t> freed_;
};

}  // namespace mtsim::kernel

// Which indices of keys are in use.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

namespace mtsim::kernel {

/// The indices that firmware hands out: the one freed last is used first, as a free list does. What real firmware does is not published.
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

/// A bitmap as drivers keep one, of the indices from 0 up to `size`, exclusive. Index 0 is in use from the start.
class IndexBitmap {
 public:
  explicit IndexBitmap(std::uint64_t size) : size_(size), words_((size + 63) / 64) { words_[0] = 1; }

  /// Takes the first free index from `start` on, or else the first free of all.
  std::optional<std::uint32_t> take(std::uint64_t start) {
    auto found = find(start % size_);
    if (!found && start % size_ != 0) found = find(0);
    if (found) words_[*found / 64] |= bit(*found);
    return found;
  }
  void give_back(std::uint32_t index) { words_[index / 64] &= ~bit(index); }
  std::uint64_t size() const { return size_; }

 private:
  static std::uint64_t bit(std::uint64_t index) { return std::uint64_t{1} << index % 64; }
  std::optional<std::uint32_t> find(std::uint64_t start) const {
    std::uint64_t free = ~words_[start / 64] & (~std::uint64_t{0} << start % 64);
    for (std::uint64_t word = start / 64;; free = ~words_[word]) {
      if (free != 0) {
        const std::uint64_t index = word * 64 + static_cast<std::uint64_t>(std::countr_zero(free));
        return index < size_ ? std::optional(static_cast<std::uint32_t>(index)) : std::nullopt;
      }
      if (++word == words_.size()) return std::nullopt;
    }
  }

  std::uint64_t size_;
  std::vector<std::uint64_t> words_;
};

}  // namespace mtsim::kernel

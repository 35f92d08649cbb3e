// Random numbers that are the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace mtsim::random_programs {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}

  /// splitmix64
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// 0 to n - 1
  std::uint64_t below(std::uint64_t n) { return next() % n; }
  std::uint64_t from_to(std::uint64_t low, std::uint64_t high) { return low + below(high - low + 1); }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(list.size()))];
  }
  /// The place of one of the weights.
  std::size_t weighted(std::initializer_list<unsigned> weights) {
    std::uint64_t sum = 0;
    for (const unsigned w : weights) sum += w;
    std::uint64_t left = below(sum);
    std::size_t place = 0;
    for (const unsigned w : weights) {
      if (left < w) return place;
      left -= w;
      ++place;
    }
    return 0;
  }

 private:
  std::uint64_t state_;
};

}  // namespace mtsim::random_programs

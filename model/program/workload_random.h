// Random draws of workloads.
#pragma once

#include <cstdint>

namespace mtsim::program {

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). The same numbers on every machine,
/// which the standard library does not promise of its distributions.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// Below `n`, which is far smaller than 2^64: the bias of one multiplication is then beyond measuring.
  std::uint64_t below(std::uint64_t n) {
    using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(Wide{(*this)()} * n >> 64);
  }

 private:
  std::uint64_t state_;
};

}  // namespace mtsim::program

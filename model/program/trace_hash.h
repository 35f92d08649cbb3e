// A fast hash that tells one trace from another in reports.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace mtsim::program {

/// Takes a text line by line, eight bytes at a step: the reader is meant to spend its time on parsing.
class TraceHash {
 public:
  void add(std::string_view line) {
    mix(line.size());
    for (; line.size() >= 8; line.remove_prefix(8)) mix(word(line, 8));
    if (!line.empty()) mix(word(line, line.size()));
  }
  std::uint64_t value() const { return state_; }

 private:
  static std::uint64_t word(std::string_view text, std::size_t n) {
    std::uint64_t out = 0;
    std::memcpy(&out, text.data(), n);
    return out;
  }
  void mix(std::uint64_t word) {
    // An odd constant near 2^64 divided by the golden ratio spreads a change over the upper bits; the shift brings them down again.
    state_ = (state_ ^ word) * 0x9e3779b97f4a7c15;
    state_ ^= state_ >> 32;
  }
  std::uint64_t state_ = 0x6d74726163652031;
};

}  // namespace mtsim::program

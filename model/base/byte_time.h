// Time of n bytes at a fixed rate, for the data path: one multiplication. Rounds up, so that no link ever beats its rate.
#pragma once

#include "base/units.h"

namespace mtsim {

class ByteTime {
 public:
  constexpr ByteTime() = default;
  constexpr explicit ByteTime(BitRate rate)
      : per_byte_(static_cast<std::uint64_t>(((static_cast<unsigned __int128>(8'000'000'000'000) << shift) + rate.raw - 1) / rate.raw)) {}
  /// Lengths up to 4 GiB at 1 Gb/s and more.
  constexpr Time of(Bytes n) const { return Time(static_cast<std::int64_t>((n.raw * per_byte_ + ((1u << shift) - 1)) >> shift)); }

 private:
  static constexpr unsigned shift = 16;
  std::uint64_t per_byte_ = 0;
};

}  // namespace mtsim

// Types that carry meaning. None of them converts to another by accident: an I/O virtual address is not a physical one, a page count
// is not a byte count, and time is always integer picoseconds.
#pragma once

#include <compare>
#include <cstdint>

namespace mtsim {

/// A number with a meaning. Adds to and compares with its own kind only; `raw` is the plain value.
template <class Tag, class Rep>
struct Quantity {
  Rep raw{};

  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep value) : raw(value) {}

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.raw + b.raw); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.raw - b.raw); }
  friend constexpr Quantity operator*(Quantity a, Rep n) { return Quantity(a.raw * n); }
  friend constexpr Quantity operator*(Rep n, Quantity a) { return Quantity(n * a.raw); }
  friend constexpr Quantity operator/(Quantity a, Rep n) { return Quantity(a.raw / n); }
  friend constexpr Rep operator/(Quantity a, Quantity b) { return a.raw / b.raw; }
  friend constexpr Quantity operator%(Quantity a, Quantity b) { return Quantity(a.raw % b.raw); }
  constexpr Quantity& operator+=(Quantity o) {
    raw += o.raw;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity o) {
    raw -= o.raw;
    return *this;
  }
};

/// Simulated time or a span of it, in picoseconds.
using Time = Quantity<struct TimeTag, std::int64_t>;
using Bytes = Quantity<struct BytesTag, std::uint64_t>;
/// Base pages of 4 KiB.
using Pages = Quantity<struct PagesTag, std::uint64_t>;
using Cycles = Quantity<struct CyclesTag, std::int64_t>;
/// A data rate in bits a second.
using BitRate = Quantity<struct BitRateTag, std::uint64_t>;
/// A clock in hertz.
using Frequency = Quantity<struct FrequencyTag, std::uint64_t>;

/// An address in one address space. A distance between two addresses is Bytes.
template <class Tag>
struct Address {
  std::uint64_t raw{};

  constexpr Address() = default;
  constexpr explicit Address(std::uint64_t value) : raw(value) {}

  friend constexpr auto operator<=>(Address, Address) = default;
  friend constexpr Address operator+(Address a, Bytes n) { return Address(a.raw + n.raw); }
  friend constexpr Address operator-(Address a, Bytes n) { return Address(a.raw - n.raw); }
  friend constexpr Bytes operator-(Address a, Address b) { return Bytes(a.raw - b.raw); }
  constexpr Address& operator+=(Bytes n) {
    raw += n.raw;
    return *this;
  }
};

/// A virtual address of a process.
using Va = Address<struct VaTag>;
/// An address as work requests and packets name it: relative to what the MR was registered with.
using Iova = Address<struct IovaTag>;
/// A physical address of a host's memory.
using Pa = Address<struct PaTag>;

/// A memory key (mkey): 24-bit index, 8-bit variant.
struct Key {
  std::uint32_t raw{};

  constexpr Key() = default;
  constexpr explicit Key(std::uint32_t value) : raw(value) {}
  constexpr Key(std::uint32_t index, std::uint8_t variant) : raw(index << 8 | variant) {}
  constexpr std::uint32_t index() const { return raw >> 8; }
  constexpr std::uint8_t variant() const { return static_cast<std::uint8_t>(raw); }
  friend constexpr auto operator<=>(Key, Key) = default;
};

inline constexpr Bytes page_bytes{4096};

constexpr Time ps(std::int64_t n) { return Time(n); }
constexpr Time ns(std::int64_t n) { return Time(n * 1'000); }
constexpr Time us(std::int64_t n) { return Time(n * 1'000'000); }
constexpr Bytes KiB(std::uint64_t n) { return Bytes(n << 10); }
constexpr Bytes MiB(std::uint64_t n) { return Bytes(n << 20); }
constexpr Bytes GiB(std::uint64_t n) { return Bytes(n << 30); }

constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }
constexpr std::uint64_t round_down(std::uint64_t a, std::uint64_t unit) { return a - a % unit; }
constexpr std::uint64_t round_up(std::uint64_t a, std::uint64_t unit) { return ceil_div(a, unit) * unit; }
/// Base pages that the bytes [offset, offset+length) of a mapping touch: ceil((offset mod 4 KiB + length) / 4 KiB).
constexpr Pages pages_spanned(std::uint64_t offset, Bytes length) {
  return Pages(ceil_div(offset % page_bytes.raw + length.raw, page_bytes.raw));
}

/// Time that `n` bytes take at `rate`, rounded up to a picosecond.
constexpr Time transfer_time(Bytes n, BitRate rate) {
  using Wide = unsigned __int128;
  return Time(static_cast<std::int64_t>((Wide(n.raw) * 8 * 1'000'000'000'000 + rate.raw - 1) / rate.raw));
}

/// A clock: integer period, first edge at time 0. Units act on their own clock's edge, rounding up.
class Clock {
 public:
  constexpr Clock() = default;
  constexpr explicit Clock(Frequency f)
      : period_(static_cast<std::int64_t>((1'000'000'000'000 + f.raw / 2) / f.raw)),
        inverse_(~std::uint64_t{0} / static_cast<std::uint64_t>(period_)) {}
  constexpr Time period() const { return Time(period_); }
  /// The first edge at or after `t`.
  constexpr Time edge(Time t) const {
    // By the inverse: a division is the dearest instruction of the data path. The quotient may come out one too small.
    const auto value = static_cast<std::uint64_t>(t.raw + period_ - 1);
    const auto quotient = static_cast<std::int64_t>(static_cast<unsigned __int128>(value) * inverse_ >> 64);
    const std::int64_t edge = quotient * period_;
    return Time(static_cast<std::int64_t>(value) - edge >= period_ ? edge + period_ : edge);
  }
  constexpr Time span(Cycles n) const { return Time(n.raw * period_); }

 private:
  std::int64_t period_ = 1'000;
  std::uint64_t inverse_ = ~std::uint64_t{0} / 1'000;  ///< 2^64 / period, rounded down
};

}  // namespace mtsim

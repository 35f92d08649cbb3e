#include "results/human.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

namespace mtsim::results::human {
namespace {

std::string three_digits(double v) {
  const double size = std::abs(v);
  // The limits are those at which rounding would give a digit more.
  const int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", v, decimals);
}

/// `v` in the largest of the units, each 1000 times the one before, in which it is at least 1.
std::string scaled(double v, std::span<const char* const> units) {
  std::size_t unit = 0;
  for (; unit + 1 < units.size() && std::abs(v) >= 999.5; ++unit) v /= 1000;
  const bool whole = unit == 0 && v == std::floor(v);
  const std::string digits = whole ? fmt::format("{:.0f}", v) : three_digits(v);
  const std::string_view name = units[unit];
  return name.empty() || name.front() == '/' ? fmt::format("{}{}", digits, name) : fmt::format("{} {}", digits, name);
}

}  // namespace

std::string time_ns(double ns) {
  static constexpr std::array units{"ps", "ns", "us", "ms", "s"};
  return ns == 0 ? "0 ns" : scaled(ns * 1000, units);
}

std::string time(Time t) { return time_ns(static_cast<double>(t.raw) / 1e3); }

std::string bytes(Bytes n) {
  static constexpr std::array units{"B", "KB", "MB", "GB", "TB", "PB"};
  return scaled(static_cast<double>(n.raw), units);
}

std::string bit_rate(double bits_per_s) {
  static constexpr std::array units{"b/s", "Kb/s", "Mb/s", "Gb/s", "Tb/s"};
  return scaled(bits_per_s, units);
}

std::string byte_rate(double bytes_per_s) {
  static constexpr std::array units{"B/s", "KB/s", "MB/s", "GB/s", "TB/s"};
  return scaled(bytes_per_s, units);
}

std::string rate(double per_s) {
  static constexpr std::array units{"/s", "K/s", "M/s", "G/s"};
  return scaled(per_s, units);
}

std::string count(std::uint64_t n) {
  if (n >= 10'000'000) {
    static constexpr std::array units{"", "K", "M", "G", "T", "P"};
    return scaled(static_cast<double>(n), units);
  }
  std::string digits = fmt::format("{}", n);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string bar(double share, unsigned width) {
  return std::string(static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * width)), '#');
}

std::string cut(const std::string& text, std::size_t width) { return text.size() <= width ? text : text.substr(0, width - 2) + ".."; }

std::string killed(const std::string& name, std::uint64_t processes) {
  if (processes <= 1) return "the process";
  return fmt::format("{}, the largest of {} processes", name.empty() ? "the first one" : name, processes);
}

}  // namespace mtsim::results::human

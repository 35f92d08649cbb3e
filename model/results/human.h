// Figures as a person reads them: three digits and the unit that suits.
#pragma once

#include <cstdint>
#include <string>

#include "base/units.h"

namespace mtsim::results::human {

/// `0 ns`, `850 ps`, `2.31 us`, `1.50 s`.
std::string time_ns(double ns);
std::string time(Time);
/// Powers of 1000: `64 B`, `4.10 KB`, `67.1 MB`.
std::string bytes(Bytes);
/// `97.7 Gb/s`.
std::string bit_rate(double bits_per_s);
/// `12.5 GB/s`.
std::string byte_rate(double bytes_per_s);
/// `2.98 M/s`.
std::string rate(double per_s);
/// All digits in groups of three up to ten million (`16,384`), then three digits (`12.3 M`).
std::string count(std::uint64_t);
/// `35.1 %` of a share from 0 to 1.
std::string percent(double share);
/// `share` of `width` characters of '#', to the nearest.
std::string bar(double share, unsigned width);
/// `text` cut to `width` characters, the cut shown by two dots.
std::string cut(const std::string& text, std::size_t width);
/// Whom the OOM killer took, of so many processes of a host: `name` is empty for the first of them.
std::string killed(const std::string& name, std::uint64_t processes);

}  // namespace mtsim::results::human

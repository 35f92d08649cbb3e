#include "base/quantity_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

namespace mtsim::text {
namespace {

using Wide = unsigned __int128;

struct Unit {
  std::string_view name;
  std::uint64_t scale;
};

/// A family of units: smallest first, which is also the finest value that can be held.
struct Units {
  std::span<const Unit> known;
  std::string_view allowed;
  std::uint64_t most;
};

constexpr Unit time_units[] = {{"ps", 1}, {"ns", 1'000}, {"us", 1'000'000}, {"ms", 1'000'000'000}, {"s", 1'000'000'000'000}};
constexpr Unit byte_units[] = {{"B", 1},
                               {"KiB", std::uint64_t{1} << 10},
                               {"MiB", std::uint64_t{1} << 20},
                               {"GiB", std::uint64_t{1} << 30},
                               {"TiB", std::uint64_t{1} << 40},
                               {"KB", 1'000},
                               {"MB", 1'000'000},
                               {"GB", 1'000'000'000},
                               {"TB", 1'000'000'000'000}};
constexpr Unit rate_units[] = {{"b/s", 1}, {"Kb/s", 1'000}, {"Mb/s", 1'000'000}, {"Gb/s", 1'000'000'000}, {"Tb/s", 1'000'000'000'000}};
constexpr Unit frequency_units[] = {{"Hz", 1}, {"kHz", 1'000}, {"MHz", 1'000'000}, {"GHz", 1'000'000'000}};

constexpr Units times{time_units, "ps, ns, us, ms or s", std::numeric_limits<std::int64_t>::max()};
constexpr Units sizes{byte_units, "B, KiB, MiB, GiB, TiB, KB, MB, GB or TB", std::numeric_limits<std::uint64_t>::max()};
constexpr Units rates{rate_units, "b/s, Kb/s, Mb/s, Gb/s or Tb/s (bits, not bytes)", std::numeric_limits<std::uint64_t>::max()};
constexpr Units frequencies{frequency_units, "Hz, kHz, MHz or GHz", std::numeric_limits<std::uint64_t>::max()};

/// Fraction digits kept: 10^18 times the largest unit times the largest whole part still fits 128 bits when checked in two steps.
constexpr std::size_t most_fraction_digits = 18;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view take_digits(std::string_view& rest) {
  const auto end = std::find_if_not(rest.begin(), rest.end(), is_digit);
  const auto digits = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  rest.remove_prefix(digits.size());
  return digits;
}

/// A decimal number times a unit, exactly; see parse() for what is returned.
std::string parse_scaled(const std::string& text, const Units& units, std::uint64_t& out) {
  std::string_view rest = text;
  if (rest.starts_with('-')) return "must not be negative";
  std::string_view whole = take_digits(rest);
  std::string_view fraction;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    fraction = take_digits(rest);
    if (fraction.empty()) whole = {};
  }
  if (whole.empty()) return fmt::format("is not a number with a unit ({})", units.allowed);
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (rest.empty()) return fmt::format("needs a unit: {}", units.allowed);

  const auto unit = std::find_if(units.known.begin(), units.known.end(), [&](const Unit& u) { return u.name == rest; });
  if (unit == units.known.end()) {
    constexpr std::string_view short_forms = "KkMGTkmgt";
    if (&units == &sizes && rest.size() == 1 && short_forms.find(rest) != std::string_view::npos)
      return fmt::format("is ambiguous: write {0}iB (powers of 1024) or {0}B (powers of 1000)", static_cast<char>(std::toupper(rest[0])));
    return fmt::format("has an unknown unit; allowed: {}", units.allowed);
  }

  const std::string too_large = fmt::format("is too large: at most {}{}", units.most, units.known.front().name);
  Wide value = 0;
  for (const char c : whole) {
    value = value * 10 + static_cast<unsigned>(c - '0');
    if (value > units.most) return too_large;
  }
  value *= unit->scale;

  while (fraction.ends_with('0')) fraction.remove_suffix(1);
  const std::string too_fine = fmt::format("is not a whole number of {}, the finest unit", units.known.front().name);
  if (fraction.size() > most_fraction_digits) return too_fine;
  Wide part = 0, ten = 1;
  for (const char c : fraction) {
    part = part * 10 + static_cast<unsigned>(c - '0');
    ten *= 10;
  }
  part *= unit->scale;
  if (part % ten != 0) return too_fine;
  value += part / ten;
  if (value > units.most) return too_large;
  out = static_cast<std::uint64_t>(value);
  return {};
}

/// `raw` in `unit`, or an empty string where that takes more than three decimals.
std::string shown_in(std::uint64_t raw, const Unit& unit) {
  const std::uint64_t rest = raw % unit.scale;
  const Wide thousandths = Wide(rest) * 1000;
  if (thousandths % unit.scale != 0) return {};
  std::string digits = std::to_string(raw / unit.scale);
  if (rest != 0) {
    digits += fmt::format(".{:03}", static_cast<unsigned>(thousandths / unit.scale));
    digits.erase(digits.find_last_not_of('0') + 1);
  }
  return digits.append(unit.name);
}

std::string shortest(std::uint64_t raw, const Units& units) {
  std::string best = shown_in(raw, units.known.front());
  for (const Unit& unit : units.known) {
    const std::string candidate = shown_in(raw, unit);
    if (!candidate.empty() && candidate.size() < best.size()) best = candidate;
  }
  return best;
}

/// Null for a unit of another kind, such as "count".
const Units* find_units(std::string_view unit) {
  if (unit == "time") return &times;
  if (unit == "bytes") return &sizes;
  if (unit == "rate") return &rates;
  return unit == "frequency" ? &frequencies : nullptr;
}

template <class Q>
std::string parse_quantity(const std::string& text, const Units& units, Q& out) {
  std::uint64_t raw = 0;
  std::string wrong = parse_scaled(text, units, raw);
  if (wrong.empty()) out = Q(static_cast<decltype(Q{}.raw)>(raw));
  return wrong;
}

template <class Integer>
std::string parse_count(const std::string& text, Integer& out) {
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
  Integer value{};
  if (!digits || std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc{})
    return fmt::format("is not a whole number from 0 to {}", std::numeric_limits<Integer>::max());
  out = value;
  return {};
}

}  // namespace

std::string parse(const std::string& text, Time& out) { return parse_quantity(text, times, out); }
std::string parse(const std::string& text, Bytes& out) { return parse_quantity(text, sizes, out); }
std::string parse(const std::string& text, BitRate& out) { return parse_quantity(text, rates, out); }
std::string parse(const std::string& text, Frequency& out) { return parse_quantity(text, frequencies, out); }
std::string parse(const std::string& text, std::uint32_t& out) { return parse_count(text, out); }
std::string parse(const std::string& text, std::uint64_t& out) { return parse_count(text, out); }

std::string parse(const std::string& text, double& out) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value)) return "is not a number such as 0.25";
  out = value;
  return {};
}

std::string parse(const std::string& text, bool& out) {
  if (text != "true" && text != "false") return "is not true or false";
  out = text == "true";
  return {};
}

std::string parse(const std::string& text, std::string& out) {
  out = text;
  return {};
}

std::string show(Time t) {
  // The magnitude is taken unsigned so that the most negative value has one.
  const auto raw = static_cast<std::uint64_t>(t.raw);
  return t.raw < 0 ? fmt::format("-{}", shortest(0 - raw, times)) : shortest(raw, times);
}
std::string show(Bytes n) { return shortest(n.raw, sizes); }
std::string show(BitRate r) { return shortest(r.raw, rates); }
std::string show(Frequency f) { return shortest(f.raw, frequencies); }

std::string pattern_of(std::string_view unit) {
  if (unit == "count") return "^[0-9]+$";
  if (unit == "number") return R"(^-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$)";
  const Units* units = find_units(unit);
  if (units == nullptr) return {};
  std::string names;
  for (const Unit& known : units->known) names.append(names.empty() ? "" : "|").append(known.name);
  return fmt::format(R"(^[0-9]+(\.[0-9]+)? *({})$)", names);
}

std::string units_of(std::string_view unit) {
  const Units* units = find_units(unit);
  return units == nullptr ? "" : std::string(units->allowed);
}

}  // namespace mtsim::text

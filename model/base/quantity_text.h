// Values with units, from and to text: `200ns`, `64KiB`, `400Gb/s`, `1.5GHz`, `16`, `0.25`, `true`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/units.h"

namespace mtsim::text {

/// Each parses the whole text into `out`. They return an empty string, or what is wrong and what is allowed
/// ("needs a unit: ps, ns, us, ms or s").
std::string parse(const std::string&, Time& out);
std::string parse(const std::string&, Bytes& out);      ///< B, KiB, MiB, GiB, TiB, KB, MB, GB, TB; `K` alone is refused as ambiguous
std::string parse(const std::string&, BitRate& out);    ///< b/s, Kb/s, Mb/s, Gb/s, Tb/s (powers of 1000)
std::string parse(const std::string&, Frequency& out);  ///< Hz, kHz, MHz, GHz
std::string parse(const std::string&, std::uint32_t& out);
std::string parse(const std::string&, std::uint64_t& out);
std::string parse(const std::string&, double& out);
std::string parse(const std::string&, bool& out);  ///< true or false
std::string parse(const std::string&, std::string& out);

/// The shortest exact text of a value, in a form that parses back to it.
std::string show(Time);
std::string show(Bytes);
std::string show(BitRate);
std::string show(Frequency);

/// The regular expression (ECMA 262, anchored) of the texts that parse() takes for `unit`, a word of unit_of(); empty where the form of
/// the text says nothing ("bool", "text") or the unit is unknown.
std::string pattern_of(std::string_view unit);
/// The units that such a text may have, for people: "ps, ns, us, ms or s"; empty where it has none.
std::string units_of(std::string_view unit);

template <class T>
constexpr const char* unit_of();
template <>
constexpr const char* unit_of<Time>() {
  return "time";
}
template <>
constexpr const char* unit_of<Bytes>() {
  return "bytes";
}
template <>
constexpr const char* unit_of<BitRate>() {
  return "rate";
}
template <>
constexpr const char* unit_of<Frequency>() {
  return "frequency";
}
template <>
constexpr const char* unit_of<std::uint32_t>() {
  return "count";
}
template <>
constexpr const char* unit_of<std::uint64_t>() {
  return "count";
}
template <>
constexpr const char* unit_of<double>() {
  return "number";
}
template <>
constexpr const char* unit_of<bool>() {
  return "bool";
}
template <>
constexpr const char* unit_of<std::string>() {
  return "text";
}

}  // namespace mtsim::text

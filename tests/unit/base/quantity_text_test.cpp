// Values with units: is the number exact, and is a wrong text refused with a reason?
#include "base/quantity_text.h"

#include <catch2/catch.hpp>

#include <limits>
#include <regex>

namespace mtsim::text {
namespace {

template <class T>
T parsed(const std::string& text) {
  T value{};
  const std::string wrong = parse(text, value);
  INFO(text << ": " << wrong);
  CHECK(wrong.empty());
  return value;
}

template <class T>
std::string refused(const std::string& text) {
  T value{};
  return parse(text, value);
}

TEST_CASE("times are exact picoseconds") {
  CHECK(parsed<Time>("200ns") == ns(200));
  CHECK(parsed<Time>("1.5us") == ps(1'500'000));
  CHECK(parsed<Time>("0.000000000001s") == ps(1));
  CHECK(parsed<Time>("1.50000000000000000000000s") == ps(1'500'000'000'000));
  CHECK(parsed<Time>("0ps") == ps(0));
  CHECK(parsed<Time>("12 ns") == ns(12));
  CHECK(parsed<Time>("9223372036854775807ps").raw == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("what is not a time is refused with a reason") {
  CHECK(refused<Time>("200") == "needs a unit: ps, ns, us, ms or s");
  CHECK(refused<Time>("0.5ps") == "is not a whole number of ps, the finest unit");
  CHECK(refused<Time>("0.0000000000000000001s") == "is not a whole number of ps, the finest unit");
  CHECK(refused<Time>("9223372036854775808ps") == "is too large: at most 9223372036854775807ps");
  CHECK(refused<Time>("9999999999999999999999999999999999999999s") == "is too large: at most 9223372036854775807ps");
  CHECK(refused<Time>("9223372036854775.808ns") == "is too large: at most 9223372036854775807ps");
  CHECK(refused<Time>("-3ns") == "must not be negative");
  CHECK(refused<Time>("3ns later") == "has an unknown unit; allowed: ps, ns, us, ms or s");
  CHECK(refused<Time>("fast") == "is not a number with a unit (ps, ns, us, ms or s)");
  CHECK(refused<Time>("") == "is not a number with a unit (ps, ns, us, ms or s)");
  CHECK(refused<Time>("1.ns") == "is not a number with a unit (ps, ns, us, ms or s)");
  CHECK(refused<Time>(".5ns") == "is not a number with a unit (ps, ns, us, ms or s)");
  CHECK(refused<Time>("1e3ns") == "has an unknown unit; allowed: ps, ns, us, ms or s");
}

TEST_CASE("sizes tell powers of 1024 from powers of 1000") {
  CHECK(parsed<Bytes>("64KiB") == KiB(64));
  CHECK(parsed<Bytes>("64KB") == Bytes(64'000));
  CHECK(parsed<Bytes>("1.5MiB") == Bytes(1'572'864));
  CHECK(parsed<Bytes>("256B") == Bytes(256));
  CHECK(parsed<Bytes>("16777215.5TiB").raw == std::numeric_limits<std::uint64_t>::max() - (std::uint64_t{1} << 39) + 1);
  CHECK(refused<Bytes>("64K") == "is ambiguous: write KiB (powers of 1024) or KB (powers of 1000)");
  CHECK(refused<Bytes>("64k") == "is ambiguous: write KiB (powers of 1024) or KB (powers of 1000)");
  CHECK(refused<Bytes>("64kib") == "has an unknown unit; allowed: B, KiB, MiB, GiB, TiB, KB, MB, GB or TB");
  CHECK(refused<Bytes>("0.3KiB") == "is not a whole number of B, the finest unit");
  CHECK(refused<Bytes>("16777216TiB") == "is too large: at most 18446744073709551615B");
}

TEST_CASE("rates are in bits and clocks in hertz") {
  CHECK(parsed<BitRate>("97.7Gb/s") == BitRate(97'700'000'000));
  CHECK(parsed<Frequency>("1.5GHz") == Frequency(1'500'000'000));
  CHECK(refused<BitRate>("12GB/s") == "has an unknown unit; allowed: b/s, Kb/s, Mb/s, Gb/s or Tb/s (bits, not bytes)");
  CHECK(refused<Frequency>("3ghz") == "has an unknown unit; allowed: Hz, kHz, MHz or GHz");
}

TEST_CASE("counts, numbers and truth values") {
  CHECK(parsed<std::uint32_t>("4294967295") == 4'294'967'295u);
  CHECK(parsed<std::uint64_t>("18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
  CHECK(parsed<double>("-0.25") == -0.25);
  CHECK(parsed<bool>("true"));
  CHECK(refused<std::uint32_t>("4294967296") == "is not a whole number from 0 to 4294967295");
  CHECK(refused<std::uint32_t>("-1") == "is not a whole number from 0 to 4294967295");
  CHECK(refused<std::uint32_t>("0x10") == "is not a whole number from 0 to 4294967295");
  CHECK(refused<std::uint32_t>("1.0") == "is not a whole number from 0 to 4294967295");
  CHECK(refused<double>("nan") == "is not a number such as 0.25");
  CHECK(refused<double>("1e999") == "is not a number such as 0.25");
  CHECK(refused<double>("0.5x") == "is not a number such as 0.25");
  CHECK(refused<bool>("yes") == "is not true or false");
}

TEST_CASE("a refused text leaves the value alone") {
  Time value = ns(7);
  CHECK_FALSE(parse("12", value).empty());
  CHECK(value == ns(7));
}

TEST_CASE("values are shown by the shortest exact text, which parses back") {
  CHECK(show(ps(1'500'000)) == "1.5us");
  CHECK(show(ps(1'234'567)) == "1234567ps");
  CHECK(show(ns(100)) == "100ns");
  CHECK(show(ps(0)) == "0s");
  CHECK(show(ps(-1'500)) == "-1.5ns");
  CHECK(show(ps(std::numeric_limits<std::int64_t>::min())) == "-9223372036854775808ps");
  CHECK(show(Bytes(4096)) == "4KiB");
  CHECK(show(Bytes(64'000)) == "64KB");
  CHECK(show(BitRate(97'700'000'000)) == "97.7Gb/s");
  CHECK(show(Frequency(1'500'000'000)) == "1.5GHz");
  for (std::int64_t raw = 1; raw < std::numeric_limits<std::int64_t>::max() / 7; raw = raw * 7 + 3) {
    CHECK(parsed<Time>(show(ps(raw))) == ps(raw));
    CHECK(parsed<Bytes>(show(Bytes(static_cast<std::uint64_t>(raw)))).raw == static_cast<std::uint64_t>(raw));
  }
}

template <class T>
void expect_pattern_agrees(const std::vector<std::string>& texts) {
  const std::regex pattern(pattern_of(unit_of<T>()));
  for (const std::string& text : texts) {
    INFO(text);
    T value{};
    CHECK(std::regex_search(text, pattern) == parse(text, value).empty());
  }
}

TEST_CASE("the pattern of a unit takes what its parser takes") {
  const std::vector<std::string> numbers{"",  "0",   "7",    "007", "-1",   "+1",  " 1",  "1 ",    "1.5",   "1.",  ".5",
                                         ".", "1e3", "1E-2", "1e",  "0x10", "nan", "inf", "1,000", "1_000", "five"};
  expect_pattern_agrees<std::uint64_t>(numbers);
  expect_pattern_agrees<double>(numbers);
  const std::vector<std::string> quantities{"1s",      "1 ns", "1  us", "1.5ms",   "1.ns",  ".5ns",   "-1ns", "1Ns",   "1n",
                                            "ns",      "1 s ", "1ps1",  "64KiB",   "64kib", "64K",    "1B",   "1.5MB", "2TiB",
                                            "100Gb/s", "1b/s", "1GB/s", "100Gbps", "1Hz",   "2.5GHz", "1ghz", "1 kHz"};
  expect_pattern_agrees<Time>(quantities);
  expect_pattern_agrees<Bytes>(quantities);
  expect_pattern_agrees<BitRate>(quantities);
  expect_pattern_agrees<Frequency>(quantities);
  CHECK(units_of("frequency") == "Hz, kHz, MHz or GHz");
  CHECK(pattern_of("text").empty());
  CHECK(units_of("count").empty());
}

}  // namespace
}  // namespace mtsim::text

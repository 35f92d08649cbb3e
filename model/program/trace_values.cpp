#include "program/trace_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.h"

namespace mtsim::program {
namespace {

constexpr bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Powers of 1024, by letter; -1 for another letter.
constexpr int unit_shift(char letter) {
  switch (letter) {
    case 'K':
      return 10;
    case 'M':
      return 20;
    case 'G':
      return 30;
    case 'T':
      return 40;
    default:
      return -1;
  }
}

std::string not_a_name(std::string_view text) {
  return fmt::format("{} is not a name: letters, digits and _, not a digit first", quote(text));
}

}  // namespace

Space space_of(Wanted wanted) {
  switch (wanted) {
    case Wanted::pd:
      return Space::pd;
    case Wanted::cq:
      return Space::cq;
    case Wanted::qp:
      return Space::qp;
    case Wanted::srq:
      return Space::srq;
    default:
      return Space::memory;
  }
}

bool is_name(std::string_view text) {
  return !text.empty() && starts_name(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) { return starts_name(c) || is_digit(c); });
}

std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t at = position(text, separator);
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

bool ValueReader::number(std::string_view text, std::uint64_t& out, Range range) {
  // Nearly all numbers are short and plain; so many digits cannot overflow, which makes this several times faster than the general way.
  constexpr std::size_t safe_digits = 19;
  std::uint64_t plain = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && is_digit(text[digits]); ++digits) plain = plain * 10 + static_cast<unsigned char>(text[digits] - '0');
  if (digits > 0 && digits == text.size() && digits <= safe_digits && plain >= range.low && plain <= range.high) [[likely]] {
    out = plain;
    return true;
  }
  const bool hex = text.starts_with("0x");
  const char* const first = text.data() + (hex ? 2 : 0);
  const char* const last = text.data() + text.size();
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(first, last, value, hex ? 16 : 10);
  if (stop == first) return fail(text, [&] { return fmt::format("{} is not a number (decimal, or hexadecimal with 0x)", quote(text)); });
  bool too_large = error == std::errc::result_out_of_range;
  if (stop != last) {
    std::string_view rest(stop, static_cast<std::size_t>(last - stop));
    const int shift = unit_shift(rest[0]);
    const std::string_view after = rest.substr(1);
    if (shift < 0 || !(after.empty() || after == "B" || after == "iB"))
      return fail(text, [&] {
        return fmt::format("{} is not a number: {} follows the digits{}", quote(text), quote(rest),
                           range.units ? "; units are K, M, G and T, with or without iB or B" : "");
      });
    if (!range.units)
      return fail(text, [&] { return fmt::format("{}: a unit stands only at lengths, offsets, alignments and limits", quote(text)); });
    too_large = too_large || value > (std::numeric_limits<std::uint64_t>::max() >> shift);
    value <<= shift;
  }
  if (too_large || value < range.low || value > range.high)
    return fail(text, [&] { return fmt::format("{} is out of range: {} to {}", quote(text), range.low, range.high); });
  out = value;
  return true;
}

bool ValueReader::flag(std::string_view text, bool& out) {
  if (text != "0" && text != "1") return fail(text, [&] { return fmt::format("{} must be 0 or 1", quote(text)); });
  out = text == "1";
  return true;
}

bool ValueReader::word(std::string_view text, const Words& words, std::string_view what, int& out) {
  out = words.find(text);
  return out >= 0 || fail(text, [&] {
           return fmt::format("{} is not {}: {}{}", quote(text), what, words.choices(), did_you_mean(text, words.list()));
         });
}

bool ValueReader::host_named(std::string_view text, std::uint32_t& out) {
  if (const auto known = names_.find_host(text)) {
    out = *known;
    return true;
  }
  if (!is_name(text)) return fail(text, [&] { return not_a_name(text); });
  if (!growing_) return fail(text, [&] { return fmt::format("{} was not there when the trace was checked", quote(text)); });
  out = growing_->host(text);
  return true;
}

bool ValueReader::intern(std::string_view text, std::uint32_t host, Wanted wanted, NameId& out) {
  out = names_.find_object(host, text, space_of(wanted));
  if (out == 0) {
    if (!is_name(text)) return fail(text, [&] { return not_a_name(text); });
    if (!growing_) return fail(text, [&] { return fmt::format("{} was not there when the trace was checked", quote(text)); });
    out = growing_->object(host, text, space_of(wanted));
  }
  references_.push_back({out, wanted, column(text)});
  return true;
}

bool ValueReader::own(std::string_view text, Wanted wanted, NameId& out) {
  if (const std::size_t dot = position(text, '.'); dot < text.size()) {
    std::uint32_t host = 0;
    if (!host_named(text.substr(0, dot), host)) return false;
    if (host != host_)
      return fail(text, [&] { return fmt::format("{} is another host's: only its memory and its QPs can be named", quote(text)); });
    text.remove_prefix(dot + 1);
  }
  return intern(text, host_, wanted, out);
}

bool ValueReader::any(std::string_view text, Wanted wanted, NameId& out) {
  std::uint32_t host = host_;
  if (const std::size_t dot = position(text, '.'); dot < text.size()) {
    if (!host_named(text.substr(0, dot), host)) return false;
    text.remove_prefix(dot + 1);
  }
  return intern(text, host, wanted, out);
}

bool ValueReader::peer(std::string_view text, NameId& out) {
  if (position(text, '.') == text.size()) return fail(text, [&] { return fmt::format("{} must name a host too: HOST.QP", quote(text)); });
  return any(text, Wanted::qp, out);
}

bool ValueReader::address(std::string_view text, AddressRef& out, Wanted wanted) {
  if (!text.empty() && is_digit(text[0])) {
    if (text != "0" && !text.starts_with("0x"))
      return fail(text, [&] {
        return fmt::format("{} is not an address: a name, optionally +N or -N, or 0x and hexadecimal digits", quote(text));
      });
    out.object = 0;
    return number(text, out.offset);
  }
  const std::size_t sign = position(text, '+', '-');
  if (!any(text.substr(0, sign), wanted, out.object)) return false;
  out.offset = 0;
  if (sign == text.size()) return true;
  if (!number(text.substr(sign + 1), out.offset, {.units = true})) return false;
  if (text[sign] == '-') out.offset = 0 - out.offset;
  return true;
}

bool ValueReader::key(std::string_view text, KeyRef& out) {
  constexpr std::uint64_t highest = std::numeric_limits<std::uint32_t>::max();
  out = KeyRef{};
  if (!text.empty() && is_digit(text[0])) {
    if (text != "0" && !text.starts_with("0x"))
      return fail(text,
                  [&] { return fmt::format("{} is not a key: the name of an MR or a window, or 0x and hexadecimal digits", quote(text)); });
    out.form = KeyRef::Form::raw;
    return number(text, out.raw, {.high = highest});
  }
  const std::size_t change = position(text, '+', '^');
  std::string_view name = text.substr(0, change);
  out.form = KeyRef::Form::of_place;
  Wanted wanted = Wanted::key;
  for (const auto& [suffix, form] :
       {std::pair{std::string_view(".lkey"), KeyRef::Form::lkey}, {std::string_view(".rkey"), KeyRef::Form::rkey}})
    if (name.ends_with(suffix)) {
      out.form = form;
      wanted = Wanted::region;
      name.remove_suffix(suffix.size());
    }
  if (!any(name, wanted, out.object)) return false;
  if (change == text.size()) return true;
  return number(text.substr(change + 1), text[change] == '+' ? out.add : out.flip, {.high = highest});
}

bool ValueReader::remote(std::string_view text, AddressRef& out, KeyRef& to_key, bool may_omit_key) {
  const std::size_t colon = position(text, ':');
  const std::string_view where = text.substr(0, colon);
  const bool omitted = colon == text.size();
  if (!address(where, out, omitted && !may_omit_key ? Wanted::keyed_address : Wanted::address)) return false;
  if (!omitted) return key(text.substr(colon + 1), to_key);
  to_key = KeyRef{};
  if (out.object == 0 && !may_omit_key) return fail(where, [&] { return fmt::format("{} needs a key: ADDR:KEY", quote(where)); });
  return true;
}

bool ValueReader::sge(std::string_view text, SgeRef& out, bool may_omit_key) {
  const std::string_view whole = text;
  const std::string_view where = take_until(text, ':');
  const bool has_length = where.size() < whole.size();
  const std::string_view length = take_until(text, ':');
  if (!has_length) return fail(whole, [&] { return fmt::format("{} needs a length: ADDR:LEN[:KEY]", quote(whole)); });
  if (!number(length, out.length, {.high = std::numeric_limits<std::uint32_t>::max(), .units = true})) return false;
  const bool omitted = where.size() + 1 + length.size() == whole.size();
  const bool free = !omitted || may_omit_key || out.length == 0;
  if (!address(where, out.address, free ? Wanted::address : Wanted::keyed_address)) return false;
  if (!omitted) return key(text, out.key);
  if (out.address.object == 0 && !free) return fail(where, [&] { return fmt::format("{} needs a key: ADDR:LEN:KEY", quote(where)); });
  return true;
}

bool ValueReader::sges(std::string_view text, std::vector<SgeRef>& out, bool may_omit_key) {
  bool good = true;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = start + position(text.substr(start), ',');
    out.emplace_back();
    good = sge(text.substr(start, comma - start), out.back(), may_omit_key) && good;
    start = comma + 1;
  }
  return good;
}

bool ValueReader::access(std::string_view text, verbs::Access& out) {
  out = verbs::Access::none;
  if (text == "0") return true;
  bool good = true;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = start + position(text.substr(start), ',');
    const std::string_view part = text.substr(start, comma - start);
    const int found = access_words().find(part);
    if (found < 0)
      good = fail(part, [&] { return fmt::format("{} is not an access flag: 0, or a list of {}", quote(part), access_words().choices()); });
    else out = out | static_cast<verbs::Access>(1 << found);
    start = comma + 1;
  }
  return good;
}

bool ValueReader::send_flags(std::string_view text, verbs::Send& flags, bool& more) {
  constexpr int more_word = 4;
  bool good = true;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = start + position(text.substr(start), ',');
    int found = 0;
    if (!word(text.substr(start, comma - start), flag_words(), "a flag of a work request", found)) good = false;
    else if (found == more_word) more = true;
    else flags = flags | static_cast<verbs::Send>(1 << found);
    start = comma + 1;
  }
  return good;
}

}  // namespace mtsim::program

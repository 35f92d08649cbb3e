#include "program/trace_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "program/trace_tokens.h"
#include "program/trace_values.h"

namespace mtsim::program {
namespace {

/// Bytes that no UTF-8 text holds, or that no printer of reports can show: false where there is one.
bool is_text(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x20 && lead != '\t') return false;
    if (lead < 0x80) continue;
    const std::size_t more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    if (lead < 0xc2 || lead > 0xf4 || i + more >= text.size()) return false;
    const auto second = static_cast<unsigned char>(text[i + 1]);
    // Overlong forms, surrogates and what lies beyond U+10FFFF show in the second byte.
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) || (lead == 0xf0 && second < 0x90) ||
        (lead == 0xf4 && second > 0x8f))
      return false;
    for (std::size_t k = 0; k < more; ++k)
      if ((static_cast<unsigned char>(text[++i]) & 0xc0) != 0x80) return false;
  }
  return true;
}

std::uint64_t column(std::string_view line, const char* at) { return static_cast<std::uint64_t>(at - line.data()) + 1; }

}  // namespace

LineKind kind_of_line(std::string_view line) {
  if (line.starts_with('@')) return LineKind::operation;
  const std::string_view first = Tokens(line).next().text;
  if (first.empty()) return LineKind::blank;
  if (first == "meta") return LineKind::meta;
  return first == "host" ? LineKind::host : LineKind::operation;
}

bool read_version(std::string_view line, Problems& problems) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  const std::string_view whole = line;
  if (line.starts_with(mark)) line.remove_prefix(mark.size());
  Tokens tokens(line);
  const std::string_view word = tokens.next().text, version = tokens.next().text, rest = tokens.next().text;
  const auto fail = [&](std::string_view at, auto text) {
    problems.add(1, column(whole, at.data()), text);
    return false;
  };
  if (word != "mtrace")
    return fail(word, [&] { return fmt::format("{} stands where a trace begins: its first line must be 'mtrace 1'", quote(word)); });
  if (version != "1")
    return fail(version,
                [&] { return fmt::format("version {} of the format is not known: the first line must be 'mtrace 1'", quote(version)); });
  if (!rest.empty()) return fail(rest, [&] { return fmt::format("unexpected word {} after 'mtrace 1'", quote(rest)); });
  return true;
}

bool read_meta(std::string_view line, std::uint64_t number, Problems& problems, Meta& out) {
  const auto fail = [&](std::string_view at, auto text) {
    problems.add(number, column(line, at.data()), text);
    return false;
  };
  Tokens tokens(line);
  tokens.next();
  for (std::string_view rest = tokens.rest();;) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    if (rest.empty() || rest[0] == '#') return true;
    const std::string_view name = rest.substr(0, rest.find_first_of("= \t"));
    if (!is_name(name) || !rest.substr(name.size()).starts_with("=\""))
      return fail(rest, [&] {
        return fmt::format("{} is not a key with a value in quotes: meta KEY=\"VALUE\"", quote(rest.substr(0, rest.find_first_of(" \t"))));
      });
    rest.remove_prefix(name.size() + 2);
    const std::size_t end = rest.find('"');
    if (end == std::string_view::npos) return fail(name, [&] { return fmt::format("the value of {}= has no closing quote", name); });
    const std::string_view text = rest.substr(0, end);
    if (!is_text(text)) return fail(name, [&] { return fmt::format("the value of {}= is not UTF-8 text: {}", name, quote(text)); });
    if (std::any_of(out.begin(), out.end(), [&](const auto& entry) { return entry.first == name; }))
      return fail(name, [&] { return fmt::format("{}= stands twice on the line", name); });
    out.emplace_back(name, text);
    rest.remove_prefix(end + 1);
  }
}

bool read_host(std::string_view line, std::uint64_t number, Problems& problems, HostLine& out) {
  Tokens tokens(line);
  tokens.next();
  const auto fail = [&](std::string_view at, auto text) {
    problems.add(number, column(line, at.data()), text);
    return false;
  };
  const Tokens::Token name = tokens.next();
  if (!is_name(name.text))
    return fail(name.text, [&] { return fmt::format("{} is not the name of a host: host NAME [cpus=N]", quote(name.text)); });
  out = {std::string(name.text), 0};
  for (Tokens::Token token = tokens.next(); !token.text.empty(); token = tokens.next()) {
    const std::string_view key = token.text.substr(0, token.equals);
    if (token.equals == std::string_view::npos || key != "cpus")
      return fail(token.text, [&] { return fmt::format("unknown key {} of host{}", quote(key), did_you_mean(key, {"cpus"})); });
    if (out.cpus > 0) return fail(token.text, [] { return "cpus= stands twice on the line"; });
    const std::string_view value = token.text.substr(token.equals + 1);
    const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), out.cpus);
    if (error != std::errc{} || stop != value.data() + value.size() || out.cpus == 0)
      return fail(value, [&] { return fmt::format("{} is not a number of CPUs: 1 to 4294967295", quote(value)); });
  }
  return true;
}

}  // namespace mtsim::program

#include "program/trace_problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/error.h"

namespace mtsim::program {

std::string quote(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string out = "'";
  for (const char c : text.substr(0, longest)) {
    if (c >= ' ' && c <= '~') out += c;
    else out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  if (text.size() > longest) out += "...";
  return out + "'";
}

std::string place(const std::string& file, std::uint64_t line, std::uint64_t column) { return fmt::format("{}:{}:{}", file, line, column); }

void Problems::raise() {
  std::stable_sort(found_.begin(), found_.end(),
                   [](const Problem& a, const Problem& b) { return std::tie(a.line, a.column) < std::tie(b.line, b.column); });
  std::vector<std::string> messages;
  for (const Problem& p : found_) messages.push_back(place(file_, p.line, p.column) + ": " + p.text);
  if (more_ > 0) messages.push_back(fmt::format("{}: ... and {} more", file_, more_));
  throw UserError(std::move(messages));
}

}  // namespace mtsim::program

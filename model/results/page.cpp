#include "results/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "results/human.h"

namespace mtsim::results {
namespace {

std::string joined(const std::vector<std::string>& cells, std::size_t first, std::size_t other) {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i)
    out += i == 0 ? fmt::format("{:<{}}", human::cut(cells[i], first), first) : fmt::format("{:>{}}", human::cut(cells[i], other), other);
  return out;
}

}  // namespace

void Page::styled(const std::string& text, const char* style) {
  std::string shown = human::cut(text, width);
  shown.erase(shown.find_last_not_of(' ') + 1);
  if (gap_) text_ += '\n';
  gap_ = false;
  text_ += colour_ && *style != '\0' ? fmt::format("\x1b[{}m{}\x1b[0m\n", style, shown) : shown + '\n';
}

void Page::line(const std::string& text) { styled(text, ""); }
void Page::heading(const std::string& text) { styled(text, "1"); }
void Page::alarm(const std::string& text) { styled(text, "31"); }

void Page::gap() { gap_ = !text_.empty(); }

void Page::row(const std::vector<std::string>& cells, std::size_t first, std::size_t other) { line(joined(cells, first, other)); }

void Page::heading_row(const std::vector<std::string>& cells, std::size_t first, std::size_t other) {
  heading(joined(cells, first, other));
}

void Page::beside(const std::vector<std::string>& left, const std::vector<std::string>& right) {
  constexpr std::size_t half = width / 2;
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const std::string l = i < left.size() ? human::cut(left[i], half - 2) : "";
    const std::string r = i < right.size() ? human::cut(right[i], half) : "";
    const std::string both = fmt::format("{:<{}}{}", l, half, r);
    if (i == 0) heading(both);
    else line(both);
  }
}

void Page::paragraph(const std::string& text) {
  std::string rest = text;
  while (rest.size() > width) {
    std::size_t at = rest.rfind(' ', width);
    if (at == std::string::npos || at <= 2) at = width;
    line(rest.substr(0, at));
    const std::size_t next = rest.find_first_not_of(' ', at);
    rest = next == std::string::npos ? "" : "  " + rest.substr(next);
  }
  if (!rest.empty()) line(rest);
}

}  // namespace mtsim::results

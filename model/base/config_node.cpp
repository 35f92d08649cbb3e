#include "base/config_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace mtsim::config {

std::string Place::text() const { return line == 0 ? source : fmt::format("{}:{}:{}", source, line, column); }

std::vector<std::string> sorted_lines(std::vector<Problem> problems) {
  const auto order = [](const Problem& p) {
    return std::tuple(p.place.line == 0, std::string_view(p.place.source), p.place.line, p.place.column, std::string_view(p.text));
  };
  std::sort(problems.begin(), problems.end(), [&](const Problem& a, const Problem& b) { return order(a) < order(b); });
  std::vector<std::string> lines;
  for (const Problem& p : problems) lines.push_back(p.place.text() + ": " + p.text);
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return lines;
}

const Node::Member* Node::member(std::string_view key) const {
  const auto found = std::find_if(members.begin(), members.end(), [&](const Member& m) { return m.key == key; });
  return found == members.end() ? nullptr : &*found;
}

Node::Member* Node::member(std::string_view key) {
  const auto found = std::find_if(members.begin(), members.end(), [&](const Member& m) { return m.key == key; });
  return found == members.end() ? nullptr : &*found;
}

const Node::Member* Node::find(std::string_view path) const {
  const auto dot = path.find('.');
  const Member* first = member(path.substr(0, dot));
  return first == nullptr || dot == std::string_view::npos ? first : first->value.find(path.substr(dot + 1));
}

std::string Node::described() const {
  switch (kind) {
    case Kind::null:
      return "empty";
    case Kind::scalar:
      return "the value " + in_quotes(text);
    case Kind::list:
      return "a list";
    case Kind::map:
      break;
  }
  return "a section";
}

void merge(Node& base, const Node& overlay) {
  if (!base.is_map() || !overlay.is_map()) {
    base = overlay;
    return;
  }
  for (const Node::Member& m : overlay.members) {
    if (Node::Member* known = base.member(m.key)) {
      known->place = m.place;
      merge(known->value, m.value);
    } else {
      base.members.push_back(m);
    }
  }
}

std::string join(const std::string& parent, const std::string& key) { return parent.empty() ? key : parent + "." + key; }

std::string parent_of(const std::string& path) {
  const auto dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t most = 60;
  std::string out = "'";
  for (const char c : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) out += fmt::format("\\x{:02x}", byte);
    else out += c;
  }
  return out + (text.size() > most ? "...'" : "'");
}

}  // namespace mtsim::config

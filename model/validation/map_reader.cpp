#include "validation/map_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/quantity_text.h"

namespace mtsim::validation {

std::optional<double> number_of(const std::string& text) {
  const bool negative = text.starts_with('-');
  double value = 0;
  if (!text::parse(negative ? text.substr(1) : text, value).empty() || !std::isfinite(value)) return std::nullopt;
  return negative ? -value : value;
}

std::optional<double> share_of(const std::string& text) {
  if (!text.ends_with('%')) return std::nullopt;
  const auto last = text.find_last_not_of(" %");
  const auto percent = number_of(text.substr(0, last == std::string::npos ? 0 : last + 1));
  if (!percent) return std::nullopt;
  return *percent / 100;
}

MapReader::MapReader(const Node& map, std::string path, std::vector<Problem>& problems)
    : map_(map), path_(std::move(path)), problems_(problems) {
  if (!map.is_map()) problems_.push_back({map.place, fmt::format("{}: wants a section, but is {}", path_, map.described())});
}

void MapReader::fail(const config::Place& at, const std::string& key, const std::string& message) {
  problems_.push_back({at, fmt::format("{}: {}", path(key), message)});
}

const Node* MapReader::find(const std::string& key, bool required) {
  asked_.push_back(key);
  if (!map_.is_map()) return nullptr;
  const Node::Member* found = map_.member(key);
  if (found != nullptr) return &found->value;
  if (required) fail(map_, key, "missing, and there is no default");
  return nullptr;
}

const Node* MapReader::scalar(const std::string& key, bool required, const char* wanted) {
  const Node* node = find(key, required);
  if (node == nullptr || (node->kind == Node::Kind::scalar && !node->text.empty())) return node;
  fail(*node, key, fmt::format("wants {}, but is {}", wanted, node->described()));
  return nullptr;
}

std::string MapReader::text(const std::string& key, bool required) {
  const Node* node = scalar(key, required, "a text");
  return node == nullptr ? "" : node->text;
}

std::optional<double> MapReader::number(const std::string& key, bool required) {
  const Node* node = scalar(key, required, "a number");
  if (node == nullptr) return std::nullopt;
  const auto value = number_of(node->text);
  if (!value) fail(*node, key, fmt::format("{} is no number", config::in_quotes(node->text)));
  return value;
}

std::optional<double> MapReader::share(const std::string& key, bool required) {
  const Node* node = scalar(key, required, "a percentage such as 5%");
  if (node == nullptr) return std::nullopt;
  const auto value = share_of(node->text);
  if (!value) fail(*node, key, fmt::format("{} is no percentage such as 5%", config::in_quotes(node->text)));
  return value;
}

bool MapReader::flag(const std::string& key, bool standard) {
  const Node* node = scalar(key, false, "true or false");
  if (node == nullptr) return standard;
  bool value = standard;
  if (!text::parse(node->text, value).empty()) fail(*node, key, fmt::format("{} is neither true nor false", config::in_quotes(node->text)));
  return value;
}

std::string MapReader::word(const std::string& key, const std::vector<std::string>& words, bool required) {
  const Node* node = scalar(key, required, "a word");
  if (node == nullptr) return "";
  if (std::find(words.begin(), words.end(), node->text) != words.end()) return node->text;
  fail(*node, key,
       fmt::format("{} is not one of: {}{}", config::in_quotes(node->text), fmt::join(words, ", "), did_you_mean(node->text, words)));
  return "";
}

void MapReader::finish() {
  if (!map_.is_map()) return;
  std::sort(asked_.begin(), asked_.end());
  for (const Node::Member& m : map_.members)
    if (!std::binary_search(asked_.begin(), asked_.end(), m.key))
      problems_.push_back(
          {m.place, fmt::format("{}: unknown key; allowed here: {}{}", path(m.key), fmt::join(asked_, ", "), did_you_mean(m.key, asked_))});
}

}  // namespace mtsim::validation

#include "base/schema.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/quantity_text.h"

namespace mtsim::schema {
namespace {

/// A value as YAML would type it: `16` is a number there, `200ns` and `4K` are texts.
Json typed(const Parameter& p, const std::string& text) {
  if (p.unit == "bool") return text == "true";
  if (p.unit == "count" || p.unit == "number") return Json::parse(text);
  return text;
}

std::string description(const Parameter& p) {
  const std::string standard = p.standard.empty() ? "" : fmt::format("; default {}", p.standard);
  const std::string source = p.source.empty() ? "" : fmt::format("\n\nSource of the default: {}", p.source);
  return fmt::format("{}\n\nTakes {}{}.{}", p.meaning, p.allowed(), standard, source);
}

}  // namespace

Json of_parameter(const Parameter& p) {
  Json out;
  out["description"] = description(p);
  if (!p.choices.empty()) {
    out["enum"] = p.choices;
  } else if (p.unit == "bool") {
    // Quoted, a value is the same to mtsim.
    out["type"] = {"boolean", "string"};
    out["pattern"] = "^(true|false)$";
  } else if (p.unit == "count" || p.unit == "number") {
    out["type"] = {p.unit == "count" ? "integer" : "number", "string"};
    out["pattern"] = text::pattern_of(p.unit);
    if (!p.low.empty()) out["minimum"] = typed(p, p.low);
    else if (p.unit == "count") out["minimum"] = 0;
    if (!p.high.empty()) out["maximum"] = typed(p, p.high);
  } else if (const std::string pattern = text::pattern_of(p.unit); !pattern.empty()) {
    out["type"] = "string";
    out["pattern"] = pattern;
    // No word of the standard: editors show it in place of the expression.
    out["patternErrorMessage"] = fmt::format("wants a number with a unit: {}", text::units_of(p.unit));
  } else {
    out["type"] = {"string", "number", "boolean"};
  }
  if (!p.standard.empty()) out["default"] = typed(p, p.standard);
  return out;
}

Json of_names(const std::map<std::string, std::string>& words, const std::string& description, const std::string& standard) {
  Json out;
  std::string text = description + "\n";
  auto names = Json::array();
  for (const auto& [word, meaning] : words) {
    text += fmt::format("\n- {}{}{}", word, meaning.empty() ? "" : ": ", meaning);
    names.push_back(word);
  }
  out["description"] = text;
  out["enum"] = names;
  if (!standard.empty()) out["default"] = standard;
  return out;
}

}  // namespace mtsim::schema

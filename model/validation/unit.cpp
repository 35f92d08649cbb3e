#include "validation/unit.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace mtsim::validation {
namespace {

struct Named {
  const char* name;
  Unit unit;
};

const std::vector<Named>& units() {
  static const std::vector<Named> all{
      {"ns", {"time", 1e-9}}, {"us", {"time", 1e-6}}, {"ms", {"time", 1e-3}},  {"s", {"time", 1}},      {"/s", {"rate", 1}},
      {"K/s", {"rate", 1e3}}, {"M/s", {"rate", 1e6}}, {"Gb/s", {"bits", 1e9}}, {"B", {"bytes", 1}},     {"KB", {"bytes", 1e3}},
      {"MB", {"bytes", 1e6}}, {"GB", {"bytes", 1e9}}, {"%", {"share", 0.01}},  {"share", {"share", 1}}, {"count", {"count", 1}},
  };
  return all;
}

/// Ends of keys as results/ writes them; `gbit_per_s` before `per_s`.
const std::array<std::pair<const char*, Unit>, 6> key_ends{{
    {"gbit_per_s", {"bits", 1e9}},
    {"per_s", {"rate", 1}},
    {"ns", {"time", 1e-9}},
    {"ps", {"time", 1e-12}},
    {"bytes", {"bytes", 1}},
    {"share", {"share", 1}},
}};

}  // namespace

const std::vector<std::string>& unit_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const Named& n : units()) out.emplace_back(n.name);
    return out;
  }();
  return names;
}

Unit unit_of(std::string_view name) {
  const auto found = std::find_if(units().begin(), units().end(), [&](const Named& n) { return name == n.name; });
  if (found == units().end()) throw std::logic_error("no unit of published figures: " + std::string(name));
  return found->unit;
}

Unit unit_of_key(std::string_view key) {
  for (const auto& [end, unit] : key_ends)
    if (key == end || key.ends_with(std::string("_") + end)) return unit;
  return {"count", 1};
}

}  // namespace mtsim::validation

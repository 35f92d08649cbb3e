#include "base/config_ledger.h"

#include <fmt/format.h>

#include "base/error.h"

namespace mtsim::config {
namespace {

/// Whether some path of `paths` lies below `section`.
bool has_below(const std::set<std::string>& paths, const std::string& section) {
  const auto next = paths.lower_bound(section + ".");
  return next != paths.end() && next->starts_with(section + ".");
}

}  // namespace

bool Ledger::is_section(const std::string& path) const {
  return sections_known_.count(path) != 0 || has_below(sections_known_, path) || has_below(values_known_, path);
}

std::vector<std::string> Ledger::keys_in(const std::string& section) const {
  const std::string prefix = section.empty() ? "" : section + ".";
  std::set<std::string> keys;
  for (const auto* paths : {&values_known_, &sections_known_})
    for (auto path = paths->lower_bound(prefix); path != paths->end() && path->starts_with(prefix); ++path)
      keys.insert(path->substr(prefix.size(), path->find('.', prefix.size()) - prefix.size()));
  if (section.empty()) keys.insert({"extends", "variants"});
  return {keys.begin(), keys.end()};
}

void Ledger::look_for_unknown(const Node& map, const std::string& path, std::vector<Problem>& problems) const {
  for (const Node::Member& m : map.members) {
    const std::string full = join(path, m.key);
    if (values_known_.count(full) != 0) continue;
    if (is_section(full)) {
      if (m.value.is_map()) look_for_unknown(m.value, full, problems);
      else
        problems.push_back({m.value.place, fmt::format("{}: wants a section of keys ({}), but is {}", full, fmt::join(keys_in(full), ", "),
                                                       m.value.described())});
    } else if (excused_.count(path) == 0) {
      const auto keys = keys_in(path);
      const std::string allowed = keys.empty() ? "no key is allowed here" : fmt::format("allowed here: {}", fmt::join(keys, ", "));
      problems.push_back({m.place, fmt::format("{}: unknown key; {}{}", full, allowed, did_you_mean(m.key, keys))});
    }
  }
}

std::vector<std::string> Ledger::verdict(const Node& tree) const {
  std::vector<Problem> problems = problems_;
  look_for_unknown(tree, "", problems);
  return sorted_lines(std::move(problems));
}

}  // namespace mtsim::config

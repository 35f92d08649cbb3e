// What was asked of a configuration and what is wrong with it. Shared by the views of one configuration (the whole and each host),
// so that in the end a key that nobody asked for can be told from one that was.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/config_node.h"

namespace mtsim::config {

class Ledger {
 public:
  /// `path` is a value that the program reads.
  void know_value(const std::string& path) { values_known_.insert(path); }
  /// `path` is a section that the program reads.
  void know_section(const std::string& path) { sections_known_.insert(path); }
  /// Unknown keys right in `section` are not complained about: a wrong word decided which are known.
  void excuse(const std::string& section) { excused_.insert(section); }
  /// The text that `path` came to, be it written or the default.
  void record(const std::string& path, const std::string& text) { values_[path] = text; }
  void complain(Problem problem) { problems_.push_back(std::move(problem)); }

  const std::map<std::string, std::string>& values() const { return values_; }
  /// Every complaint, with the keys of `tree` that nobody knows; sorted by place.
  std::vector<std::string> verdict(const Node& tree) const;

 private:
  bool is_section(const std::string& path) const;
  std::vector<std::string> keys_in(const std::string& section) const;
  void look_for_unknown(const Node& map, const std::string& path, std::vector<Problem>& problems) const;

  std::set<std::string> values_known_, sections_known_, excused_;
  std::map<std::string, std::string> values_;
  std::vector<Problem> problems_;
};

}  // namespace mtsim::config

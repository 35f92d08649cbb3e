// From files to one tree: `extends`, overlays and `--set`.
#pragma once

#include <string>
#include <vector>

#include "base/config_node.h"

namespace mtsim::config {

struct Loaded {
  Node tree;        ///< a map, with every `extends` carried out, `variants` and `validation` taken out
  Node variants;    ///< a map of overlays by name; null when there are none
  Node validation;  ///< what published measurements the file is compared with; null when it says nothing of that
  std::vector<Problem> problems;
};

/// Reads a configuration file and what it extends, each by its path or, after `mtsim:`, its name among the shipped ones. `extends` may
/// stand at the top of a file, of a variant and of a host; its files are relative to the one that names them, later ones win, and what is
/// written beside it wins over all of them. Throws UserError when a file cannot be read or parsed, or extends itself.
Loaded load(const std::string& path);

/// Carries out `--set a.b.c=value` on `tree`; a list is written as YAML does (`a=[1, 2]`), anything else is taken as it stands.
void apply_set(Node& tree, const std::string& set, std::vector<Problem>& problems);

}  // namespace mtsim::config

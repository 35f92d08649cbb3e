// From YAML text to a tree. A subset that can be shown with places and cannot be made to explode: no aliases, no tags, one document.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/config_node.h"

namespace mtsim::config {

/// What all the files of one configuration may hold together: far more than any sensible one, few enough to stay quick.
struct Budget {
  std::size_t nodes = 20'000;
  std::size_t files = 200;
};

/// Parses `text`; `source` names it in places. What can be skipped (an alias, a key given twice) becomes a problem and is left out.
/// Throws UserError where no tree can be had: bad syntax, nesting beyond 32 levels, more nodes than the budget.
Node parse(const std::string& text, const std::string& source, Budget& budget, std::vector<Problem>& problems);

}  // namespace mtsim::config

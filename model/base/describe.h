// The text of `mtsim describe`: what can be configured, from the declarations.
#pragma once

#include <string>
#include <vector>

#include "base/sections.h"

namespace mtsim {

/// One line a section, and how to ask for more.
std::string describe(const std::vector<const Section*>& sections);

/// A section (`nic.mtt_cache`), one of its parameters (`nic.mtt_cache.ways`), or all sections below a name (`nic`), each parameter with
/// type, default, what is allowed, meaning and source. Throws UserError, naming the nearest section, when there is no such name.
std::string describe(const std::vector<const Section*>& sections, const std::string& name);

}  // namespace mtsim

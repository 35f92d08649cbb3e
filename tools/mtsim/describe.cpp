// mtsim describe.
#include "base/describe.h"

#include <iostream>

#include "base/sections.h"
#include "command.h"
#include "verbs/rules_fields.h"

namespace mtsim::tool {

int describe(const std::string& name) {
  if (name == "rules") std::cout << verbs::describe_rules();
  else std::cout << (name.empty() ? mtsim::describe(Sections::all()) : mtsim::describe(Sections::all(), name));
  return 0;
}

}  // namespace mtsim::tool

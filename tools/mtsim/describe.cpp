// mtsim describe.
#include "base/describe.h"

#include <iostream>

#include "base/sections.h"
#include "command.h"

namespace mtsim::tool {

int describe(const std::string& name) {
  std::cout << (name.empty() ? mtsim::describe(Sections::all()) : mtsim::describe(Sections::all(), name));
  return 0;
}

}  // namespace mtsim::tool

// mtsim describe --schema.
#include "system/schema.h"

#include <iostream>

#include "command.h"

namespace mtsim::tool {

int print_schema() {
  std::cout << system::configuration_schema();
  return 0;
}

}  // namespace mtsim::tool

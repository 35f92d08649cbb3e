// The JSON Schema of a configuration: `mtsim describe --schema`.
#pragma once

#include <string>

namespace mtsim::system {

/// Draft 7, which editors take best. Made from the declared parameters, the registered components and what the readers ask for, so that
/// it takes what `mtsim check` takes as far as a schema can: not seen are ranges of quantities with units, rules between values, and
/// what other files of `extends` hold. Same build, same text; ends with a new line.
std::string configuration_schema();

}  // namespace mtsim::system

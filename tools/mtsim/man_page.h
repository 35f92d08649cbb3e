// The manual page, from the same declaration of commands and options that `mtsim --help` prints.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace mtsim::tool {

/// mtsim(1) in man(7) markup. The build writes it by the hidden call `mtsim --man-page`.
std::string man_page(const CLI::App& app);

}  // namespace mtsim::tool

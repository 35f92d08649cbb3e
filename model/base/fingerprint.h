// A short, stable mark of a text: two reports with the same mark came from the same input.
#pragma once

#include <string>
#include <string_view>

namespace mtsim {

/// FNV-1a, 64 bits, as 16 hexadecimal digits. Not a defence against forgery.
std::string fingerprint(std::string_view text);

}  // namespace mtsim

// Where a process of a replay is reached.
#pragma once

#include <string>

namespace mtsim::replay {

/// `ADDRESS:PORT`, where the address is a name, an IPv4 one, or an IPv6 one in brackets.
struct Place {
  std::string address, port;
  std::string text() const;
};
/// Throws UserError for what is no such place.
Place parse_place(const std::string& text);

}  // namespace mtsim::replay

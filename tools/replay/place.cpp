#include "place.h"

#include <fmt/format.h>

#include "base/error.h"

namespace mtsim::replay {

std::string Place::text() const { return (address.find(':') == std::string::npos ? address : '[' + address + ']') + ':' + port; }

Place parse_place(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  Place place;
  if (colon != std::string::npos) place = {text.substr(0, colon), text.substr(colon + 1)};
  if (place.address.size() > 2 && place.address.front() == '[' && place.address.back() == ']')
    place.address = place.address.substr(1, place.address.size() - 2);
  else if (place.address.find(':') != std::string::npos) place.address.clear();
  const bool digits = !place.port.empty() && place.port.size() <= 5 && place.port.find_first_not_of("0123456789") == std::string::npos;
  if (place.address.empty() || !digits || std::stoul(place.port) == 0 || std::stoul(place.port) > 65535)
    throw UserError(
        fmt::format("--peers: '{}' is no ADDRESS:PORT; write 192.0.2.1:7471, host.example:7471 or [2001:db8::1]:7471 "
                    "(ports are 1 to 65535)",
                    text));
  return place;
}

}  // namespace mtsim::replay

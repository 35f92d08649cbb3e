#include "base/fingerprint.h"

#include <fmt/format.h>

#include <cstdint>

namespace mtsim {

std::string fingerprint(std::string_view text) {
  // Offset basis and prime of the FNV-1a reference (draft-eastlake-fnv).
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

}  // namespace mtsim

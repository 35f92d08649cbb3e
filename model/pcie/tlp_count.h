// What went over a PCIe link.
#pragma once

#include <cstdint>

namespace mtsim::pcie {

/// One direction or kind.
struct TlpCount {
  std::uint64_t tlps = 0, payload_bytes = 0, header_bytes = 0;
};

}  // namespace mtsim::pcie

// What went over a PCIe link.
#pragma once

#include <array>
#include <cstdint>

#include "ports/dma.h"

namespace mtsim::pcie {

/// TLPs of one direction, kind and purpose.
struct TlpCount {
  std::uint64_t tlps = 0, payload_bytes = 0, header_bytes = 0;
  std::uint64_t bytes() const { return payload_bytes + header_bytes; }
  TlpCount& operator+=(const TlpCount& o) {
    tlps += o.tlps;
    payload_bytes += o.payload_bytes;
    header_bytes += o.header_bytes;
    return *this;
  }
};

/// Of one direction and kind, by what they are for.
class TlpCounts {
 public:
  TlpCount& operator[](ports::Purpose purpose) { return by_purpose_[unsigned(purpose)]; }
  const TlpCount& operator[](ports::Purpose purpose) const { return by_purpose_[unsigned(purpose)]; }
  TlpCount all() const {
    TlpCount sum;
    for (const TlpCount& count : by_purpose_) sum += count;
    return sum;
  }

 private:
  std::array<TlpCount, ports::purpose_count> by_purpose_;
};

}  // namespace mtsim::pcie

// The PCIe link, seen from its two ends.
#pragma once

#include <systemc>

#include "base/units.h"
#include "engine/channel.h"
#include "ports/dma.h"

namespace mtsim::ports {

/// TLPs of one transfer: `count` of them carry `payload` in all.
struct Tlps {
  std::uint32_t count = 1;
  Bytes payload;
};

/// What was negotiated for a device when the bus was set up.
/// Both sizes are powers of two.
struct PcieLimits {
  Bytes max_payload, max_read_request;
  std::uint32_t tags = 1;
};

/// The NIC's end of the link.
class PcieUp : public virtual sc_core::sc_interface {
 public:
  virtual PcieLimits limits() const = 0;
  /// `notice` is told when the first request has come to the root complex and its data is there (after `memory`).
  virtual void request(Agent agent, std::uint32_t requests, Time memory, engine::Notice& notice) = 0;
  /// Completions from the root complex to the NIC; `notice` is told when the last has arrived.
  virtual void complete(const Tlps& tlps, engine::Notice& notice) = 0;
  /// Time on the link that posted writes handed over before still take; `time_of` is that of so many bytes without headers.
  virtual Time posted_backlog() = 0;
  virtual Time time_of(Bytes length) const = 0;
  /// Posted writes; `notice` (may be null) is told `memory` after the last has come to the root complex.
  virtual void post(const Tlps& tlps, Time memory, engine::Notice* notice) = 0;
};

/// The CPU's end: stores to the NIC's registers.
class Mmio : public virtual sc_core::sc_interface {
 public:
  /// One posted write of `length` bytes (8 for a doorbell, 64 for a write-combined WQE); `notice` is told when the NIC has it.
  virtual void store(Bytes length, engine::Notice& notice) = 0;
};

}  // namespace mtsim::ports

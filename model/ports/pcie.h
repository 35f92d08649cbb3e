// The PCIe link, seen from its two ends.
#pragma once

#include <cstdint>
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

/// Which writes of payload carry the attribute of relaxed ordering (Device Control, Enable Relaxed Ordering).
enum class RelaxedOrdering : std::uint8_t { never, by_mr, always };

/// What was negotiated for a device when the bus was set up.
/// Sizes but that of the completion buffer are powers of two.
struct PcieLimits {
  Bytes max_payload, max_read_request;
  std::uint32_t tags = 1;
  RelaxedOrdering relaxed = RelaxedOrdering::never;
  Bytes completion;         ///< most that a completion of the root complex carries
  Bytes completion_buffer;  ///< of the NIC: bytes of reads in flight at most; 0: no bound
  // Flow control of the root complex's receive buffers: TLPs, and bytes of data of writes, that it has room for; 0: no bound.
  std::uint32_t read_credits = 0, write_credits = 0;
  Bytes write_data_credits;
  Time credit_return;  ///< from a place's coming free to its credit's arrival at the NIC
};

/// The NIC's end of the link.
class PcieUp : public virtual sc_core::sc_interface {
 public:
  virtual PcieLimits limits() const = 0;
  /// `notice` is told when the first request has come to the root complex and its data is there (after `memory`).
  virtual void request(Agent agent, Purpose purpose, std::uint32_t requests, Time memory, engine::Notice& notice) = 0;
  /// Completions from the root complex to the NIC; `notice` (may be null) is told when the last has arrived.
  virtual void complete(Purpose purpose, const Tlps& tlps, engine::Notice* notice) = 0;
  /// Time on the link that posted writes handed over before still take; `time_of` is that of so many bytes without headers.
  virtual Time posted_backlog() = 0;
  virtual Time time_of(Bytes length) const = 0;
  /// Posted writes; `notice` (may be null) is told `memory` after the last has come to the root complex.
  virtual void post(Purpose purpose, const Tlps& tlps, Time memory, engine::Notice* notice) = 0;
};

/// The CPU's end: stores to the NIC's registers.
class Mmio : public virtual sc_core::sc_interface {
 public:
  /// One posted write of `length` bytes (8 for a doorbell, 64 for a write-combined WQE); `notice` is told when the NIC has it.
  virtual void store(Bytes length, engine::Notice& notice) = 0;
};

}  // namespace mtsim::ports

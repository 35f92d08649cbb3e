// Host memory as devices and the kernel see it.
#pragma once

#include <systemc>

#include "base/units.h"

namespace mtsim::ports {

/// The root complex and the memory behind it, seen from the PCIe link.
class HostMemory : public virtual sc_core::sc_interface {
 public:
  /// From the arrival of a read request at the root complex to its first data.
  virtual Time read_latency(Pa address) const = 0;
  /// From the arrival of a posted write at the root complex until a CPU sees it.
  virtual Time write_latency(Pa address) const = 0;
  /// Physically contiguous memory for rings, tables and mailboxes (dma_alloc_coherent). Never fails in a sane configuration: running
  /// out is reported as the user's mistake.
  virtual Pa allocate(Bytes length, Bytes align) = 0;
  virtual void release(Pa address, Bytes length) = 0;
};

}  // namespace mtsim::ports

// Host memory as devices and the kernel see it.
#pragma once

#include <cstdint>
#include <systemc>

#include "base/units.h"

namespace mtsim::ports {

/// A burst of one device's TLPs.
struct MemoryAccess {
  std::uint32_t device = 0;  ///< number of the NIC
  Pa address;
  Bytes length;               ///< at least one byte
  bool translated = false;    ///< the device has had the address translated itself (ATS)
  bool relaxed = false;       ///< a write that may take effect before earlier ones (relaxed ordering)
  bool just_written = false;  ///< a CPU has just written what is read: a WQE, a list, a mailbox
};

/// A translation that a device asked for (ATS). `length` bytes from its address on, up to the end of the page, lie at `address`.
struct Translation {
  Pa address;
  Bytes length;
  Time at;
  bool ok = true;  ///< false: there is none, and the device would have to ask for the page (PRI)
};

/// The root complex and the memory behind it, seen from the PCIe link.
class HostMemory : public virtual sc_core::sc_interface {
 public:
  /// Whether what an access takes depends on those before it (an IOMMU that translates, a last-level cache). Then it is told of each as it
  /// arrives, in order, by the calls that follow; otherwise the two latencies say all.
  virtual bool keeps_state() const { return false; }
  /// A read request arrives `now`: the first `length` bytes of it are there from `at` on. To be called again at once for the rest.
  struct Served {
    Bytes length;
    Time at;
  };
  virtual Served read(const MemoryAccess& access, Time now) { return {access.length, now + read_latency(access.address)}; }
  /// A posted write's first TLP arrives `now`: from when on it may take effect. A CPU sees it write_latency after that and its last TLP.
  virtual Time write(const MemoryAccess&, Time now) { return now; }
  /// A device's translation request arrives `now`; the answer leaves at `at`.
  virtual Translation translate(std::uint32_t /*device*/, Pa address, Time now) {
    return {address, page_bytes - Bytes(address.raw % page_bytes.raw), now, true};
  }

  /// From the arrival of a read request at the root complex to its first data.
  virtual Time read_latency(Pa address) const = 0;
  /// From the arrival of a posted write at the root complex until a CPU sees it.
  virtual Time write_latency(Pa address) const = 0;
  /// A CPU writes memory, or takes it out of its caches (clflush): what devices then find in a last-level cache.
  virtual void cpu_writes(Pa /*address*/, Bytes /*length*/) {}
  virtual void cpu_flushes(Pa /*address*/, Bytes /*length*/) {}
  /// Physically contiguous memory for rings, tables and mailboxes (dma_alloc_coherent). Never fails in a sane configuration: running
  /// out is reported as the user's mistake.
  virtual Pa allocate(Bytes length, Bytes align) = 0;
  virtual void release(Pa address, Bytes length) = 0;
};

}  // namespace mtsim::ports

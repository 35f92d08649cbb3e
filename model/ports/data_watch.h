// Data that can be wrong without an error: who follows it, seen from the units of the NIC that move payload. Bound only in runs in which
// that can happen; without it nothing is asked.
#pragma once

#include <cstdint>
#include <systemc>

#include "base/units.h"
#include "ports/mishap.h"
#include "ports/translator.h"

namespace mtsim::ports {

class DataWatch : public virtual sc_core::sc_interface {
 public:
  /// The NIC is about to read `length` bytes from where the query, which has been granted, found its address. What is read is what memory
  /// holds now. What befalls them is added to the operation's.
  virtual void read(const Query& query, Bytes length, Mishap& mishap) = 0;
  /// The same of bytes that it writes; memory holds them from now on.
  virtual void write(const Query& query, Bytes length, Mishap& mishap) = 0;
};

/// One transfer with a hazard.
struct HazardNote {
  enum class Why : std::uint8_t {
    unmapped,    ///< the process has no memory at the address any more
    other_page,  ///< it has another page there
    other_key    ///< the key stands for another registration than the one meant
  };
  verbs::Hazard kind = verbs::Hazard::stale;
  Why why = Why::unmapped;
  Time at;
  std::uint32_t port = 0;  ///< on the switch, of the host whose memory it is
  std::uint32_t qpn = 0;   ///< of that host
  verbs::Opcode opcode = verbs::Opcode::write;
  bool writes = false;        ///< that memory was written
  std::uint64_t address = 0;  ///< as the operation has it: of the first byte concerned
  Va memory;                  ///< where the process has it
  Key key;
};

/// Keeps the first notes of a run.
class HazardNotes {
 public:
  /// Its place, from 1 on; 0: no room is left.
  virtual std::uint8_t keep(const HazardNote& note) = 0;

 protected:
  ~HazardNotes() = default;
};

}  // namespace mtsim::ports

// The last-level cache between devices and memory: which lines it holds. State alone; the root complex gives it time.
//
// A device's read that misses leaves nothing behind. Its write is placed in one of the ways that writes of devices may have (DDIO), or, if
// there are none, goes to memory and takes the line out. CPUs fill any way.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/parameter.h"
#include "base/units.h"
#include "host/tag_store.h"

namespace mtsim::host {

struct LlcParams {
  Bytes size;
  std::uint32_t ways{}, write_ways{};
  Time miss;
  bool cpu_warm{};
  static void declare(Declaration<LlcParams>& d);
};

class Llc {
 public:
  static constexpr std::uint64_t line = 64;

  explicit Llc(const LlcParams& params) : params_(params), lines_(params.size.raw / line, params.ways), entries_(params.size.raw / line) {}

  struct Counts {
    std::uint64_t reads = 0, read_hits = 0;    ///< lines that devices and walks read
    std::uint64_t writes = 0, write_hits = 0;  ///< lines that devices wrote
  };

  /// A device reads [address, address + length), at least one byte: whether all of its lines were there. With `just_written` a CPU has had
  /// them last, and they count as there if host.llc.cpu_warm says so.
  bool read(Pa address, Bytes length, bool just_written = false);
  /// A device writes.
  void write(Pa address, Bytes length);
  /// The IOMMU reads the line of a page table entry, and keeps it: whether it was there.
  bool walk(std::uint64_t line_number);
  /// A CPU writes: of more than the cache holds, the end stays.
  void fill(Pa address, Bytes length);
  /// A CPU takes lines out (clflush).
  void flush(Pa address, Bytes length);

  const Counts& counts() const { return counts_; }
  const LlcParams& params() const { return params_; }

 private:
  template <class Visit>
  static void each_line(Pa address, Bytes length, Visit visit) {
    const std::uint64_t last = (address.raw + length.raw - 1) / line;
    for (std::uint64_t number = address.raw / line; number <= last; ++number) visit(number);
  }

  LlcParams params_;
  TagStore lines_;
  std::uint64_t entries_;
  Counts counts_;
};

}  // namespace mtsim::host

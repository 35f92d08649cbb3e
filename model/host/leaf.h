// Page sizes of a process page table, and what a fault counted by them.
#pragma once

#include <cstdint>

#include "base/units.h"

namespace mtsim {

/// The size of one page table leaf.
enum class Leaf : std::uint8_t { page_4k, page_2m, page_1g };

constexpr std::uint64_t leaf_pages(Leaf leaf) { return std::uint64_t{1} << (9 * static_cast<unsigned>(leaf)); }
constexpr Bytes leaf_bytes(Leaf leaf) { return page_bytes * leaf_pages(leaf); }

/// Pages that faults brought in, by leaf.
struct FaultCounts {
  std::uint64_t pages_4k = 0, pages_2m = 0, pages_1g = 0;  ///< copies of pages that were shared among them
  std::uint64_t swapped_in = 0;                            ///< of all these, 4 KiB pages that came back from swap
  Bytes zeroed;                 ///< memory that had to be cleared: all of it but that of files, of copies and what came from swap
  Bytes copied;                 ///< contents of pages that are shared with another process no longer
  std::uint64_t found = 0;      ///< leaves of any size that needed no frame: shared memory, or a page that nobody else has any more
  std::uint64_t left_pins = 0;  ///< 4 KiB pages that this process had pinned and no longer sees, having written to them: no faults

  std::uint64_t faults() const { return pages_4k + pages_2m + pages_1g + found; }
  FaultCounts& operator+=(const FaultCounts& o) {
    pages_4k += o.pages_4k;
    pages_2m += o.pages_2m;
    pages_1g += o.pages_1g;
    swapped_in += o.swapped_in;
    zeroed += o.zeroed;
    copied += o.copied;
    found += o.found;
    left_pins += o.left_pins;
    return *this;
  }
  friend bool operator==(const FaultCounts&, const FaultCounts&) = default;
};

}  // namespace mtsim

// Where each of a bounded number of lines is: open addressing with linear probing, half empty at least, so that a look-up costs the same
// however many lines there are. Takes no memory after it is made.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "nic/replacement.h"

namespace mtsim::nic {

class SlotMap {
 public:
  /// For at most `lines` lines at a time.
  explicit SlotMap(std::uint64_t lines)
      : places_(std::bit_ceil(2 * lines + 2)), shift_(64u - static_cast<unsigned>(std::countr_zero(places_.size()))) {}

  /// `no_slot` when the line is not there.
  Slot find(std::uint64_t tag) const {
    for (std::size_t at = home(tag);; at = next(at)) {
      if (places_[at].slot == no_slot || places_[at].tag == tag) return places_[at].slot;
    }
  }
  /// Of a line that is not there.
  void insert(std::uint64_t tag, Slot slot) {
    std::size_t at = home(tag);
    while (places_[at].slot != no_slot) at = next(at);
    places_[at] = {tag, slot};
  }
  /// Of a line that is there. Those behind it that it kept from their homes move up.
  void erase(std::uint64_t tag) {
    std::size_t hole = home(tag);
    while (places_[hole].tag != tag || places_[hole].slot == no_slot) hole = next(hole);
    for (std::size_t at = next(hole); places_[at].slot != no_slot; at = next(at)) {
      const std::size_t wanted = home(places_[at].tag), mask = places_.size() - 1;
      if (((at - wanted) & mask) < ((at - hole) & mask)) continue;
      places_[hole] = places_[at];
      hole = at;
    }
    places_[hole].slot = no_slot;
  }

 private:
  struct Place {
    std::uint64_t tag = 0;
    Slot slot = no_slot;
  };
  std::size_t home(std::uint64_t tag) const { return tag * 0x9e3779b97f4a7c15 >> shift_; }
  std::size_t next(std::size_t at) const { return (at + 1) & (places_.size() - 1); }

  std::vector<Place> places_;
  unsigned shift_;
};

}  // namespace mtsim::nic

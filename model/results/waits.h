// What operations waited for: by kind of wait, how often and how long.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "results/histogram.h"

namespace mtsim::results {

/// One kind of wait of the operations of one opcode. What no wait covers of their latency is service.
struct WaitStats {
  std::string name;              ///< step and cause: `responder look-up: walk slot`
  std::uint64_t operations = 0;  ///< that waited so at all
  TotalTime total;               ///< over all of them
  Time p99;                      ///< over all operations of the opcode, those that did not wait so included
  Time longest;
};

/// Counts waits by kind while a simulation runs. Allocates when a kind comes for the first time.
class WaitTable {
 public:
  void add(std::uint32_t kind, Time span) {
    if (kind >= kinds_.size() || kinds_[kind] == nullptr) [[unlikely]]
      open(kind);
    Kind& k = *kinds_[kind];
    const unsigned bin = bin_of(static_cast<std::uint64_t>(span.raw));
    if (bin >= k.bins.size()) [[unlikely]]
      grow(k, bin);
    ++k.bins[bin];
    k.total.raw += span.raw;
    k.longest = std::max(k.longest, span);
  }
  void merge(const WaitTable& other);
  /// Of the kinds that there are, by number, among `operations` operations. `name_of` gives a kind's name.
  template <class Name>
  std::vector<WaitStats> stats(std::uint64_t operations, Name name_of) const {
    std::vector<WaitStats> out;
    for (std::uint32_t kind = 0; kind < kinds_.size(); ++kind)
      if (kinds_[kind] != nullptr) out.push_back(stats_of(*kinds_[kind], name_of(kind), operations));
    return out;
  }

 private:
  // As results::Histogram, but with 64 bins an octave (1.6 % wide or less) in one row up to the longest wait so far: a wait is counted
  // for each of the many kinds of each operation.
  static constexpr unsigned sub_bits = 6, sub_bins = 1u << sub_bits;
  struct Kind {
    std::vector<std::uint64_t> bins;
    TotalTime total;
    Time longest;
  };
  static constexpr unsigned bin_of(std::uint64_t v) {
    const auto bits = static_cast<unsigned>(std::bit_width(v));
    const unsigned shift = bits > sub_bits + 1 ? bits - sub_bits - 1 : 0;
    return shift * sub_bins + static_cast<unsigned>(v >> shift);
  }
  void open(std::uint32_t kind);
  /// To the end of the octave of `bin`.
  static void grow(Kind& kind, unsigned bin) { kind.bins.resize((bin / sub_bins + 1) * sub_bins); }
  static WaitStats stats_of(const Kind& waits, std::string name, std::uint64_t operations);

  std::vector<std::unique_ptr<Kind>> kinds_;
};

}  // namespace mtsim::results

// What operations waited for: by kind of wait, how often and how long.
#pragma once

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
    kinds_[kind]->add(span);
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
  void open(std::uint32_t kind);
  static WaitStats stats_of(const Histogram& waits, std::string name, std::uint64_t operations);

  std::vector<std::unique_ptr<Histogram>> kinds_;
};

}  // namespace mtsim::results

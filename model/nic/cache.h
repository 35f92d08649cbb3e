// A cache of table lines in the NIC: set-associative, least recently used, indexed by the low bits of the line number. State only; the
// look-up time is the Walker's to spend.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parameter.h"
#include "ports/line_cache.h"

namespace mtsim::nic {

struct CacheParams {
  std::uint32_t lines{}, ways{};
  Bytes line{};
  Time latency{};
};

class Cache : public sc_core::sc_module, public ports::LineCache {
 public:
  struct Counts {
    std::uint64_t lookups = 0, hits = 0, cold = 0, capacity = 0, conflict = 0, evictions = 0, dropped = 0;
  };

  /// `lines` are a multiple of `ways`, or one set of fewer; no lines means that every look-up misses.
  Cache(sc_core::sc_module_name name, const CacheParams& params);

  const translate::Content* find(std::uint64_t tag) override;
  bool holds(std::uint64_t tag) const override;
  /// Puts a line in, in the place of the least recently used of its set.
  void fill(std::uint64_t tag, translate::Content content) override;
  void drop(std::uint64_t first, std::uint64_t count) override;

  const Counts& counts() const { return counts_; }
  std::uint64_t capacity() const { return ways_of_.size(); }
  std::uint64_t held() const { return held_; }

 private:
  struct Way {
    std::uint64_t tag = ~std::uint64_t{0};
    std::uint64_t used = 0;  ///< serial of the last use; 0 is never
    translate::Content content = 0;
  };
  std::uint64_t index_of(std::uint64_t tag) const { return power_of_two_ ? tag & (sets_ - 1) : tag % sets_; }
  Way* set_of(std::uint64_t tag) { return &ways_of_[index_of(tag) * ways_]; }
  void classify(std::uint64_t tag);

  std::uint32_t ways_;
  std::uint64_t sets_;
  bool power_of_two_ = false;  ///< sets: then the index takes no division
  std::vector<Way> ways_of_;
  std::vector<bool> seen_;  ///< lines asked for since they were last written: the first time is a cold miss
  std::uint64_t serial_ = 0, held_ = 0;
  Counts counts_;
};

}  // namespace mtsim::nic

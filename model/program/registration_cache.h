// A registration cache as programs put above verbs (UCX, Open MPI, libfabric): memory that was registered once stays so, and is found again
// by its addresses. State alone: what it says to register and deregister is carried out by whoever asks.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <vector>

namespace mtsim::program {

struct CacheRules {
  std::uint64_t granule = 1;       ///< regions begin and end at multiples of it
  std::uint64_t most_regions = 0;  ///< 0: no limit
  std::uint64_t most_bytes = 0;    ///< 0: no limit; one region may exceed it by itself
  bool merge = false;              ///< regions that touch are joined as well; those that overlap always are
};

class RegistrationCache {
 public:
  /// Names one registration, from 0: the numbers of those that went are given out again, lowest first.
  using Slot = std::uint32_t;
  struct Region {
    std::uint64_t begin = 0, end = 0;  ///< bytes [begin, end)
    Slot slot = 0;
  };
  struct Answer {
    bool hit = false;
    std::vector<Slot> drop;  ///< to be deregistered first: merged, or least recently used
    Region region;           ///< the one that holds the block; to be registered unless it was a hit
  };

  explicit RegistrationCache(const CacheRules& rules) : rules_(rules) {}

  /// Finds the region that contains [begin, end), or makes one.
  Answer look_up(std::uint64_t begin, std::uint64_t end);
  /// The memory [begin, end) goes: every region that touches it is dropped, in the order of addresses.
  std::vector<Slot> invalidate(std::uint64_t begin, std::uint64_t end);

  std::size_t regions() const { return by_begin_.size(); }
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Entry {
    Region region;
    std::list<std::uint64_t>::iterator use;
  };
  using Entries = std::map<std::uint64_t, Entry>;

  Slot take_slot();
  Slot remove(Entries::iterator entry);

  CacheRules rules_;
  Entries by_begin_;               ///< no two overlap
  std::list<std::uint64_t> uses_;  ///< begins, the least recently used first
  std::vector<Slot> free_;         ///< a heap, lowest on top
  Slot slots_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace mtsim::program

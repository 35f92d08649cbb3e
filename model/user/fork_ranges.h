// Which memory is to be kept from children, as libibverbs counts it after ibv_fork_init (memory.c, ibv_madvise_range): a range is advised
// when its first user comes and when its last one goes. Pure state.
#pragma once

#include <boost/icl/interval_map.hpp>
#include <cstdint>
#include <vector>

#include "base/units.h"

namespace mtsim::user {

class ForkRanges {
 public:
  struct Range {
    Va start;
    Bytes length;
  };
  /// What an MR occupies, in whole pages of that size.
  static Range pages_of(Va address, Bytes length, Bytes page);

  /// The parts of the range that nobody uses yet: they have to be advised before `add`.
  std::vector<Range> unused(const Range& range) const { return used_times(range, 0); }
  void add(const Range& range);
  /// The parts that one more `remove` leaves without a user.
  std::vector<Range> used_once(const Range& range) const { return used_times(range, 1); }
  void remove(const Range& range);

 private:
  using Interval = boost::icl::discrete_interval<std::uint64_t>;
  std::vector<Range> used_times(const Range& range, std::uint32_t times) const;
  static Interval interval(const Range& range) { return Interval(range.start.raw, range.start.raw + range.length.raw); }

  boost::icl::interval_map<std::uint64_t, std::uint32_t> users_;  ///< by address
};

}  // namespace mtsim::user

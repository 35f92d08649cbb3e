// The memory that a program of a trace maps: real memory in a part of the address space that nothing else lies in, so that no line of a
// trace can touch, unmap or register what the replay itself lives in.
#pragma once

#include <boost/icl/interval_set.hpp>
#include <cstdint>

#include "base/units.h"
#include "verbs/device.h"

namespace mtsim::replay {

class Arena {
 public:
  /// Number `index` of `count` arenas of one process.
  Arena(std::uint32_t index, std::uint32_t count);
  /// Unmaps all of it.
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// The lowest place that fits, so that memory mapped anew comes where memory of that size was unmapped; 0 or an errno. `address` is
  /// where it begins.
  int mmap(const verbs::MmapRequest& request, std::uint64_t& address);
  int munmap(std::uint64_t address, std::uint64_t length);
  int mprotect(std::uint64_t address, std::uint64_t length, bool readable, bool writable);
  int madvise(std::uint64_t address, std::uint64_t length, verbs::Advice advice);
  /// Faults in the pages as an access would. EFAULT: the access would have ended the process.
  int touch(std::uint64_t address, std::uint64_t length, bool write);
  /// Whether the range lies within the arena, mapped or not.
  bool owns(std::uint64_t address, std::uint64_t length) const { return address >= first_ && address < end_ && length <= end_ - address; }

 private:
  using Free = boost::icl::interval_set<std::uint64_t>;
  /// 0: there is none.
  std::uint64_t place(std::uint64_t length, std::uint64_t align, std::uint64_t at) const;

  std::uint64_t first_, end_;
  Free free_;
};

/// Whether a program can read that much there: what copies data in user space would end in a signal otherwise.
bool is_readable(std::uint64_t address, std::uint64_t length);

}  // namespace mtsim::replay

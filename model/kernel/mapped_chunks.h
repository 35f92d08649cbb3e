// Which chunks of a table in host memory a device has been told of: pure state. A driver maps a chunk by a command when the first entry in
// it is used, and may unmap it when the last one goes (Linux net/mlx4/icm.c: mlx4_table_get_range, mlx4_table_put_range).
#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/units.h"

namespace mtsim::kernel {

class MappedChunks {
 public:
  /// `chunk` bytes each; 0: everything is mapped from the start. `keep`: what is mapped once stays.
  MappedChunks(Bytes chunk, bool keep) : chunk_(chunk), keep_(keep) {}

  /// Chunks to map before [first, first+length) can be used. The one used first of all costs nothing: the driver's own entries lie there.
  std::uint64_t hold(Pa first, Bytes length) {
    return each(first, length, [this](std::uint64_t chunk) {
      if (users_.empty()) users_[chunk] = 1;
      return ++users_[chunk] == 1;
    });
  }
  /// Chunks to unmap when what `hold` was told of goes.
  std::uint64_t release(Pa first, Bytes length) {
    if (keep_) return 0;
    return each(first, length, [this](std::uint64_t chunk) {
      if (--users_[chunk] != 0) return false;
      users_.erase(chunk);
      return true;
    });
  }

 private:
  template <class Visit>
  std::uint64_t each(Pa first, Bytes length, Visit visit) {
    if (chunk_.raw == 0 || length.raw == 0) return 0;
    std::uint64_t n = 0;
    for (std::uint64_t chunk = first.raw / chunk_.raw; chunk <= (first.raw + length.raw - 1) / chunk_.raw; ++chunk) n += visit(chunk);
    return n;
  }

  Bytes chunk_;
  bool keep_;
  std::unordered_map<std::uint64_t, std::uint64_t> users_;  ///< by number of the chunk
};

}  // namespace mtsim::kernel

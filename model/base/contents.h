// What lies in memory, without the bytes themselves: each byte that is written gets a number of its own, and goes by it from then on,
// wherever it is copied to. Two ranges hold the same when they hold the same numbers. Kept by extents.
//
// A write is taken for a change: that it may have put down what was there already is not seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace mtsim {

/// Of bytes at any 64-bit addresses; the range [first, first + length) must not wrap.
class Contents {
 public:
  /// The bytes are new ones.
  void write(std::uint64_t first, std::uint64_t length);
  /// The bytes are zeros, as before anybody wrote.
  void forget(std::uint64_t first, std::uint64_t length);
  /// What `from` has in [first, first + length) is here from `to` on; `from` may be this one, where the two ranges are apart.
  void copy(const Contents& from, std::uint64_t first, std::uint64_t length, std::uint64_t to);
  /// Whether [first, first + length) holds what `other` has from `there` on.
  bool same(std::uint64_t first, std::uint64_t length, const Contents& other, std::uint64_t there) const;

  bool empty() const { return extents_.empty(); }
  std::size_t extents() const { return extents_.size(); }

 private:
  struct Extent {
    std::uint64_t end;
    std::uint64_t number;  ///< of the first byte; those behind it follow. Never 0.
  };
  using Extents = std::map<std::uint64_t, Extent>;  ///< by first byte; no two overlap, and none goes on with the numbers before it
  /// Bytes alike: zeros, or with numbers that follow each other.
  struct Part {
    std::uint64_t number, length;
  };
  Part part_at(std::uint64_t at, std::uint64_t most) const;
  void cut(std::uint64_t at);
  void put(std::uint64_t first, std::uint64_t length, std::uint64_t number);

  Extents extents_;
  std::uint64_t next_ = 1;
};

}  // namespace mtsim

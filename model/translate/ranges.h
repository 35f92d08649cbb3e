// Who gives out ranges of a table: pure state, in units that its owner chooses.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace mtsim::translate {

class Ranges {
 public:
  virtual ~Ranges() = default;
  /// `n` units in a row, `n` not 0; false when there is no such row.
  virtual bool take(std::uint64_t n, std::uint64_t& first) = 0;
  /// What `take(n, first)` gave.
  virtual void give(std::uint64_t first, std::uint64_t n) = 0;
};

/// The lowest row that is long enough. Rows do not cross multiples of `chunk`, if that is not 0: a table made of separate pieces of memory.
/// Free rows also stand by size, eight classes to a power of two, so that a search passes over those that are too small without looking at
/// each.
class FirstFit : public Ranges {
 public:
  explicit FirstFit(std::uint64_t size, std::uint64_t chunk = 0);
  bool take(std::uint64_t n, std::uint64_t& first) override;
  void give(std::uint64_t first, std::uint64_t n) override;

 private:
  using Rows = std::map<std::uint64_t, std::uint64_t>;  ///< first -> length

  static unsigned size_class(std::uint64_t n);
  bool border(std::uint64_t at) const { return chunk_ != 0 && at % chunk_ == 0; }
  void add(std::uint64_t first, std::uint64_t n);
  void remove(std::uint64_t first, std::uint64_t n);

  std::uint64_t chunk_;
  Rows free_;
  std::map<unsigned, Rows> by_size_;
};

/// Powers of two, each on a multiple of itself, from a table whose size is rounded down to one; n is rounded up to one, and a range is cut
/// in half as often as needed and joined with its other half when both are free (Linux net/mlx4/mr.c, mlx4_buddy_alloc: the lowest free
/// range of the smallest order that has one).
class Buddy : public Ranges {
 public:
  explicit Buddy(std::uint64_t size);
  bool take(std::uint64_t n, std::uint64_t& first) override;
  void give(std::uint64_t first, std::uint64_t n) override;

 private:
  std::vector<std::set<std::uint64_t>> free_;  ///< by order, numbers in units of that order
};

}  // namespace mtsim::translate

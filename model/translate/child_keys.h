// Tables of keys (mlx5's indirect mkeys: KLM and KSM, access modes 2 and 3): a region that is cut into several pieces has a list with an
// entry of 16 bytes for each, which names a key; that child has a context and an array of 8-byte entries of its own. So a cold look-up
// reads the region's context, the list up to the piece's entry, the child's context and a line of the child's array. A region of one piece
// has no list: it is a plain key with a flat array. Children take none of the driver's keys here: their contexts stand behind those of all
// keys, as many at most as these, and are written with the table.
#pragma once

#include <vector>

#include "translate/context_table.h"

namespace mtsim::translate {

class ChildKeys : public ContextTable {
 public:
  Bytes least_line() const override { return child_entry; }

 protected:
  static constexpr Bytes child_entry{16};

  explicit ChildKeys(const ArchitectureOptions& options);

  /// The first block of each piece, from 0 on.
  virtual std::vector<std::uint64_t> cut(const Region& region) const = 0;
  /// How many lines of the list are read to find the entry in line `line` of it.
  virtual std::uint32_t list_lines(std::uint64_t line) const = 0;
  Bytes child() const { return child_; }

 private:
  // Of a layout's arrays: the list, the children's contexts, then the array of each child, marked with its first block.
  static constexpr std::size_t list = 0, contexts = 1, first_child = 2;
  // What a look-up keeps in mind: its block, and above that its piece.
  static constexpr unsigned piece_shift = 40;
  static std::uint64_t block_of(std::uint64_t memo) { return memo & ((std::uint64_t{1} << piece_shift) - 1); }
  static std::uint64_t piece_of(std::uint64_t memo) { return memo >> piece_shift; }

  bool lay_out(const Region& region, Layout& out) override;
  std::uint64_t locate(const Region& region, const Layout& layout, Iova address) const override;
  std::uint32_t levels_of(const Region&, const Layout&, std::uint64_t memo) const override { return reads_of_list(memo) + 2; }
  std::uint64_t line_at(const Region&, const Layout& layout, std::uint32_t level, std::uint64_t memo) const override;
  std::uint32_t kind_at(const Layout&, std::uint32_t level, std::uint64_t memo) const override {
    return level == reads_of_list(memo) ? mpt : mtt;
  }
  Bytes entry_rest(const Region& region, const Layout&, Iova address) const override;

  /// The line of the list that a piece's entry is in.
  std::uint64_t list_line(std::uint64_t piece) const { return piece * (child_entry / entry_bytes) >> entries_shift(); }
  std::uint32_t reads_of_list(std::uint64_t memo) const { return list_lines(list_line(piece_of(memo))); }

  Bytes child_;
};

}  // namespace mtsim::translate

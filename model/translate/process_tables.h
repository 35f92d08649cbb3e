// The page tables that the CPU's MMU walks, seen from a device: four levels of 512 entries over 48 bits of virtual address, with leaves of
// 4 KiB, 2 MiB and 1 GiB as the process's pages are. They are there whether or not anything is registered, all regions of a process share
// them, and a registration writes nothing but a context, which says the process.
//
// Each 512 GiB of a process's addresses that a region lies in have lines of their own, numbered from the top level down; they take 1 GiB
// and 2 MiB of the table space as addresses to read from, and a region for which none are left is refused (ENOMEM). Pages are those that
// were registered and stay resident: the entries are not changed by what the process does to them later.
#pragma once

#include <map>
#include <utility>

#include "translate/context_table.h"

namespace mtsim::translate {

class ProcessTables : public ContextTable {
 public:
  bool mixes_block_sizes() const override { return true; }
  std::uint64_t lines(std::uint32_t line_kind) const override { return line_kind == mtt ? lines_ : ContextTable::lines(line_kind); }

 protected:
  static constexpr std::uint32_t levels = 4;

  explicit ProcessTables(const ArchitectureOptions& options);

  /// The first byte of the region's memory, in the address space whose tables they are, and the number of that.
  virtual std::uint64_t first_byte(const Region& region) const { return region.memory.raw != 0 ? region.memory.raw : region.start().raw; }
  virtual std::uint32_t space(const Region& region) const { return region.process; }
  /// At which of the levels, counted from the top, the entry of a page stands that maps it.
  virtual std::uint32_t leaf_level(const Region& region, std::uint64_t page) const;
  /// The line of the entry for a page at a level.
  std::uint64_t line_for(const Region& region, const Layout& layout, std::uint32_t level, std::uint64_t page) const;

 private:
  static constexpr unsigned table_shift = 9, area_shift = 27;  ///< as powers of two: entries of a table, pages of an area
  /// Pages that an entry of a level stands for, as a power of two.
  static constexpr unsigned span_shift(std::uint32_t level) { return table_shift * (levels - 1 - level); }
  /// Lines of an area's tables at a level.
  std::uint64_t lines_of(std::uint32_t level) const { return ceil_div(std::uint64_t{1} << (area_shift - span_shift(level)), per_line_); }

  bool lay_out(const Region& region, Layout& out) override;
  /// The page of the process that has an address.
  std::uint64_t locate(const Region& region, const Layout&, Iova address) const override;
  Bytes entry_rest(const Region& region, const Layout&, Iova address) const override;

  std::uint64_t per_line_;    ///< entries
  std::uint64_t area_lines_;  ///< of all levels
  std::uint64_t lines_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> areas_;  ///< space and number -> in order of appearance
};

}  // namespace mtsim::translate

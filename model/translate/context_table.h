// What architectures with a table of contexts have in common: a key's index says the place of its context (MPT entry), the context says
// where the region's tables lie, and these are read level by level. Staging, committing, generations and stale lines are dealt with here;
// an architecture says which tables a region gets and which line of them each level reads.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "translate/architecture.h"
#include "translate/prefix_count.h"
#include "translate/ranges.h"

namespace mtsim::translate {

class ContextTable : public Architecture {
 public:
  const std::vector<LineKind>& line_kinds() const override { return kinds_; }
  bool build(const Region& region, TableWrites& out) override;
  TableWrites drop(Key key) override;
  TableWrites change(const EntryChange& entries) override;
  void commit(const TableWrites& writes, Stale& stale) override;
  void step(Walk& walk, Content content, Step& out) const override;
  Content content(std::uint32_t line_kind, std::uint64_t tag) const override;
  Content content_for(Key key, std::uint32_t line_kind, std::uint64_t tag) const override;
  std::uint64_t lines(std::uint32_t line_kind) const override;

 protected:
  static constexpr Bytes context_bytes{64}, entry_bytes{8};

  /// A row of table lines.
  struct Array {
    std::uint64_t first_line = 0, lines = 0;
  };
  /// The tables of a region.
  struct Layout {
    std::uint32_t levels = 0;   ///< read one after the other; 0: the context says it all
    std::uint64_t entries = 0;  ///< written in all
    std::vector<Array> arrays;
    /// Its entries are not one a block: `locate`, `levels_of`, `line_at` and `entry_rest` say what a look-up reads and finds.
    bool own_walk = false;
    std::vector<PrefixCount> counts;  ///< for those
  };
  /// Where contexts and tables are.
  enum class Place : std::uint8_t { host, device };

  /// Lines are given out in rows of whole `unit`s of bytes, by `ranges_of(units)`.
  ContextTable(const ArchitectureOptions& options, Place place, Bytes unit);

  /// Takes room for the region's tables; false when there is none left.
  virtual bool lay_out(const Region& region, Layout& out) = 0;
  /// Number of the line that level `level` reads for a block of the region. Asked where there are several levels only: a single one is a
  /// row with an entry a block.
  virtual std::uint64_t line_of(const Layout&, std::uint32_t, std::uint64_t) const { return 0; }

  // Of a layout with a walk of its own.
  /// What a look-up of that address keeps in mind.
  virtual std::uint64_t locate(const Region&, const Layout&, Iova) const { return 0; }
  /// How many levels it reads.
  virtual std::uint32_t levels_of(const Region&, const Layout& layout, std::uint64_t) const { return layout.levels; }
  /// The line of level `level`, by what `locate` gave.
  virtual std::uint64_t line_at(const Region&, const Layout&, std::uint32_t, std::uint64_t) const { return 0; }
  /// How many bytes of the contiguous run that begins at an address its entry gives; they are cut where the run or the region ends.
  virtual Bytes entry_rest(const Region&, const Layout&, Iova) const { return Bytes(~std::uint64_t{0}); }

  /// Room for `entries` in a row.
  bool take(std::uint64_t entries, Array& out);
  void give(const Layout& layout);
  void set_ranges(std::unique_ptr<Ranges> ranges) { ranges_ = std::move(ranges); }
  /// How many units there are.
  std::uint64_t units() const { return units_; }
  Bytes unit() const { return unit_; }
  unsigned entries_shift() const { return entries_shift_; }
  /// A kind of line besides contexts and entries; its number.
  std::uint32_t add_kind(LineKind kind) {
    kinds_.push_back(std::move(kind));
    return static_cast<std::uint32_t>(kinds_.size() - 1);
  }

 private:
  struct Entry {
    Region region;
    Layout layout;
    unsigned block_shift = 12;
    std::uint64_t first_block = 0;  ///< of the addresses that operations use
    std::uint64_t first_line = 0;   ///< of the first array
    bool live = false;
    std::uint32_t generation = 0;         ///< 0: never written
    std::unique_ptr<PresentMap> pages;    ///< of a region on demand: what the table holds
    std::unique_ptr<EntryChange> change;  ///< staged: only this
  };
  /// Keys may lie far apart (some drivers draw them at random): entries by pages.
  static constexpr unsigned page_shift = 4;
  using EntryPage = std::array<Entry, 1u << page_shift>;

  /// Some drivers put a generation above the slot number (mlx4): the slot decides the place, the whole key is compared there.
  std::uint32_t place_of(Key key) const { return key.index() & place_mask_; }
  Pa context_address(std::uint32_t index) const { return options_.space.base + Bytes(index * context_bytes.raw); }
  const Entry* find(std::uint32_t index) const {
    const std::size_t page = index >> page_shift;
    return page < pages_.size() && pages_[page] ? &(*pages_[page])[index % (1u << page_shift)] : nullptr;
  }
  /// Of one that there is.
  const Entry& existing(std::uint32_t index) const { return (*pages_[index >> page_shift])[index % (1u << page_shift)]; }
  Entry& entry(std::uint32_t index);
  Content holder(std::uint32_t index) const { return Content(find(index)->generation) << 32 | index; }
  std::uint32_t stage(Entry change);
  void commit_entries(const EntryChange& change, Stale& stale);
  void own_step(const Entry& of, std::uint32_t level, const Walk& walk, Step& out) const;
  void find_page(const Entry& of, Walk& walk, Step& out) const;

  ArchitectureOptions options_;
  Place place_;
  Bytes unit_;
  std::uint32_t place_mask_;                ///< of the number of places, a power of two
  unsigned entries_shift_, context_shift_;  ///< entries and contexts of a line, as powers of two
  std::uint64_t units_;
  std::vector<LineKind> kinds_;
  Pa table_base_;
  std::unique_ptr<Ranges> ranges_;
  std::vector<std::unique_ptr<EntryPage>> pages_;       ///< by place
  std::map<std::uint64_t, std::uint32_t> lines_owner_;  ///< first line of an array -> mkey index
  std::deque<Entry> staged_;
  std::vector<std::uint32_t> spare_tickets_;
};

}  // namespace mtsim::translate

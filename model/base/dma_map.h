// The frames under a range of bytes, in the order of its addresses: what a registration hands to whoever writes a translation table, and
// what a translation table is computed from. Immutable; a few words for each extent, whatever the extent's size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/dma_run.h"
#include "base/frame_law.h"
#include "base/units.h"

namespace mtsim {

class DmaMap {
 public:
  DmaMap() = default;
  /// `length` bytes from byte `lead` (less than a page) of the first page on. `extents` cover exactly the pages that they touch.
  DmaMap(FrameLaw law, const std::vector<FrameExtent>& extents, Bytes lead, Bytes length);

  Bytes lead() const { return lead_; }
  Bytes length() const { return length_; }
  Pages pages() const { return pages_spanned(lead_.raw, length_); }

  /// From byte `offset` (less than the length) on: its address and how many bytes of the range follow it contiguously. O(log extents).
  DmaRun at(Bytes offset) const;
  /// Address of hardware block `i` when the range is cut on multiples of `block` (a power of two) of its I/O virtual addresses, the
  /// first of which is `iova`. Blocks are whole: the first may begin before the range. The blocks must fit the frames.
  Pa block(std::uint64_t i, Bytes block, Iova iova) const;

  /// Address of page `i`.
  Pa page(std::uint64_t i) const;
  /// The frame of page `i`, by its number.
  FrameExtent frame(std::uint64_t i) const;
  /// The first page of the maximal contiguous run that page `i` lies in.
  std::uint64_t run_start(std::uint64_t i) const;
  /// From `page` on: its address and how many bytes of whole pages follow it contiguously.
  DmaRun run_from(std::uint64_t page) const;
  /// How many maximal contiguous runs begin on pages [first, end). O(extents there) and what the law asks.
  std::uint64_t count_starts(std::uint64_t first, std::uint64_t end) const;
  /// Whether there is one such run at most.
  bool contiguous() const { return length_.raw == 0 || run_from(0).length == page_bytes * pages().raw; }

  /// Calls `visit(DmaRun)` for the maximal contiguous runs of whole pages, in order, while it returns true.
  template <class Visit>
  void for_each_run(Visit visit) const {
    for (std::uint64_t page = 0; page < pages().raw;) {
      const DmaRun run = run_from(page);
      if (!visit(run)) return;
      page += run.length / page_bytes;
    }
  }

  /// How many such runs there are when none may exceed `limit` pages (a longer one is cut from its start). O(extents) and what the law
  /// asks (FrameLaw::count_runs); for limits below 512 pages O(runs).
  std::uint64_t count_runs(std::uint64_t limit = ~std::uint64_t{0}) const;

  /// How many entries a page table needs that maps the pages under page numbers from `first` on, when each entry is the greatest of
  /// `sizes` (bit k: 2^k bytes, 4 KiB among them) that both addresses are multiples of and that its run still fills. O(extents) and what
  /// the law asks; O(runs) where sizes between 4 KiB and 2 MiB meet scattered runs of several pages.
  std::uint64_t count_leaves(std::uint64_t first, std::uint64_t sizes) const;

  /// The extents, in order, neighbours with consecutive numbers made one.
  std::vector<FrameExtent> extents() const;

 private:
  struct Piece {
    std::uint64_t first_page = 0;  ///< of the range
    FrameExtent frames;
    bool joined = false;  ///< physically contiguous with the end of the piece before
  };
  std::span<const Piece> pieces() const {
    if (!several_.empty()) return several_;
    return {&only_, std::size_t(only_.frames.count != 0)};
  }
  const Piece* pieces_end() const { return pieces().data() + pieces().size(); }
  const Piece* piece_of(std::uint64_t page) const;
  std::uint64_t inner_leaves(const FrameExtent& frames, std::uint64_t first, std::uint64_t sizes) const;

  FrameLaw law_;
  Piece only_;                  ///< where there is one, as in most ranges: no memory of its own to allocate and to look up
  std::vector<Piece> several_;  ///< where there are more
  Bytes lead_, length_;
};

}  // namespace mtsim

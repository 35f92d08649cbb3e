// The page table of the IOMMU that stands before a NIC: which frames lie under which device addresses, by extents. The kernel writes it
// (kernel/dma_mapping.h), the root complex reads it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/dma_map.h"
#include "base/present_map.h"
#include "base/units.h"

namespace mtsim {

class IoPageTable {
 public:
  /// Sizes of entries in the tables of VT-d and AMD-Vi that Linux uses, as a set of bits: 4 KiB, 2 MiB, 1 GiB.
  static constexpr std::uint64_t all_sizes = std::uint64_t{1} << 12 | std::uint64_t{1} << 21 | std::uint64_t{1} << 30;

  /// `law` is that of the frames that `map_pages` is given; `sizes` those of entries, 4 KiB among them.
  explicit IoPageTable(FrameLaw law = {}, std::uint64_t sizes = all_sizes) : law_(law), sizes_(sizes) {}
  std::uint64_t sizes() const { return sizes_; }

  /// Puts the frames of `map` under the device addresses from the start of a page, `first`, on. None of them may be mapped. Each entry is
  /// of the greatest size that both addresses are multiples of and that its run of frames fills.
  void map(Pa first, std::shared_ptr<const DmaMap> map) { ranges_.emplace(first, std::move(map)); }
  /// Takes away what one call of `map` put at `first`.
  void unmap(Pa first) { ranges_.erase(first); }

  /// The same of pages of `each` 4 KiB each (a power of two), under device page numbers from `first` on; they can be taken away in other
  /// parts. An entry maps one of them.
  void map_pages(std::uint64_t first, const FrameExtent& frames, std::uint64_t each = 1);
  void unmap_pages(std::uint64_t first, std::uint64_t count);

  /// Where a device's address leads; nothing when it is not mapped.
  std::optional<Pa> translate(Pa device) const;
  /// The entry that maps a device's address: `2^log` bytes from `device` on lie at `address`.
  struct Leaf {
    Pa device, address;
    unsigned log = 12;
  };
  std::optional<Leaf> leaf(Pa device) const;
  std::size_t ranges() const { return ranges_.size(); }

  /// Keeps copies of entries (an IOTLB, a device's own TLB) and is told which of them must not be used any more.
  class Copies {
   public:
    /// Of device pages [first, first + count).
    virtual void forget(std::uint64_t first, std::uint64_t count) = 0;
    virtual void forget_all() = 0;

   protected:
    ~Copies() = default;
  };
  /// `copies` must outlive the table's use. Who keeps copies is no part of the table.
  void keep_told(Copies& copies) const { copies_.push_back(&copies); }
  /// The kernel has the IOMMU invalidate copies: of pages [first, first + count), or all.
  void invalidate(std::uint64_t first, std::uint64_t count) const {
    for (Copies* copies : copies_) copies->forget(first, count);
  }
  void invalidate_all() const {
    for (Copies* copies : copies_) copies->forget_all();
  }

 private:
  FrameLaw law_;
  std::uint64_t sizes_;
  std::map<Pa, std::shared_ptr<const DmaMap>> ranges_;
  std::map<unsigned, PresentMap> pages_;  ///< by the size of their entries, as a power of two of bytes
  mutable std::vector<Copies*> copies_;
};

}  // namespace mtsim

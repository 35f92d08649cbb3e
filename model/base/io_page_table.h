// The page table of the IOMMU that stands before a NIC: which frames lie under which device addresses, by extents. The kernel writes it
// (kernel/dma_mapping.h), the root complex reads it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "base/dma_map.h"
#include "base/present_map.h"
#include "base/units.h"

namespace mtsim {

class IoPageTable {
 public:
  /// `law` is that of the frames that `map_pages` is given.
  explicit IoPageTable(FrameLaw law = {}) : pages_(law) {}

  /// Puts the frames of `map` under the device addresses from the start of a page, `first`, on. None of them may be mapped.
  void map(Pa first, std::shared_ptr<const DmaMap> map) { ranges_.emplace(first, std::move(map)); }
  /// Takes away what one call of `map` put at `first`.
  void unmap(Pa first) { ranges_.erase(first); }

  /// The same of single pages, under device page numbers from `first` on; they can be taken away in other parts.
  void map_pages(std::uint64_t first, const FrameExtent& frames) { pages_.set({first, frames, true}); }
  void unmap_pages(std::uint64_t first, std::uint64_t count) { pages_.clear(first, first + count); }

  /// Where a device's address leads; nothing when it is not mapped.
  std::optional<Pa> translate(Pa device) const;
  std::size_t ranges() const { return ranges_.size(); }

 private:
  std::map<Pa, std::shared_ptr<const DmaMap>> ranges_;
  PresentMap pages_;
};

}  // namespace mtsim

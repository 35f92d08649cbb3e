// The page table of the IOMMU that stands before a NIC: which frames lie under which device addresses, by extents. The kernel writes it
// (kernel/dma_mapping.h), the root complex reads it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "base/dma_map.h"
#include "base/units.h"

namespace mtsim {

class IoPageTable {
 public:
  /// Puts the frames of `map` under the device addresses from the start of a page, `first`, on. None of them may be mapped.
  void map(Pa first, std::shared_ptr<const DmaMap> map) { ranges_.emplace(first, std::move(map)); }
  /// Takes away what one call of `map` put at `first`.
  void unmap(Pa first) { ranges_.erase(first); }

  /// Where a device's address leads; nothing when it is not mapped.
  std::optional<Pa> translate(Pa device) const;
  std::size_t ranges() const { return ranges_.size(); }

 private:
  std::map<Pa, std::shared_ptr<const DmaMap>> ranges_;
};

}  // namespace mtsim

// The IOMMU as hardware: its caches and its walks. What the kernel pays for it is declared in kernel/iommu_params.h.
#pragma once

#include <cstdint>

#include "base/parameter.h"
#include "base/units.h"
#include "host/tag_store.h"

namespace mtsim::host {

struct IommuParams {
  std::uint32_t iotlb_entries{}, iotlb_ways{};
  Eviction iotlb_replacement{};
  std::uint32_t levels{}, nested_levels{};
  std::uint32_t structure_entries{};
  std::uint32_t walks{};
  Time walk_read;
  static void declare(Declaration<IommuParams>& d);
};

}  // namespace mtsim::host

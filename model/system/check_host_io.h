// What parameters of the PCIe link, the IOMMU and the last-level cache ask of each other.
#pragma once

#include "base/config.h"
#include "system/settings.h"

namespace mtsim::system {

/// Complains about the configuration.
void check_host_io(const Config& config, const HostSettings& host);

}  // namespace mtsim::system

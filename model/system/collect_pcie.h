// What a report says of a host's PCIe links and of what lies behind them.
#pragma once

#include <string>

#include "results/report.h"
#include "system/host.h"

namespace mtsim::system {

/// Bytes and TLPs of a link by what they were for.
void collect_purposes(const std::string& link, const pcie::Link::Counts& counts, results::Report& report);
/// Of the IOMMU and the last-level cache, where there are any.
void collect_root_complex(const std::string& host, const host::RootComplex& root, results::Report& report);

}  // namespace mtsim::system

// Reports as one tidy table for spreadsheets and plotting: `variant,section,metric,unit,value`, one figure a line.
#pragma once

#include <span>
#include <string>

#include "results/report.h"

namespace mtsim::results {

/// The figures of the JSON, names joined by dots (`caches`, `a.nic.mtt_cache.hits`, `count`, `12`), without the histograms' bins, the
/// configuration's text and the machine's figures. One report is one variant without a name. Quoted as RFC 4180 asks.
std::string to_csv(std::span<const Variant>);

/// How busy units were over time, a line for each point of each: `variant,from_ns,to_ns,unit,capacity,in_use`.
std::string occupancy_csv(std::span<const Variant>);

}  // namespace mtsim::results

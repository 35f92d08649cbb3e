// Reports as JSON, complete enough to be read back: the histograms' bins stand beside what is derived from them.
//
// Top level: schema, version, seed, trace, partial, summary, operations, latency, registration, caches, resources, pcie, cpu, network,
// counters, faults, config, machine; with variants: schema, version, variants, and each variant holds the rest. A key ends in its
// unit (`busy_ns`, `payload_bytes`, `utilisation_share`); a key without one is a count. Times in ns are exact to the picosecond up to
// 2.5 hours; sums over many operations are whole picoseconds (`total_ps`; as text where 64 bits do not hold them). What is empty is
// left out.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/report.h"

namespace mtsim::results {

struct JsonOptions {
  bool machine = true;  ///< write the `machine` object of reports that have one
};

/// One report at top level. The same report gives the same bytes. Ends in a newline.
std::string to_json(const Report&, JsonOptions = {});
/// Several configurations run together, under `variants` in the order given.
std::string to_json(std::span<const Variant>, JsonOptions = {});

/// Reads what to_json wrote: the variants, or one variant without a name. `source` names the text in errors. Throws UserError when
/// the text is no JSON, lacks a field or has another schema version.
std::vector<Variant> parse_json(std::string_view text, const std::string& source);

}  // namespace mtsim::results

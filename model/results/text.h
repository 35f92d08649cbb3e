// The summary that a person reads first: plain text of at most 50 lines by 100 columns. What is empty is left out, and where there is
// more than fits the rows that tell most are shown and the rest counted; the JSON has it all.
#pragma once

#include <span>
#include <string>

#include "results/report.h"

namespace mtsim::results {

struct TextOptions {
  bool colour = false;  ///< ANSI colours; whether the reader wants any is the caller's to know
};

/// One run: what was run, throughput, latencies and where the time goes, registration, what saturates, caches, CPUs, PCIe, and what
/// came out other than expected.
std::string summary(const Report&, TextOptions = {});

/// Several variants, one column each, four to a block: the main figures, the time of an operation by step, what saturates.
std::string side_by_side(std::span<const Variant>, TextOptions = {});

}  // namespace mtsim::results

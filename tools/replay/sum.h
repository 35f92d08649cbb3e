// Results of several runs, or of several processes of one run, as those of one.
#pragma once

#include "results/report.h"

namespace mtsim::replay {

/// `after`: a further run. `beside`: other hosts of the same run; the most that was pinned is then at most what it says, since each may
/// have had its most at another time.
enum class How : unsigned char { after, beside };
void add(results::Report& sum, const results::Report& more, How how);

}  // namespace mtsim::replay

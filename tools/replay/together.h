// A replay whose hosts run in several processes: each runs its own, and the hub puts together what comes of all.
#pragma once

#include "peers.h"
#include "results/output_file.h"
#include "session.h"

namespace mtsim::replay {

/// The results of all hosts at the hub, of its own elsewhere. `operations` and `calls`, which only the hub has, may be null; they get the
/// rows of all hosts in the order in which they ended. Throws as run() does; the others are told why.
Outcome run_together(const program::Trace& trace, const Options& options, const Ground& ground, const Company& company,
                     results::OutputFile* operations, results::OutputFile* calls);

/// What others are to know of this process. `own` holds numbers of the trace's hosts.
Membership membership_of(const program::Trace& trace, const Options& options, std::set<std::uint32_t> own);

}  // namespace mtsim::replay

// What the system counts of a replay: counters of its devices, and what it says of this process.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "results/report.h"

namespace mtsim::replay {

/// Counters by name, as they stand: those of each device's port in sysfs (`rxe0.hw_counters.sent_pkts`), and faults and CPU time of this
/// process (`process.minor_faults`).
using Counts = std::map<std::string, std::uint64_t>;
Counts count_now(const std::vector<std::string>& devices, std::uint8_t port);
/// What has come to each between the two. One that was set back in between is left out.
std::vector<results::Counter> counted_between(const Counts& before, const Counts& after);

/// Minor and major page faults of the calling thread up to now.
std::uint64_t faults_of_this_thread();

}  // namespace mtsim::replay

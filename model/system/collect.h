// Reads the counts of the model's units into a report.
#pragma once

#include "system/host.h"

namespace mtsim::system {

/// Everything that one host has counted since its logs were restarted (operations, registrations) or since the start (all else).
void collect_host(Host& host, results::Report& report);
void collect_network(fabric::Switch& network, const std::vector<std::unique_ptr<Host>>& hosts, results::Report& report);

/// Takes away what `start` had counted; both were collected from the same system. Longest waits and greatest depths stay those of the
/// whole run.
void subtract(results::Report& report, const results::Report& start);

/// Takes the window's waits off the time that registrations took, and leaves out what they did not use. Once, after `subtract` if that is
/// called at all.
void complete_contention(results::Report& report);

}  // namespace mtsim::system

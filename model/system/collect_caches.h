// What the caches of one NIC have counted, for a report.
#pragma once

#include <string>

#include "nic/nic.h"
#include "results/report.h"

namespace mtsim::system {

/// `on` names the NIC: "a.nic".
void collect_caches(const std::string& on, const nic::Nic& nic, const nic::NicSettings& settings, results::Report& report);

void collect_chains(const std::string& on, const nic::Walker& walker, results::Report& report);

}  // namespace mtsim::system

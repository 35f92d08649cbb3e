// What operations waited for, for a report.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "system/host.h"

namespace mtsim::system {

/// `responder look-up: walk slot`.
std::string wait_name(ports::Step step, ports::Cause cause);
/// The longest waits of an operation as a list for people, at most three: `look-up: walk slot 120.5 ns, wire: wire out 80.0 ns`.
std::string longest_waits(const ports::Waits& waits);
/// Fills in the waits of the report's operations, which the hosts have told already.
void collect_waits(const std::vector<std::unique_ptr<Host>>& hosts, results::Report& report);

}  // namespace mtsim::system

// What stands in a NIC's queues: for a run that no longer moves.
#pragma once

#include <string>
#include <vector>

#include "nic/nic.h"

namespace mtsim::system {

/// Lines for people, `name` first: each QP with what it has outstanding, each look-up and read under way or waiting, what is in use of each
/// resource. Of one queue's content a few dozen lines at most; how many more there are is said.
void describe_queues(const std::string& name, const nic::Nic& nic, std::vector<std::string>& lines);

}  // namespace mtsim::system

// The values of expect=: statuses for polls, states for query_qp, events for event, errno names for all other calls.
#pragma once

#include <string_view>

#include "program/op.h"
#include "program/trace_values.h"

namespace mtsim::program {

/// Reads the value of an expectation of `kind` into `op`: expect, and for events their names into word. False after telling what is wrong.
bool read_expectation(ValueReader&, std::string_view text, Kind kind, Op& op);

}  // namespace mtsim::program

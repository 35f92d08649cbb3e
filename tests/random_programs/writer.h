// A random program as `mtrace 1` text.
#pragma once

#include "program.h"

namespace mtsim::random_programs {

/// One line, without its end.
std::string line_of(const Operation& operation);
/// The whole trace: line n + header_lines of it is operation n, from 1.
std::string trace_of(const Program& program);
inline constexpr std::size_t header_lines = 2;

/// What is in it, for people to read: operations, opcodes, expected answers and waits, each with its number.
std::string census_of(const Program& program);

}  // namespace mtsim::random_programs

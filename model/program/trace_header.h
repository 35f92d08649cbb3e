// The lines of a trace that are not operations: the version, `meta` and `host`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/op.h"
#include "program/trace_problems.h"

namespace mtsim::program {

/// The keys and values of one `meta` line, in order.
using Meta = std::vector<std::pair<std::string, std::string>>;

struct HostLine {
  std::string name;
  std::uint32_t cpus = 0;  ///< 0: not said
};

enum class LineKind : std::uint8_t { blank, meta, host, operation };
LineKind kind_of_line(std::string_view line);

/// The first line of a trace without the mark that some editors put before UTF-8. False after telling that it is not `mtrace 1`.
bool read_version(std::string_view line, Problems&);
bool read_meta(std::string_view line, std::uint64_t number, Problems&, Meta& out);
bool read_host(std::string_view line, std::uint64_t number, Problems&, HostLine& out);

}  // namespace mtsim::program

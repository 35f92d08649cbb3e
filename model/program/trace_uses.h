// What a trace asks of a device beyond the plain form of each operation, so that a run can be refused before it starts.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "program/op.h"
#include "program/trace_parser.h"

namespace mtsim::program {

/// Collects each kind of operation ("rereg_mr"), opcode ("post_send cas") and feature ("create_qp type=uc", "reg_mr access=od",
/// "poll wait=event" ...) once, with its first place, in the order of the trace.
class UseList {
 public:
  explicit UseList(std::string file) : file_(std::move(file)) {}
  void note(const LineParser&, const Op&);
  std::vector<Program::Use> take() { return std::move(uses_); }

 private:
  enum class Feature : std::uint8_t;
  void note_features(const LineParser&, const Op&);
  void note_registration(const LineParser&, const Op&);
  void note_implicit_keys(const LineParser&, const Op&);
  void add(Feature, const Op&, std::uint32_t column);
  void add(std::string what, const Op&, std::uint32_t column);

  std::string file_;
  std::vector<Program::Use> uses_;
  std::set<NameId> implicit_;                             ///< MRs that the last line to make them made implicit ones
  std::uint64_t kinds_ = 0, opcodes_ = 0, features_ = 0;  ///< already noted, as bits
};

}  // namespace mtsim::program

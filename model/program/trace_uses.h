// What a trace asks of a device beyond the plain form of each operation, so that a run can be refused before it starts.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/op.h"
#include "program/trace_parser.h"

namespace mtsim::program {

/// Collects each kind of operation ("rereg_mr"), opcode ("post_send cas") and feature ("create_qp type=uc", "reg_mr access=od",
/// "poll wait=event" ...) once, with its first place, in the order of the trace.
class UseList {
 public:
  /// `names` must outlive the list.
  UseList(std::string file, const Names& names) : file_(std::move(file)), names_(names) {}
  void note(const LineParser&, const Op&);
  /// A QP or SRQ on another NIC than the first is known for one when all lines have been seen: it comes last.
  std::vector<Program::Use> take();
  std::vector<Program::NicUse> take_nics() { return std::move(nics_); }

 private:
  enum class Feature : std::uint8_t;
  void note_features(const LineParser&, const Op&);
  void note_registration(const LineParser&, const Op&);
  void note_nic(const LineParser&, const Op&);
  void note_queue(const LineParser&, const Op&);
  void note_implicit_keys(const LineParser&, const Op&);
  void add(Feature, const Op&, std::uint32_t column);
  void add(std::string what, const Op&, std::uint32_t column);

  /// A PD's name: whether any line makes it on another NIC than the first, and where a QP or SRQ is first made on it.
  struct PdUse {
    bool elsewhere = false;
    std::uint64_t line = 0;  ///< 0: none is
    std::uint32_t column = 0;
    Kind kind = Kind::create_qp;
  };

  std::string file_;
  std::set<std::pair<std::uint32_t, std::string>, std::less<>> known_nics_;
  std::vector<Program::NicUse> nics_;
  std::map<NameId, PdUse> pds_;
  const Names& names_;
  std::vector<Program::Use> uses_;
  std::set<NameId> implicit_;                             ///< MRs that the last line to make them made implicit ones
  std::uint64_t kinds_ = 0, opcodes_ = 0, features_ = 0;  ///< already noted, as bits
};

}  // namespace mtsim::program

// What is checked over a whole trace: names that nobody makes, request numbers that do not rise, barriers that never open. Its memory
// grows with the names of a trace, not with its length.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/op.h"
#include "program/trace_parser.h"
#include "program/trace_problems.h"

namespace mtsim::program {

class TraceCheck {
 public:
  TraceCheck(Names& names, Problems& problems) : names_(names), problems_(problems) {}

  void host_declared(std::uint32_t host);
  void operation(const LineParser&, const Op&);
  /// A line that could not be read may still make what others name.
  void broken_line(const LineParser&, const Op&);
  /// After the last line.
  void finish();

 private:
  struct Name {
    std::uint8_t made = 0;     ///< kinds of objects made under it, as bits
    std::uint16_t wanted = 0;  ///< bits of Wanted already noted in uses_
  };
  struct NamedAt {
    Reference reference;
    std::uint64_t line;
  };
  struct HostRequests {
    std::uint64_t last = 0, line = 0;  ///< the newest wr= and its line; line 0: none yet
  };
  struct Barrier {
    std::uint32_t n = 0, column = 0;
    std::uint64_t line = 0, arrivals = 0;
    std::vector<ActorId> actors;
  };

  Name& name(NameId);
  void note_names(const LineParser&, const Op&);
  void note_request(const LineParser&, const Op&);
  void note_barrier(const LineParser&, const Op&);
  void note_fork(const LineParser&, const Op&);
  void check_name(const NamedAt&);
  void check_barriers();
  void check_forks();
  bool is_known(std::uint32_t host) const { return host < hosts_.size() && hosts_[host]; }
  std::string known_hosts() const;
  std::vector<std::string> made_names(std::uint32_t host, Wanted) const;

  Names& names_;
  Problems& problems_;
  std::vector<Name> made_;
  std::vector<NamedAt> uses_;  ///< the first use of each name as each kind of object
  std::vector<HostRequests> requests_;
  struct Fork {
    std::uint64_t line = 0;  ///< 0: none yet
    std::uint32_t column = 0;
    ActorId actor = 0;  ///< who does it
  };
  std::vector<Barrier> barriers_;
  std::vector<Fork> forks_;  ///< by the copy's name
  std::vector<bool> hosts_;  ///< that have an actor or a line of their own
  bool names_lost_ = false;  ///< a line makes something on a host that could not be read
};

}  // namespace mtsim::program

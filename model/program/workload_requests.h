// Operations of a workload's work, filled in place. A cursor is handed the same Op again and again and sets every field that the
// operation's kind looks at, and no other: clearing the whole would cost more than the rest.
#pragma once

#include <cstdint>

#include "program/op.h"

namespace mtsim::program {

/// Bytes at both ends of one request.
struct Place {
  AddressRef local, remote;
};

/// What the requests of one thread have in common.
struct RequestForm {
  ActorId actor = 0;
  NameId cq = 0;
  verbs::Wait wait = verbs::Wait::spin;
  verbs::Opcode opcode = verbs::Opcode::write;
  verbs::Send flags = verbs::Send::none;  ///< besides `signaled`
  std::uint64_t length = 0;
  std::uint64_t compute_ns = 0;           ///< of the program's own work on a block
  std::uint64_t thread = 0, threads = 1;  ///< of its host

  /// The number of the thread's request `k`, counted from 0: the threads of a host share the numbers out by turns.
  std::uint64_t wr(std::uint64_t k) const { return k * threads + thread + 1; }

  void post(Op&, NameId qp, std::uint64_t wr, bool signaled, const Place&) const;
  /// The program's own work on a block.
  void compute(Op&) const;
  /// Waits for one completion of the CQ.
  void poll_next(Op&) const;
  void poll_for(Op&, std::uint64_t wr) const;

 private:
  void begin(Op&, Kind, NameId id) const;
};

}  // namespace mtsim::program

// Key checks and address translation, seen from the units of the NIC that move data.
#pragma once

#include <systemc>

#include "engine/flow.h"
#include "ports/queues.h"
#include "ports/wire.h"
#include "translate/architecture.h"
#include "verbs/judge.h"

namespace mtsim::ports {

/// A look-up that needs a page fault of the NIC, which nobody serves yet: the run cannot go on.
struct UnservedFault {
  Time at;
  translate::Fault reason = translate::Fault::no_translation;
  Key key;
  Iova address;
  bool writes = false;
  std::uint32_t qpn = 0;  ///< of this host
  verbs::Opcode opcode = verbs::Opcode::write;
  bool local = true;              ///< the operation is of this host's own: `wr` counts
  std::uint64_t wr = 0;           ///< of the request, or of the receive
  std::uint32_t source_port = 0;  ///< otherwise the peer's: its port on the switch, QP and request
  std::uint32_t source_qpn = 0;
  std::uint32_t request = 0;
};

/// One look-up: may `wish` be granted, and where does `address` (inside it) lie? Kept by the caller until it is over.
struct Query {
  verbs::Wish wish;
  Iova address;
  engine::Order order;
  // Whose it is, where a look-up cannot be ended.
  std::uint32_t qpn = 0;
  const Wqe* wqe = nullptr;        ///< the request of this host that needs it, or the receive
  const Packet* packet = nullptr;  ///< the request of a peer
  Waits* waits = nullptr;          ///< where its waits are noted, as of that step; null: nowhere
  ports::Step wait_step = ports::Step::translation;
  bool context_only = false;  ///< the key's context is wanted and nothing judged: `step.grant`, null if there is none

  // The answer.
  verbs::Verdict verdict = verbs::Verdict::granted;
  bool fault = false;  ///< granted, but there is no translation
  Pa physical;
  Bytes length;                ///< contiguous bytes from there on
  bool relaxed = false;        ///< the key's MR was registered with relaxed ordering
  std::uint32_t identity = 0;  ///< of what the key stands for (verbs::Grant::identity)
  Time judged, ready;          ///< when the key was judged, when the translation is there

  // The Walker's.
  translate::Walk walk;
  translate::Step step;
  bool stalled = false;         ///< by a cache that blocks: it has not looked for the line of `step` yet
  bool through_window = false;  ///< the key was a window's, which has granted the wish: its MR is asked now
  Key region{};                 ///< of that window
  std::uint32_t region_pd = 0;
  std::uint64_t shift = 0;
  bool ok() const { return verdict == verbs::Verdict::granted && !fault; }
};

class Translator : public virtual sc_core::sc_interface {
 public:
  /// Looks up from `start` on; true when every line was in the caches or the key was refused: the answer is complete and holds from
  /// `query.ready` on. False: `co_await walk(query)` must follow, at once.
  virtual bool probe(Query& query, Time start) = 0;
  /// Fetches what is missing. The value means nothing.
  virtual engine::Task<int> walk(Query& query) = 0;
};

}  // namespace mtsim::ports

// Key checks and address translation, seen from the units of the NIC that move data.
#pragma once

#include <systemc>

#include "engine/flow.h"
#include "translate/architecture.h"
#include "verbs/judge.h"

namespace mtsim::ports {

/// One look-up: may `wish` be granted, and where does `address` (inside it) lie? Kept by the caller until it is over.
struct Query {
  verbs::Wish wish;
  Iova address;
  engine::Order order;

  // The answer.
  verbs::Verdict verdict = verbs::Verdict::granted;
  bool fault = false;  ///< granted, but there is no translation
  Pa physical;
  Bytes length;        ///< contiguous bytes from there on
  Time judged, ready;  ///< when the key was judged, when the translation is there

  // The Walker's.
  translate::Walk walk;
  translate::Step step;
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

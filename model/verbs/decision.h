// A refusal with everything that went into it, for whoever asks why.
#pragma once

#include <optional>

#include "verbs/requester.h"
#include "verbs/rules.h"
#include "verbs/window.h"

namespace mtsim::verbs {

struct Decision {
  RequestCheck work = RequestCheck::none;              ///< of the requester, before it looks at keys
  Check check = Check::none;                           ///< the responder's check that failed; `none`: it was the requester's own
  Verdict verdict = Verdict::granted;                  ///< of a key
  BindCheck bind = BindCheck::none;                    ///< of a bind
  InvalidateCheck invalidate = InvalidateCheck::none;  ///< of an invalidation
  Opcode opcode = Opcode::write;
  std::uint64_t wr = 0;         ///< of this host's request, or of the receive; 0: the peer's request
  Wish wish;                    ///< what was asked of the key; of a bind or an invalidation the window's key alone
  std::optional<Grant> grant;   ///< what the key's context held; nothing: there is none
  bool no_translation = false;  ///< the key granted it, but there was nothing in its table
};

/// Which check refused, in a few words.
const char* explain(const Decision& decision);

}  // namespace mtsim::verbs

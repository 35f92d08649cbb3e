#include "verbs/decision.h"

namespace mtsim::verbs {

const char* explain(const Decision& decision) {
  if (decision.bind != BindCheck::none) return explain(decision.bind);
  if (decision.invalidate != InvalidateCheck::none) return explain(decision.invalidate);
  if (decision.verdict != Verdict::granted) return explain(decision.verdict);
  if (decision.no_translation) return "the key's table has no translation";
  return decision.check == Check::none ? "the request is not one that the QP can carry out" : explain(decision.check);
}

}  // namespace mtsim::verbs

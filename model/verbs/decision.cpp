#include "verbs/decision.h"

namespace mtsim::verbs {
namespace {

const char* explain_window(Verdict verdict) {
  switch (verdict) {
    case Verdict::wrong_variant:
      return "the key's low byte is not the memory window's";
    case Verdict::not_valid:
      return "the memory window is not bound";
    case Verdict::other_pd:
      return "the memory window belongs to another protection domain";
    case Verdict::no_access:
      return "the memory window does not grant this access";
    case Verdict::out_of_range:
      return "the access reaches outside the memory window";
    default:
      return explain(verdict);
  }
}

}  // namespace

const char* explain(const Decision& decision) {
  if (decision.bind != BindCheck::none) return explain(decision.bind);
  if (decision.invalidate != InvalidateCheck::none) return explain(decision.invalidate);
  if (decision.verdict != Verdict::granted)
    return decision.grant && is_window(*decision.grant) ? explain_window(decision.verdict) : explain(decision.verdict);
  if (decision.no_translation) return "the key's table has no translation";
  return decision.check == Check::none ? "the request is not one that the QP can carry out" : explain(decision.check);
}

}  // namespace mtsim::verbs

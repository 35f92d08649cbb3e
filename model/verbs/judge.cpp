#include "verbs/judge.h"

namespace mtsim::verbs {

const char* explain(Verdict verdict) {
  switch (verdict) {
    case Verdict::granted:
      return "granted";
    case Verdict::no_such_key:
      return "no memory region has this key index";
    case Verdict::wrong_variant:
      return "the key's low byte is not the region's";
    case Verdict::not_valid:
      return "the memory region is no longer valid";
    case Verdict::other_pd:
      return "the memory region belongs to another protection domain";
    case Verdict::no_access:
      return "the memory region does not grant this access";
    case Verdict::out_of_range:
      return "the access reaches outside the memory region";
  }
  return "";
}

}  // namespace mtsim::verbs

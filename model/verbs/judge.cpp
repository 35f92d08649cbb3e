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
    case Verdict::other_qp:
      return "the memory window is bound to another QP";
    case Verdict::no_access:
      return "the memory region does not grant this access";
    case Verdict::out_of_range:
      return "the access reaches outside the memory region";
  }
  return "";
}

const char* explain(Nak nak) {
  switch (nak) {
    case Nak::none:
      return "none";
    case Nak::sequence:
      return "sequence error";
    case Nak::receiver_not_ready:
      return "receiver not ready";
    case Nak::invalid_request:
      return "invalid request";
    case Nak::remote_access:
      return "remote access error";
    case Nak::remote_operational:
      return "remote operational error";
  }
  return "";
}

}  // namespace mtsim::verbs

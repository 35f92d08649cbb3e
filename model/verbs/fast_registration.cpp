#include "verbs/fast_registration.h"

#include <cerrno>

namespace mtsim::verbs {
namespace {

constexpr Access remote_rights = Access::remote_read | Access::remote_write | Access::remote_atomic;

}  // namespace

Grant unregistered(Key key, std::uint32_t pd) {
  Grant out;
  out.key = key;
  out.pd = pd;
  out.kind = KeyKind::fast_region;
  return out;
}

FastCheck check_register(const FastRegister& request, const Grant* region, std::uint32_t qp_pd) {
  if (region == nullptr || region->kind != KeyKind::fast_region || region->key != request.key) return FastCheck::kind;
  if (region->valid) return FastCheck::state;
  if (region->pd != qp_pd) return FastCheck::pd;
  return request.new_key.index() == request.key.index() ? FastCheck::none : FastCheck::key;
}

Grant registered(const FastRegister& request, const Grant& region) {
  Grant out = region;
  out.key = request.new_key;
  out.access = request.access;
  out.start = request.address;
  out.length = request.length;
  out.valid = true;
  return out;
}

FastCheck check_fast_invalidate(const Grant* region, Key key, std::uint32_t qp_pd, bool remote, std::uint32_t bound_windows) {
  if (region == nullptr || region->kind != KeyKind::fast_region) return FastCheck::kind;
  if (region->key != key) return FastCheck::key;
  if (remote && region->valid && (region->access & remote_rights) == Access::none) return FastCheck::key;
  if (region->pd != qp_pd) return FastCheck::pd;
  return bound_windows == 0 ? FastCheck::none : FastCheck::windows;
}

Grant freed(const Grant& region) {
  Grant out = region;
  out.valid = false;
  out.access = Access::none;
  out.start = Iova();
  out.length = Bytes();
  return out;
}

bool refuses_invalidation(const Grant* grant, Key key, std::uint32_t qp_pd, std::uint32_t qpn, bool remote, std::uint32_t bound_windows) {
  if (grant != nullptr && grant->kind == KeyKind::fast_region)
    return check_fast_invalidate(grant, key, qp_pd, remote, bound_windows) != FastCheck::none;
  return check_invalidate(grant, key, qp_pd, qpn, ib_rules()) != InvalidateCheck::none;
}

int errno_of(FastCheck check) {
  if (check == FastCheck::none) return 0;
  return check == FastCheck::pd ? EACCES : EINVAL;
}

const char* explain(FastCheck check) {
  switch (check) {
    case FastCheck::none:
      return "none";
    case FastCheck::kind:
      return "no memory region for fast registration has this key";
    case FastCheck::state:
      return "the memory region has not been invalidated";
    case FastCheck::pd:
      return "the memory region belongs to another protection domain than the QP";
    case FastCheck::key:
      return "the key is not the memory region's";
    case FastCheck::windows:
      return "memory windows are bound to the memory region";
  }
  return "";
}

}  // namespace mtsim::verbs

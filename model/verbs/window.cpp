#include "verbs/window.h"

namespace mtsim::verbs {
namespace {

constexpr Access remote_rights = Access::remote_read | Access::remote_write | Access::remote_atomic;

bool is_inside(const Grant& region, Iova address, Bytes length) {
  if (address < region.start || length > region.length) return false;
  return address.raw - region.start.raw <= region.length.raw - length.raw;
}

BindCheck check_region(const Bind& bind, const Grant* region, std::uint32_t pd, const Rules::Windows& rules) {
  if (region == nullptr || is_window(*region) || region->key != bind.region || !region->valid) return BindCheck::region_key;
  if (rules.region_pd && region->pd != pd) return BindCheck::region_pd;      // C10-72
  if (!has(region->access, Access::mw_bind)) return BindCheck::region_bind;  // C10-73
  const bool writes = (bind.access & (Access::remote_write | Access::remote_atomic)) != Access::none;
  if (writes && !has(region->access, Access::local_write)) return BindCheck::region_write;  // C10-74
  if (has(region->access, Access::zero_based)) return BindCheck::region_zero_based;
  if (!rules.zero_inside && has(bind.access, Access::zero_based)) return bind.length <= region->length ? BindCheck::none : BindCheck::range;
  return is_inside(*region, bind.address, bind.length) ? BindCheck::none : BindCheck::range;  // C10-75
}

}  // namespace

BindCheck check_bind(const Bind& bind, const Grant* window, const Grant* region, std::uint32_t qp_pd, const Rules& rules) {
  if (window == nullptr || !is_window(*window) || window->key != bind.window) return BindCheck::window_key;
  const bool type_2 = window->kind == KeyKind::window_2;
  if (rules.windows.kinds_apart && bind.by_call == type_2) return BindCheck::window_type;
  if ((type_2 || rules.windows.type_1_pd) && window->pd != qp_pd) return BindCheck::window_pd;
  if (type_2 && window->valid) return BindCheck::window_bound;  // o10-37.2.30
  const bool empty = bind.region.raw == 0 || bind.length.raw == 0;
  if (type_2 && empty) return BindCheck::window_empty;                                // o10-37.2.40
  if (!type_2 && has(bind.access, Access::zero_based)) return BindCheck::zero_based;  // o10-36.2.2
  if ((bind.access | remote_rights | Access::zero_based) != (remote_rights | Access::zero_based)) return BindCheck::access;
  return empty ? BindCheck::none : check_region(bind, region, window->pd, rules.windows);
}

Grant bound(const Bind& bind, const Grant& window, const Grant* region, std::uint32_t qpn, const Rules& rules) {
  Grant out = window;
  out.key = Key((window.key.raw & ~0xffu) | (bind.new_key.raw & 0xffu));
  out.valid = true;
  out.region = Key();
  out.length = Bytes();
  out.access = Access::none;
  out.shift = 0;
  if (bind.region.raw == 0 || bind.length.raw == 0) return out;
  out.region = bind.region;
  out.region_pd = region == nullptr ? window.pd : region->pd;
  out.access = bind.access & remote_rights;
  out.qpn = window.kind == KeyKind::window_2 ? qpn : 0;
  const bool zero_based = has(bind.access, Access::zero_based);
  out.shift = zero_based ? bind.address.raw : 0;
  out.start = zero_based ? Iova() : bind.address;
  out.length = bind.length;
  if (rules.windows.bounds || region == nullptr) return out;
  // Judged by the bounds of its MR alone (through_window): a zero-based window has bytes before its first.
  out.start = Iova();
  out.length = Bytes(~std::uint64_t{0});
  return out;
}

Grant unbound(Key key, std::uint32_t pd, std::uint8_t type) {
  Grant out;
  out.key = key;
  out.pd = pd;
  out.kind = type == 1 ? KeyKind::window_1 : KeyKind::window_2;
  out.valid = type == 1;
  return out;
}

InvalidateCheck check_invalidate(const Grant* grant, Key key, std::uint32_t qp_pd, std::uint32_t qpn, const Rules& rules) {
  if (grant == nullptr || grant->key != key) return InvalidateCheck::key;
  if (grant->kind != KeyKind::window_2) return InvalidateCheck::kind;
  if (!rules.windows.invalidator) return InvalidateCheck::none;
  if (grant->pd != qp_pd) return InvalidateCheck::pd;
  return grant->valid && grant->qpn != qpn ? InvalidateCheck::qp : InvalidateCheck::none;
}

Grant invalidated(const Grant& grant) {
  Grant out = grant;
  out.valid = false;
  out.region = Key();
  out.length = Bytes();
  out.access = Access::none;
  out.qpn = 0;
  return out;
}

const char* explain(BindCheck check) {
  switch (check) {
    case BindCheck::none:
      return "none";
    case BindCheck::window_key:
      return "no memory window has this key";
    case BindCheck::window_type:
      return "windows of type 1 are bound by ibv_bind_mw, those of type 2 by work requests";
    case BindCheck::window_pd:
      return "the memory window belongs to another protection domain than the QP";
    case BindCheck::window_bound:
      return "the memory window is bound and has not been invalidated";
    case BindCheck::window_empty:
      return "a window of type 2 cannot be bound to nothing";
    case BindCheck::zero_based:
      return "a window of type 1 cannot be zero-based";
    case BindCheck::access:
      return "a window grants remote rights only";
    case BindCheck::region_key:
      return "no memory region has this key";
    case BindCheck::region_pd:
      return "the memory region belongs to another protection domain";
    case BindCheck::region_bind:
      return "the memory region was registered without MW_BIND";
    case BindCheck::region_write:
      return "a window that may be written needs LOCAL_WRITE of its memory region";
    case BindCheck::region_zero_based:
      return "the memory region is zero-based";
    case BindCheck::range:
      return "the window reaches outside the memory region";
  }
  return "";
}

const char* explain(InvalidateCheck check) {
  switch (check) {
    case InvalidateCheck::none:
      return "none";
    case InvalidateCheck::key:
      return "no memory window has this key";
    case InvalidateCheck::kind:
      return "the key is not one that can be invalidated";
    case InvalidateCheck::pd:
      return "the memory window belongs to another protection domain";
    case InvalidateCheck::qp:
      return "the memory window is bound to another QP";
  }
  return "";
}

}  // namespace mtsim::verbs

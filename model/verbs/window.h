// Memory windows: what a bind, an invalidation and a deregistration may do (InfiniBand Architecture Specification, volume 1, 10.6.6 and
// 10.6.7). Pure functions on grants.
#pragma once

#include <optional>

#include "verbs/judge.h"
#include "verbs/rules.h"

namespace mtsim::verbs {

/// A bind, as a work request asks for it.
struct Bind {
  Key window;   ///< its rkey up to now
  Key new_key;  ///< its rkey from now on: only the low byte may differ
  Key region;   ///< lkey of the MR; 0: none, which unbinds
  Iova address;
  Bytes length;
  Access access = Access::none;  ///< remote rights, `zero_based`
  bool by_call = false;          ///< ibv_bind_mw, for windows of type 1; else IBV_WR_BIND_MW, for those of type 2
};

/// ibv_inc_rkey: the key with its low byte advanced by one, which wraps.
constexpr Key next_variant(Key key) { return Key((key.raw & ~0xffu) | ((key.raw + 1) & 0xffu)); }

/// The checks of a bind, in order.
enum class BindCheck : std::uint8_t {
  none,
  window_key,    ///< the window's key is its key, and a window's
  window_type,   ///< by call for type 1, by work request for type 2
  window_pd,     ///< window, QP and MR are of one PD
  window_bound,  ///< of type 2: it has been invalidated before
  window_empty,  ///< of type 2: it has an MR and a length
  zero_based,    ///< type 1 has process addresses
  access,        ///< remote rights and nothing else
  region_key,    ///< the MR's key is its key
  region_pd,
  region_bind,   ///< it was registered with MW_BIND
  region_write,  ///< and with LOCAL_WRITE for a window that may be written
  region_zero_based,
  range,  ///< the window lies inside
};
const char* explain(BindCheck check);

/// `window` and `region` are what the keys' contexts hold; null where no context has the index.
BindCheck check_bind(const Bind& bind, const Grant* window, const Grant* region, std::uint32_t qp_pd, const Rules& rules);
/// What the window grants once a bind that passed its checks has been carried out by QP `qpn`.
Grant bound(const Bind& bind, const Grant& window, const Grant* region, std::uint32_t qpn, const Rules& rules);
/// What a new window grants: type 1 is valid and opens nothing, type 2 is free.
Grant unbound(Key key, std::uint32_t pd, std::uint8_t type);

/// Why a LOCAL_INV, or the key that a SEND_WITH_INV names, is refused.
enum class InvalidateCheck : std::uint8_t {
  none,
  key,   ///< no context has it
  kind,  ///< windows of type 2 alone; user MRs and windows of type 1 are not made for it
  pd,
  qp,  ///< a window is bound to another QP
};
const char* explain(InvalidateCheck check);
/// Invalidating a window that is free already is no error.
InvalidateCheck check_invalidate(const Grant* grant, Key key, std::uint32_t qp_pd, std::uint32_t qpn, const Rules& rules);
Grant invalidated(const Grant& grant);

}  // namespace mtsim::verbs

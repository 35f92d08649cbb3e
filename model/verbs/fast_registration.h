// Fast registration, which kernel users have: an MR is made once without memory (alloc_mr), and REG_MR and LOCAL_INV requests open and
// close it again and again (InfiniBand Architecture Specification, volume 1, 10.6.3 and 10.6.5; Linux sw/rxe/rxe_mr.c). Pure functions on
// grants.
#pragma once

#include "verbs/judge.h"
#include "verbs/rules.h"
#include "verbs/window.h"

namespace mtsim::verbs {

/// What a new MR for fast registration grants: nothing, it is free.
Grant unregistered(Key key, std::uint32_t pd);

/// A REG_MR request.
struct FastRegister {
  Key key;      ///< of the MR up to now
  Key new_key;  ///< from now on: only the low byte may differ
  Iova address;
  Bytes length;
  Access access = Access::none;
};

/// The checks of a REG_MR, in order. Each ends the request with Rules::Requester::invalidate.
enum class FastCheck : std::uint8_t {
  none,
  kind,     ///< the key is one of an MR for fast registration
  state,    ///< the MR is free
  pd,       ///< MR and QP are of one PD
  key,      ///< REG_MR: only the low byte changes; LOCAL_INV: the key is the MR's
  windows,  ///< LOCAL_INV: no window is bound to the MR
};
const char* explain(FastCheck check);
/// Positive errno by which a driver in software refuses it in the kernel (siw_invalidate_stag, rxe_reg_fast_mr).
int errno_of(FastCheck check);

/// `region` is what the key's context holds; null where no context has the index.
FastCheck check_register(const FastRegister& request, const Grant* region, std::uint32_t qp_pd);
/// What the MR grants once a REG_MR that passed its checks has been carried out.
Grant registered(const FastRegister& request, const Grant& region);

/// A LOCAL_INV, or the key that a SEND_WITH_INV names, of an MR for fast registration. Ending an MR that is free already is no error.
/// `remote`: the key came with a message; a local one is refused where the MR has another key, a remote one also where it grants nothing to
/// peers.
FastCheck check_fast_invalidate(const Grant* region, Key key, std::uint32_t qp_pd, bool remote, std::uint32_t bound_windows);
/// What it grants afterwards: nothing.
Grant freed(const Grant& region);

/// Whether a request that invalidates `key` is refused, whatever the key is of.
bool refuses_invalidation(const Grant* grant, Key key, std::uint32_t qp_pd, std::uint32_t qpn, bool remote, std::uint32_t bound_windows);

}  // namespace mtsim::verbs

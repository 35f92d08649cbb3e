// What the verbs core says to access flags, before any memory is looked at.
#pragma once

#include <cerrno>

#include "verbs/types.h"

namespace mtsim::kernel {

constexpr bool any(verbs::Access granted, verbs::Access of) { return (granted & of) != verbs::Access::none; }

/// ib_access_writable: whether the device may come to write, so that the pages must be writable for the process.
constexpr bool writable(verbs::Access access) {
  using enum verbs::Access;
  return any(access, local_write | remote_write | remote_atomic | mw_bind);
}

/// ib_check_mr_access, in its order. `without_on_demand`: the errno value of a device that has no on-demand paging, else 0; `flush`: it
/// carries out FLUSH.
constexpr int check_access(verbs::Access access, int without_on_demand, bool flush) {
  using enum verbs::Access;
  constexpr verbs::Access known = local_write | remote_read | remote_write | remote_atomic | mw_bind | zero_based | on_demand | huge_tlb |
                                  relaxed_ordering | flush_global | flush_persistent;
  if (any(access, remote_write | remote_atomic) && !any(access, local_write)) return EINVAL;
  if ((access & known) != access) return EINVAL;
  if (any(access, on_demand) && without_on_demand != 0) return without_on_demand;
  if (any(access, flush_global | flush_persistent) && !flush) return EOPNOTSUPP;
  return 0;
}

}  // namespace mtsim::kernel

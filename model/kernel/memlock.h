// What a process may pin: RLIMIT_MEMLOCK and CAP_IPC_LOCK, charged for each registration in whole pages (Linux core/umem.c, ib_umem_get).
#pragma once

#include <cstdint>

#include "base/units.h"

namespace mtsim {

/// The account of one process. By default it has CAP_IPC_LOCK and no limit.
class Memlock {
 public:
  static constexpr Bytes unlimited{~std::uint64_t{0}};

  void set_limit(Bytes limit) { limit_ = limit; }
  /// CAP_IPC_LOCK.
  void set_capable(bool capable) { capable_ = capable; }

  /// can_do_mlock: whether the process may pin anything at all.
  bool permitted() const { return capable_ || limit_.raw != 0; }
  /// Charges pages: 0, or ENOMEM when they do not fit. The limit counts whole pages; with the capability it is passed, yet counted, but
  /// not where `binds_all`.
  int charge(Pages, bool binds_all = false);
  /// Takes a charge back.
  void uncharge(Pages);
  Pages pinned() const { return pinned_; }
  /// What a child starts with: the same limit and capability, and nothing pinned (mm_init, pinned_vm).
  Memlock inherited() const {
    Memlock child = *this;
    child.pinned_ = Pages(0);
    return child;
  }

 private:
  Bytes limit_ = unlimited;
  bool capable_ = true;
  Pages pinned_;
};

/// The checks of a registration before its first page is pinned, in the kernel's order; the pages are charged when it answers 0.
/// EINVAL: the range wraps (rounded up to pages too). EPERM: nothing may be pinned. EINVAL: no page, or more than 2^32-1. ENOMEM: over the
/// limit. `binds_all`: a driver counts for itself, so that nobody is exempt from the limit, and nobody is told EPERM.
int admit_pinning(Memlock&, Va address, Bytes length, bool binds_all = false);

}  // namespace mtsim

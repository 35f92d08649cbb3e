#include "kernel/memlock.h"

#include <cassert>
#include <cerrno>

namespace mtsim {

int Memlock::charge(Pages pages, bool binds_all) {
  if ((binds_all || !capable_) && pinned_ + pages > Pages(limit_ / page_bytes)) return ENOMEM;
  pinned_ += pages;
  return 0;
}

void Memlock::uncharge(Pages pages) {
  assert(pages <= pinned_);
  pinned_ -= pages;
}

int admit_pinning(Memlock& account, Va address, Bytes length, bool binds_all) {
  const std::uint64_t end = address.raw + length.raw;
  if (end < address.raw || end + (page_bytes.raw - 1) < end) return EINVAL;
  if (!binds_all && !account.permitted()) return EPERM;
  const Pages pages = pages_spanned(address.raw, length);
  if (pages == Pages(0) || pages > Pages(0xffff'ffff)) return EINVAL;
  return account.charge(pages, binds_all);
}

}  // namespace mtsim

// advise_mr: pages are brought to the device before it needs them.
#include <algorithm>
#include <cerrno>

#include "kernel/odp_path.h"

namespace mtsim::kernel {
namespace {

using ports::Work;
using verbs::Prefetch;
using Step = ports::RegistrationStep;

constexpr std::uint64_t child_bytes = GiB(1).raw;

}  // namespace

engine::Task<verbs::Reply> OdpPath::advise_mr(verbs::Thread thread, verbs::AdviseMrRequest request) {
  Call call(parts_.scheduler, parts_.cpus, parts_.kernel, thread, Kind::advise_mr, laps_);
  verbs::Reply reply;
  std::uint64_t bytes = 0;
  for (const verbs::Sge& sge : request.sges) bytes += sge.length;
  co_await call.work(Step::syscall, Work::syscall, parts_.kernel.syscall);
  // rdma_lookup_get_uobject, then UVERBS_METHOD_ADVISE_MR
  if (parts_.process.pds.find(request.pd) == nullptr) reply.error = ENOENT;
  else if (!parts_.on_demand()) reply.error = EOPNOTSUPP;
  std::vector<Fragment> fragments;
  for (const verbs::Sge& sge : request.sges) {
    if (reply.error != 0) break;
    Fragment fragment{nullptr, sge.address, sge.length};
    reply.error = find_prefetchable(request.pd, request.advice, sge.lkey, fragment.region);
    if (reply.error != 0) break;
    ++fragment.region->users;
    if (request.flush) {
      // mlx5_ib_prefetch_sg_list: one after the other
      reply.error = co_await prefetch(call, fragment, request.advice);
      fragment.region->release();
    } else {
      fragments.push_back(fragment);
    }
  }
  // init_prefetch_work: all or none
  if (reply.error != 0)
    for (const Fragment& fragment : fragments) fragment.region->release();
  else if (!fragments.empty()) parts_.scheduler.spawn(prefetch_work(thread, std::move(fragments), request.advice));
  ended_.close(call, reply.error, Bytes(bytes));
  co_return reply;
}

/// get_prefetchable_mr
int OdpPath::find_prefetchable(verbs::Handle pd, Prefetch advice, Key lkey, OdpRegion*& out) const {
  const auto found = keys_.find(lkey.index());
  if (found == keys_.end() || found->second->key != lkey) return ENOENT;
  out = found->second;
  if (out->pd != pd) return EPERM;
  return advice == Prefetch::write && !out->writable ? EPERM : 0;
}

/// mlx5_ib_prefetch_mr_work, on a work queue of the system
engine::Flow OdpPath::prefetch_work(verbs::Thread thread, std::vector<Fragment> what, Prefetch advice) {
  Call call = worker(thread);
  std::uint64_t bytes = 0;
  for (const Fragment& fragment : what) bytes += fragment.length;
  for (const Fragment& fragment : what)
    if (co_await prefetch(call, fragment, advice) != 0) ++totals_.failed_workers;
  for (const Fragment& fragment : what) fragment.region->release();
  ended_.close(call, 0, Bytes(bytes));
}

/// pagefault_mr
engine::Task<int> OdpPath::prefetch(Call& call, Fragment what, Prefetch advice) {
  OdpRegion& region = *what.region;
  // A plain prefetch takes the right to write from pages that had it (MLX5_PF_FLAGS_DOWNGRADE).
  const Mapping mapping = advice == Prefetch::no_fault ? Mapping::as_present
                          : advice == Prefetch::write  ? Mapping::for_writing
                                                       : Mapping::for_reading;
  if (what.address < region.iova.raw) co_return EFAULT;
  if (region.implicit) co_return co_await prefetch_implicit(call, region, what.address, what.length, mapping);
  const std::uint64_t offset = what.address - region.iova.raw, end = region.end * page_bytes.raw;
  if (offset > ~std::uint64_t{0} - region.address.raw) co_return EFAULT;
  const std::uint64_t address = region.address.raw + offset;
  if (address >= end || end - address < what.length) co_return EFAULT;
  co_return co_await prefetch_real(call, region, address, what.length, mapping);
}

/// pagefault_real_mr, of bytes of the process's address space
engine::Task<int> OdpPath::prefetch_real(Call& call, OdpRegion& region, std::uint64_t address, std::uint64_t length, Mapping mapping) {
  const std::uint64_t size = std::uint64_t{1} << region.shift;
  const std::uint64_t first = round_down(address, size) / page_bytes.raw, end = round_up(address + length, size) / page_bytes.raw;
  const int error = co_await map(call, region, first, end, mapping);
  if (error != 0) co_return error;
  totals_.prefetched += end - first;
  const int written = co_await update(call, region, {(first - region.first) / region.each(), (end - first) / region.each()});
  region.mutex.give();
  co_return written;
}

/// pagefault_implicit_mr: child by child; the table of keys is written once, after them.
engine::Task<int> OdpPath::prefetch_implicit(Call& call, OdpRegion& region, std::uint64_t address, std::uint64_t length, Mapping mapping) {
  constexpr std::uint64_t space = implicit_region_keys * child_bytes;
  if (address >= space || space - address < length) co_return EFAULT;
  int error = 0;
  EntryRange made;
  while (length != 0 && error == 0) {
    const std::uint64_t index = address / child_bytes;
    if (region.children.count(index) == 0) {
      error = co_await create_child(call, region, index);
      if (error != 0) break;
      if (made.count == 0) made.first = index;
      made.count = index - made.first + 1;
    }
    const auto found = region.children.find(index);
    if (found == region.children.end()) continue;  // freed again in the meantime
    OdpRegion& child = *found->second;
    ++child.users;
    const std::uint64_t part = std::min(length, (index + 1) * child_bytes - address);
    error = co_await prefetch_real(call, child, address, part, mapping);
    child.release();
    address += part;
    length -= part;
  }
  if (made.count != 0)
    if (const int written = co_await update_keys(call, region, made); written != 0) error = written;
  co_return error;
}

}  // namespace mtsim::kernel

// rereg_mr as Linux 6.12 does it for mlx5 (core/uverbs_cmd.c, ib_uverbs_rereg_mr; hw/mlx5/mr.c, mlx5_ib_rereg_user_mr). Other drivers
// differ in the commands by which the device learns of it.
#include <algorithm>
#include <bit>
#include <cerrno>

#include "kernel/access_check.h"
#include "kernel/reg_path.h"

namespace mtsim::kernel {
namespace {

using ports::Work;
using Step = ports::RegistrationStep;

}  // namespace

/// ib_uverbs_rereg_mr, in its order.
int RegPath::check_rereg(const verbs::ReregMrRequest& request) {
  if (!request.translation && !request.change_access && request.pd == 0) return EINVAL;
  const Mr* mr = mrs_.find(request.mr);
  if (mr == nullptr) return EINVAL;
  if (mr->busy) return EBUSY;
  if (parts_.driver.rereg == Rereg::none || (parts_.driver.rereg == Rereg::rights && request.translation)) return EOPNOTSUPP;
  if (request.change_access)
    if (const int error = check_access(request.access, parts_.without_on_demand(), parts_.driver.flush); error != 0) return error;
  if (request.pd == 0) return 0;
  const Pd* pd = parts_.process.pds.find(request.pd);
  // Handles are looked up among the objects of the MR's own device.
  return pd == nullptr || pd->device != parts_.number ? EINVAL : 0;
}

engine::Task<verbs::Reply> RegPath::rereg_mr(verbs::Thread thread, verbs::ReregMrRequest request) {
  Call call(parts_.scheduler, parts_.cpus, parts_.kernel, thread, ports::RegistrationRecord::Call::rereg_mr, laps_);
  verbs::Reply reply;
  Bytes length;
  co_await call.work(Step::syscall, Work::registration, parts_.kernel.syscall);
  reply.error = check_rereg(request);
  if (reply.error == 0) {
    // The handle is locked for as long as this takes (uobj_get_write).
    Mr& mr = *mrs_.find(request.mr);
    mr.busy = true;
    co_await call.work(Step::syscall, Work::registration, parts_.kernel.reregistration);
    reply.error = co_await rereg_user_mr(call, request, mr);
    mr.busy = false;
    reply.lkey = mr.key;
    reply.rkey = parts_.driver.rkey_of(mr.key, mr.access);
    reply.iova = mr.place.told;
    reply.identity = mr.identity;
    length = mr.length;
  }
  if (reply.error != 0) reply.value = static_cast<std::uint64_t>(verbs::Rereg::command);
  close(call, reply.error, length);
  co_return reply;
}

/// mlx5_ib_rereg_user_mr
engine::Task<int> RegPath::rereg_user_mr(Call& call, const verbs::ReregMrRequest& request, Mr& mr) {
  const verbs::Handle pd = request.pd != 0 ? request.pd : mr.pd;
  const verbs::Access access = request.change_access ? request.access : mr.access;
  // The new PD must not go while this is under way (uobj_get_obj_read).
  ++parts_.process.pds.find(pd)->users;
  int error = 0;
  const bool fixed = parts_.driver.fixed_access(access) == parts_.driver.fixed_access(mr.access);
  if (mr.on_demand && !request.translation) {
    error = co_await change_on_demand(call, mr, pd, access);
  } else if (mr.on_demand || (request.translation && any(access, verbs::Access::on_demand))) {
    // recreate: nothing of the old MR can be used again
    Mr made;
    error = co_await reg_user_mr(call, {pd, request.address, request.length, access, Iova(request.address.raw)}, made);
    if (error == 0) {
      co_await destroy_mr(call, mr);
      made.pd = mr.pd;
      made.busy = mr.busy;
      mr = std::move(made);
    }
  } else if (request.translation) {
    error = co_await change_translation(call, {pd, request.address, request.length, access, Iova(request.address.raw)}, mr);
  } else if (writable(access) && !mr.pinned_for_writing) {
    error = EACCES;  // ib_umem_check_rereg: the pages were pinned for reading only
  } else if (!fixed) {
    error = co_await change_key(call, {pd, Va(), mr.length, access, mr.place.told}, mr);
  } else {
    error = co_await change_context(call, mr, pd, access);
  }
  if (error != 0) {
    --parts_.process.pds.find(pd)->users;
    co_return error;
  }
  --parts_.process.pds.find(mr.pd)->users;
  mr.pd = pd;
  mr.access = access;
  co_return 0;
}

/// Only the key's context changes, in place.
engine::Task<int> RegPath::change_context(Call& call, const Mr& mr, verbs::Handle pd, verbs::Access access) {
  if (mr.revoked) co_return EINVAL;
  const translate::Region region = region_of(mr, pd, access);
  co_return co_await parts_.writer.rewrite(call, region);
}

/// Rights that the device cannot change in a key which it knows: the old one is revoked, and a new one takes over the pages.
engine::Task<int> RegPath::change_key(Call& call, const verbs::RegMrRequest& request, Mr& mr) {
  if (mr.revoked) co_return EINVAL;
  co_await parts_.writer.revoke(call, mr.key, true);
  const Key old = mr.key;
  const KeyGrant old_grant = mr.grant;
  const std::uint32_t old_identity = mr.identity;
  const int error = co_await create_mr(call, request, mr);
  if (error == 0) co_return co_await end_key(call, old, old_grant, old_identity);
  mr.key = old;
  mr.grant = old_grant;
  mr.identity = old_identity;
  mr.revoked = true;
  co_return error;
}

/// The same of an MR on demand. Other flags than these would need a new MR, and without a range there is none to make: ib_umem_get and
/// ib_umem_odp_get find no page.
engine::Task<int> RegPath::change_on_demand(Call& call, const Mr& mr, verbs::Handle pd, verbs::Access access) {
  using enum verbs::Access;
  constexpr verbs::Access by_umr = local_write | remote_write | remote_read | relaxed_ordering;  // can_use_umr_rereg_access
  constexpr verbs::Access others = remote_atomic | mw_bind | zero_based | on_demand | huge_tlb;
  static_assert((by_umr & others) == none);
  if ((access & others) != (mr.access & others)) co_return EINVAL;
  OdpRegion& region = *mr.on_demand;
  region.pd = pd;
  region.access = access;
  const translate::Region table = table_of(region);
  co_return co_await parts_.writer.rewrite(call, table);
}

/// The new pages are pinned first, so that a failure up to there leaves the MR as it was. A key whose place in the cache has room for the
/// new table is revoked and loaded again (umr_rereg_pas); otherwise a new MR with a new key comes under the old handle.
engine::Task<int> RegPath::change_translation(Call& call, const verbs::RegMrRequest& request, Mr& mr) {
  Mr made;
  if (const int error = co_await get_umem(call, request, made); error != 0) co_return error;
  int error = co_await choose_page_size(call, made);
  // can_use_umr_rereg_pas
  const std::uint64_t room = parts_.keys.keeps(mr.grant) ? mr.grant.entries : 0;
  const bool fits = made.plan.blocks <= room && !mr.revoked;
  if (error != 0) {
    // The MR stays as it was.
  } else if (fits) {
    made.key = mr.key;
    made.grant = mr.grant;
    made.grant.created = true;
    made.identity = mr.identity;
    co_await parts_.writer.revoke(call, mr.key, true);
    follow(made);
    const translate::Region region = region_of(made, request.pd, request.access);
    error = co_await parts_.writer.load(call, region, made.grant);
    if (error == 0) call.cost().table_entries += made.plan.blocks;
    mr.revoked = error != 0;
    if (mr.revoked) forget(mr.identity);
  } else {
    error = co_await create_mr(call, request, made);
    if (error == 0) co_await end_key(call, mr.key, mr.grant, mr.identity);
  }
  if (error != 0) {
    co_await release_umem(call, made);
    co_return error;
  }
  co_await release_umem(call, mr);
  made.pd = mr.pd;  // the caller hands the users over
  made.busy = mr.busy;
  mr = std::move(made);
  co_return 0;
}

}  // namespace mtsim::kernel

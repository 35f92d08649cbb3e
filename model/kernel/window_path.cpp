#include "kernel/window_path.h"

#include <cerrno>

#include "verbs/window.h"

namespace mtsim::kernel {
namespace {

using ports::Work;
using Step = ports::RegistrationStep;
using Kind = ports::RegistrationRecord::Call;

}  // namespace

/// ib_uverbs_alloc_mw, mlx5_ib_alloc_mw. The steps of the call are not counted among those of registrations: it never ends as a record.
engine::Task<verbs::Reply> WindowPath::alloc_mw(verbs::Thread thread, verbs::Handle pd, std::uint8_t type) {
  Call call(parts_.scheduler, parts_.cpus, parts_.kernel, thread, Kind::reg_mr);
  verbs::Reply reply;
  co_await call.work(Step::syscall, Work::syscall, parts_.kernel.syscall + parts_.kernel.mw);
  if (parts_.process.pds.find(pd) == nullptr || type < 1 || type > 2) {
    reply.error = EINVAL;
    co_return reply;
  }
  ++parts_.process.pds.find(pd)->users;
  Window window;
  reply.error = co_await create(call, pd, type, window);
  if (reply.error != 0) {
    --parts_.process.pds.find(pd)->users;
    co_return reply;
  }
  reply.rkey = window.grant.key;
  reply.handle = windows_.add(window);
  co_return reply;
}

engine::Task<int> WindowPath::create(Call& call, verbs::Handle pd, std::uint8_t type, Window& window) {
  KeyNeed need;
  need.window = true;
  const std::optional<KeyGrant> grant = parts_.keys.take(need);
  co_await call.work(Step::key, Work::key, parts_.driver.key);
  if (!grant) {
    if (parts_.keys.of_device()) co_await parts_.writer.refused(call);
    co_return ENOMEM;
  }
  window = {pd, *grant};
  translate::Region region;
  region.grant = verbs::unbound(grant->key, pd, type);
  const int error = co_await parts_.writer.load(call, region, *grant);
  if (error != 0) parts_.keys.give_back(*grant);
  co_return error;
}

/// mlx5_ib_dealloc_mw: the key goes, bound or not.
engine::Task<verbs::Reply> WindowPath::dealloc_mw(verbs::Thread thread, verbs::Handle handle) {
  Call call(parts_.scheduler, parts_.cpus, parts_.kernel, thread, Kind::dereg_mr);
  verbs::Reply reply;
  co_await call.work(Step::syscall, Work::syscall, parts_.kernel.syscall + parts_.kernel.mw);
  if (windows_.find(handle) == nullptr) {
    reply.error = EINVAL;
    co_return reply;
  }
  const Window window = windows_.remove(handle);
  co_await parts_.writer.revoke(call, window.grant.key, false);
  co_await call.work(Step::key, Work::key, parts_.driver.key);
  KeyGrant gone = window.grant;
  gone.created = false;
  parts_.keys.give_back(gone);
  --parts_.process.pds.find(window.pd)->users;
  co_return reply;
}

}  // namespace mtsim::kernel

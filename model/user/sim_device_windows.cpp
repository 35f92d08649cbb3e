// Memory windows, as libibverbs and the provider library keep them: making, binding by call, removing.
#include <cerrno>

#include "user/sim_device.h"

namespace mtsim::user {

using verbs::Caller;
using verbs::Handle;
using verbs::Progress;
using verbs::Reply;
using verbs::Thread;

/// A provider library without the call answers by itself.
Progress SimDevice::alloc_mw(Thread t, Handle pd, std::uint8_t type, Reply& reply, Caller& caller) {
  if (params_.rules->windows.there_are) return spawn(t, alloc_mw_flow(t, pd, type, reply, caller));
  reply.error = EOPNOTSUPP;
  return Progress::done;
}

engine::Flow SimDevice::alloc_mw_flow(Thread thread, Handle pd, std::uint8_t type, Reply& reply, Caller& caller) {
  reply = co_await kernel->alloc_mw(thread, pd, type);
  if (reply.error == 0) {
    if (mws_.size() <= reply.handle) mws_.resize(reply.handle + 1);
    mws_[reply.handle] = {true, {pd, type}, reply.rkey};
  }
  finish(thread, caller);
}

Progress SimDevice::dealloc_mw(Thread t, Handle mw, Reply& reply, Caller& caller) {
  return spawn(t, dealloc_mw_flow(t, mw, reply, caller));
}

engine::Flow SimDevice::dealloc_mw_flow(Thread thread, Handle mw, Reply& reply, Caller& caller) {
  reply = co_await kernel->dealloc_mw(thread, mw);
  if (Mw* found = find_mw(mw); found != nullptr && reply.error == 0) found->alive = false;
  finish(thread, caller);
}

}  // namespace mtsim::user

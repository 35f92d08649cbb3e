// Memory windows.
#include "process_calls.h"

namespace mtsim::replay {

using program::Kind;
using verbs::Progress;

Progress Process::alloc_mw(Thread thread, Handle pd_handle, std::uint8_t type, Reply& reply, Caller&) {
  const Use<Pd> pd(pds_.find(pd_handle));
  if (!pd) {
    reply.error = EINVAL;
    return Progress::done;
  }
  ibv_mw* mw = nullptr;
  int error = 0;
  const Timed timed = away(thread, [&] {
    errno = 0;
    mw = ibv_alloc_mw(pd->pd, type == 1 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
    error = mw == nullptr ? errno : 0;
  });
  reply.error = error;
  if (mw != nullptr) {
    reply.handle = mws_.add({mw});
    reply.rkey = Key(mw->rkey);
  }
  called(thread, Kind::alloc_mw, timed, {reply.error, {}, {}, 0, {}, reply.rkey});
  return Progress::done;
}

Progress Process::dealloc_mw(Thread thread, Handle handle, Reply& reply, Caller&) {
  destroy(thread, Kind::dealloc_mw, mws_, handle, reply, [](const Mw& mw) { return ibv_dealloc_mw(mw.mw); });
  return Progress::done;
}

Progress Process::bind_mw(Thread thread, const verbs::BindMwRequest& request, Reply& reply, Caller&) {
  turn().check();
  const Use<Mw> mw(mws_.find(request.mw));
  const Use<Qp> qp(qps_.find(request.qp));
  const Use<Mr> mr(request.mr == 0 ? nullptr : mrs_.find(request.mr));
  const auto access = to_ibv(request.access);
  if (!mw || !qp || (request.mr != 0 && !mr)) reply.error = EINVAL;
  else if (!access) reply.error = EOPNOTSUPP;
  if (reply.error != 0) return Progress::done;
  ibv_mw_bind bind{};
  // One without a number gets one that no line of a trace has: it may still fail, and then completes.
  constexpr std::uint64_t unnumbered = std::uint64_t{1} << 63;
  const std::uint64_t wr = request.signaled ? request.wr : unnumbered | ++unnumbered_binds_;
  bind.wr_id = wr;
  bind.send_flags = request.signaled ? IBV_SEND_SIGNALED : 0;
  bind.bind_info = {mr ? mr->mr : nullptr, request.address.raw, request.length.raw, *access};
  // With the turn, as posts are.
  Timed timed{now(), {}};
  const int result = ibv_bind_mw(qp->qp, mw->mw, &bind);
  timed.end = now();
  reply.error = errno_of(result);
  if (reply.error == 0) {
    reply.rkey = Key(mw->mw->rkey);
    record().posted(number_, Record::Side::send, request.qp, wr, verbs::Opcode::bind_mw, 0, timed);
  } else {
    record().refused(number_, request.qp, wr, verbs::Opcode::bind_mw, 0, timed);
  }
  called(thread, Kind::bind_mw, timed, {reply.error, {}, {}, 0, {}, reply.rkey});
  return Progress::done;
}

}  // namespace mtsim::replay

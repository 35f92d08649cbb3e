// Protection domains, memory regions, queues.
#include <array>
#include <limits>

#include "counters.h"
#include "pointer.h"
#include "process_calls.h"

namespace mtsim::replay {

using program::Kind;
using verbs::Progress;

Progress Process::alloc_pd(Thread thread, std::uint32_t nic, Reply& reply, Caller&) {
  if (nic >= nics_.size()) {
    reply.error = ENODEV;
    return Progress::done;
  }
  ibv_pd* pd = nullptr;
  simple(thread, Kind::alloc_pd, reply, [&] {
    pd = ibv_alloc_pd(nics_[nic]->context());
    return pd == nullptr ? -1 : 0;
  });
  if (pd != nullptr) reply.handle = pds_.add({pd, nic});
  return Progress::done;
}

Progress Process::dealloc_pd(Thread thread, Handle handle, Reply& reply, Caller&) {
  destroy(thread, Kind::dealloc_pd, pds_, handle, reply, [](const Pd& pd) { return ibv_dealloc_pd(pd.pd); });
  return Progress::done;
}

void Process::remember_keys(const ibv_mr& mr) { by_lkey_[mr.lkey] = mr; }

Progress Process::reg_mr(Thread thread, const verbs::RegMrRequest& request, Reply& reply, Caller&) {
  const Use<Pd> pd(pds_.find(request.pd));
  const auto access = to_ibv(request.access);
  using enum verbs::Access;
  const bool refused_by_rights =
      !verbs::has(request.access, local_write) && (verbs::has(request.access, remote_write) || verbs::has(request.access, remote_atomic));
  const bool implicit = request.address.raw == 0 && request.length.raw == std::numeric_limits<std::uint64_t>::max();
  if (!pd) reply.error = EINVAL;
  else if (!access) reply.error = EOPNOTSUPP;
  // Memory that is not the trace's is memory that its program has not mapped. Where the kernel refuses rights, it does not look at memory.
  else if (request.length.raw != 0 && !implicit && !refused_by_rights && !arena_.owns(request.address.raw, 1)) reply.error = EFAULT;
  if (reply.error != 0) {
    called(thread, Kind::reg_mr, {now(), now()}, {reply.error, request.length, {}, 0, {}, {}});
    return Progress::done;
  }

  const bool iova = request.iova.raw != request.address.raw && !verbs::has(request.access, verbs::Access::zero_based);
  ibv_mr* mr = nullptr;
  int error = 0;
  std::uint64_t faults = 0;
  const Timed timed = away(thread, [&] {
    assume_capability();
    const std::uint64_t before = faults_of_this_thread();
    errno = 0;
    mr = iova ? ibv_reg_mr_iova(pd->pd, pointer(request.address.raw), request.length.raw, request.iova.raw, *access)
              : ibv_reg_mr(pd->pd, pointer(request.address.raw), request.length.raw, static_cast<int>(*access));
    error = mr == nullptr ? errno : 0;
    faults = faults_of_this_thread() - before;
  });
  reply.error = mr == nullptr && error == 0 ? ENOMEM : error;
  CallFacts facts{reply.error, request.length, {}, faults, {}, {}};
  if (mr != nullptr) {
    reply.handle = mrs_.add({mr, request.length});
    reply.lkey = facts.lkey = Key(mr->lkey);
    reply.rkey = facts.rkey = Key(mr->rkey);
    reply.iova = verbs::has(request.access, verbs::Access::zero_based) ? Iova() : request.iova;
    if (!implicit) {
      facts.pages = pages_spanned(request.address.raw, request.length);
      record().registered(request.length);
    }
    remember_keys(*mr);
  }
  called(thread, Kind::reg_mr, timed, facts);
  return Progress::done;
}

Progress Process::rereg_mr(Thread thread, const verbs::ReregMrRequest& request, Reply& reply, Caller&) {
  const Use<Mr> mr(mrs_.find(request.mr));
  const Use<Pd> pd(request.pd == 0 ? nullptr : pds_.find(request.pd));
  const auto access = to_ibv(request.access);
  if (!mr || (request.pd != 0 && !pd)) reply.error = EINVAL;
  else if (!access) reply.error = EOPNOTSUPP;
  else if (request.translation && request.length.raw != 0 && !arena_.owns(request.address.raw, 1)) reply.error = EFAULT;
  if (reply.error != 0) return Progress::done;
  const int flags = (request.translation ? IBV_REREG_MR_CHANGE_TRANSLATION : 0) | (request.pd != 0 ? IBV_REREG_MR_CHANGE_PD : 0) |
                    (request.change_access ? IBV_REREG_MR_CHANGE_ACCESS : 0);
  int result = 0, error = 0;
  const Timed timed = away(thread, [&] {
    assume_capability();
    errno = 0;
    result =
        ibv_rereg_mr(mr->mr, flags, pd ? pd->pd : nullptr, pointer(request.address.raw), request.length.raw, static_cast<int>(*access));
    error = errno;
  });
  if (result != 0) {
    reply.error = error == 0 ? EINVAL : error;
    reply.value = static_cast<std::uint64_t>(-result);  // the classes of verbs::Rereg are numbered as libibverbs numbers them
  } else {
    reply.lkey = Key(mr->mr->lkey);
    reply.rkey = Key(mr->mr->rkey);
    reply.iova = Iova(request.address.raw);
    if (request.translation) {
      record().deregistered(mr->length);
      mr->length = request.length;
      record().registered(request.length);
    }
    remember_keys(*mr->mr);
  }
  called(thread, Kind::rereg_mr, timed, {reply.error, request.length, {}, 0, reply.lkey, reply.rkey});
  return Progress::done;
}

Progress Process::dereg_mr(Thread thread, Handle handle, Reply& reply, Caller&) {
  const Item<Mr>* const item = mrs_.find(handle);
  const Bytes length = item == nullptr ? Bytes() : item->object.length;
  const auto dereg = [](const Mr& mr) { return ibv_dereg_mr(mr.mr); };
  if (destroy(thread, Kind::dereg_mr, mrs_, handle, reply, dereg, length)) record().deregistered(length);
  return Progress::done;
}

Progress Process::advise_mr(Thread thread, const verbs::AdviseMrRequest& request, Reply& reply, Caller&) {
  const Use<Pd> pd(pds_.find(request.pd));
  if (!pd) {
    reply.error = EINVAL;
    return Progress::done;
  }
  std::vector<ibv_sge> sges;
  for (const verbs::Sge& sge : request.sges) sges.push_back({sge.address, sge.length, sge.lkey.raw});
  constexpr std::array advice{IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT};
  const unsigned flags = request.flush ? IBV_ADVISE_MR_FLAG_FLUSH : 0;
  return simple(thread, Kind::advise_mr, reply, [&] {
    return ibv_advise_mr(pd->pd, advice[std::size_t(request.advice)], flags, sges.data(), static_cast<std::uint32_t>(sges.size()));
  });
}

Progress Process::create_cq(Thread thread, std::uint32_t depth, Reply& reply, Caller&) {
  // On the first of the host's NICs: a trace does not say on which a completion queue lies.
  Cq cq;
  simple(thread, Kind::create_cq, reply, [&] {
    assume_capability();
    if (around_.sleeping_polls && (cq.channel = ibv_create_comp_channel(nics_[0]->context())) == nullptr) return -1;
    cq.cq = ibv_create_cq(nics_[0]->context(), static_cast<int>(depth), nullptr, cq.channel, 0);
    return cq.cq == nullptr ? -1 : 0;
  });
  if (cq.cq != nullptr) reply.handle = cqs_.add(cq);
  else if (cq.channel != nullptr) ibv_destroy_comp_channel(cq.channel);
  return Progress::done;
}

Progress Process::destroy_cq(Thread thread, Handle handle, Reply& reply, Caller&) {
  ibv_comp_channel* channel = nullptr;
  std::deque<ibv_wc> lying;
  const bool gone = destroy(thread, Kind::destroy_cq, cqs_, handle, reply, [&](Cq& cq) {
    channel = cq.channel;
    // Completions that the program has not taken count; if the queue stays, they stay.
    std::array<ibv_wc, 32> taken;
    for (int n = 0; (n = look(cq, taken)) > 0;) lying.insert(lying.end(), taken.begin(), taken.begin() + n);
    const int error = ibv_destroy_cq(cq.cq);
    if (error != 0) cq.kept = lying;
    return error;
  });
  if (!gone) return Progress::done;
  for (const ibv_wc& wc : lying) note(wc, now());
  if (channel != nullptr) ibv_destroy_comp_channel(channel);
  return Progress::done;
}

Progress Process::create_srq(Thread thread, const verbs::CreateSrqRequest& request, Reply& reply, Caller&) {
  const Use<Pd> pd(pds_.find(request.pd));
  if (!pd) {
    reply.error = EINVAL;
    return Progress::done;
  }
  ibv_srq_init_attr attributes{};
  attributes.attr.max_wr = request.depth;
  attributes.attr.max_sge = request.sges;
  ibv_srq* srq = nullptr;
  simple(thread, Kind::create_srq, reply, [&] {
    assume_capability();
    srq = ibv_create_srq(pd->pd, &attributes);
    return srq == nullptr ? -1 : 0;
  });
  if (srq != nullptr) reply.handle = srqs_.add({srq});
  return Progress::done;
}

Progress Process::destroy_srq(Thread thread, Handle handle, Reply& reply, Caller&) {
  destroy(thread, Kind::destroy_srq, srqs_, handle, reply, [](const Srq& srq) { return ibv_destroy_srq(srq.srq); });
  return Progress::done;
}

Progress Process::create_qp(Thread thread, const verbs::CreateQpRequest& request, Reply& reply, Caller&) {
  const Use<Pd> pd(pds_.find(request.pd));
  const Use<Cq> send_cq(cqs_.find(request.send_cq)), recv_cq(cqs_.find(request.recv_cq));
  const Use<Srq> srq(request.srq == 0 ? nullptr : srqs_.find(request.srq));
  if (!pd || !send_cq || !recv_cq || (request.srq != 0 && !srq)) {
    reply.error = EINVAL;
    return Progress::done;
  }
  ibv_qp_init_attr attributes{};
  attributes.send_cq = send_cq->cq;
  attributes.recv_cq = recv_cq->cq;
  attributes.srq = srq ? srq->srq : nullptr;
  attributes.qp_type = to_ibv(request.type);
  attributes.sq_sig_all = request.signal_all;
  attributes.cap = {request.sq_depth, request.rq_depth, request.send_sge, request.recv_sge, request.inline_bytes};
  ibv_qp* qp = nullptr;
  simple(thread, Kind::create_qp, reply, [&] {
    assume_capability();
    qp = ibv_create_qp(pd->pd, &attributes);
    return qp == nullptr ? -1 : 0;
  });
  if (qp == nullptr) return Progress::done;
  reply.handle = qps_.add({qp, pd->nic, request});
  reply.value = qp->qp_num;
  record().name_qp(number_, reply.handle, qp->qp_num);
  return Progress::done;
}

Progress Process::destroy_qp(Thread thread, Handle handle, Reply& reply, Caller&) {
  const auto end = [](Qp& qp) {
    const int error = ibv_destroy_qp(qp.qp);
    if (error == 0) qp.connection.reset();
    return error;
  };
  if (destroy(thread, Kind::destroy_qp, qps_, handle, reply, end)) record().forget(number_, handle, false, now());
  return Progress::done;
}

}  // namespace mtsim::replay

// Actors make and remove the device's objects, and note in the table of objects what came of it.
#include <cassert>

#include "program/actor.h"
#include "program/trace_words.h"

namespace mtsim::program {

using verbs::Progress;

Progress Actor::issue_call() {
  switch (op_.kind) {
    case Kind::mmap:
      return device_->mmap(thread_, op_.mmap, reply_, *this);
    case Kind::munmap:
    case Kind::touch:
    case Kind::mprotect:
    case Kind::madvise:
    case Kind::swapout:
    case Kind::migrate:
      return issue_memory();
    case Kind::fork:
      return issue_fork();
    case Kind::fork_init:
      return device_->fork_init(thread_, op_.flag, reply_, *this);
    case Kind::memlock:
      return device_->set_memlock(thread_, Bytes(op_.number), reply_, *this);
    case Kind::cap_ipc_lock:
      return device_->set_cap_ipc_lock(thread_, op_.flag, reply_, *this);
    case Kind::alloc_pd:
      // A name that stands for no NIC is refused before the run.
      return device_->alloc_pd(thread_, nic_number(op_.word).value_or(0), reply_, *this);
    case Kind::create_cq:
      return device_->create_cq(thread_, op_.depth, reply_, *this);
    case Kind::reg_mr:
      return issue_reg_mr();
    case Kind::rereg_mr:
      return issue_rereg_mr();
    case Kind::advise_mr:
      return issue_advise_mr();
    case Kind::dma:
      op_.dma.mr = scene_.objects.handle(op_.id, ObjectKind::mr);
      return op_.dma.mr == 0 ? lack(op_.id) : device_->dma(thread_, op_.dma, reply_, *this);
    case Kind::copy:
      return issue_copy();
    case Kind::alloc_mw:
      return issue_alloc_mw();
    case Kind::bind_mw:
      return issue_bind_mw();
    case Kind::event:
      return device_->next_event(thread_, reply_, *this);
    case Kind::create_srq:
      return issue_create_srq();
    case Kind::create_qp:
      return issue_create_qp();
    case Kind::connect:
      return issue_connect();
    default:
      return issue_release();
  }
}

Progress Actor::issue_reg_mr() {
  reg_mr_ = {};
  reg_mr_.pd = scene_.objects.handle(op_.pd, ObjectKind::pd);
  if (reg_mr_.pd == 0) return lack(op_.pd);
  const auto address = scene_.objects.address(op_.address, AddressView::operation);
  if (!address) return lack(op_.address.object);
  reg_mr_.address = Va(*address);
  reg_mr_.length = Bytes(op_.whole ? ~std::uint64_t{0} : op_.length);
  reg_mr_.access = op_.access;
  reg_mr_.iova = Iova(op_.has_iova ? op_.iova : *address);
  return device_->reg_mr(thread_, reg_mr_, reply_, *this);
}

Progress Actor::issue_rereg_mr() {
  rereg_mr_ = {};
  rereg_mr_.mr = scene_.objects.handle(op_.id, ObjectKind::mr);
  if (rereg_mr_.mr == 0) return lack(op_.id);
  if (op_.pd != 0) {
    rereg_mr_.pd = scene_.objects.handle(op_.pd, ObjectKind::pd);
    if (rereg_mr_.pd == 0) return lack(op_.pd);
  }
  rereg_mr_.translation = op_.flag;
  if (op_.flag) {
    const auto address = scene_.objects.address(op_.address, AddressView::process);
    if (!address) return lack(op_.address.object);
    rereg_mr_.address = Va(*address);
    rereg_mr_.length = Bytes(op_.length);
  }
  rereg_mr_.change_access = op_.has_access;
  rereg_mr_.access = op_.access;
  return device_->rereg_mr(thread_, rereg_mr_, reply_, *this);
}

Progress Actor::issue_advise_mr() {
  verbs::AdviseMrRequest request;
  request.pd = scene_.objects.handle(op_.pd, ObjectKind::pd);
  if (request.pd == 0) return lack(op_.pd);
  advised_.clear();
  for (const SgeRef& ref : op_.sges) {
    const auto address = scene_.objects.address(ref.address, AddressView::operation);
    if (!address) return lack(ref.address.object);
    verbs::Sge& sge = advised_.emplace_back();
    sge.address = *address;
    sge.length = static_cast<std::uint32_t>(ref.length);
    if (!scene_.objects.key(ref.key, ref.address, KeyPlace::local, sge.lkey)) return lack(ref.key.object);
  }
  request.advice = static_cast<verbs::Prefetch>(advise_mr_words().find(op_.word));
  request.flush = op_.flag;
  request.sges = advised_;
  return device_->advise_mr(thread_, request, reply_, *this);
}

Progress Actor::issue_create_qp() {
  verbs::CreateQpRequest& request = op_.create_qp;
  request.pd = scene_.objects.handle(op_.pd, ObjectKind::pd);
  if (request.pd == 0) return lack(op_.pd);
  request.send_cq = scene_.objects.handle(op_.cq, ObjectKind::cq);
  if (request.send_cq == 0) return lack(op_.cq);
  request.recv_cq = scene_.objects.handle(op_.recv_cq, ObjectKind::cq);
  if (request.recv_cq == 0) return lack(op_.recv_cq);
  request.srq = op_.srq == 0 ? 0 : scene_.objects.handle(op_.srq, ObjectKind::srq);
  if (op_.srq != 0 && request.srq == 0) return lack(op_.srq);
  return device_->create_qp(thread_, request, reply_, *this);
}

Progress Actor::issue_create_srq() {
  const verbs::CreateSrqRequest request{scene_.objects.handle(op_.pd, ObjectKind::pd), op_.depth, op_.sge_limit};
  if (request.pd == 0) return lack(op_.pd);
  return device_->create_srq(thread_, request, reply_, *this);
}

Progress Actor::issue_connect() {
  const verbs::Handle qp = scene_.objects.handle(op_.id, ObjectKind::qp);
  if (qp == 0) return lack(op_.id);
  const verbs::Handle peer = scene_.objects.handle(op_.peer, ObjectKind::qp);
  if (peer == 0) return lack(op_.peer);
  return device_->connect(thread_, qp, *scene_.devices[scene_.names.host_of(op_.peer)], peer, reply_, *this);
}

Progress Actor::issue_release() {
  const auto with = [&](ObjectKind kind, auto call) -> Progress {
    const verbs::Handle handle = scene_.objects.handle(op_.id, kind);
    return handle == 0 ? lack(op_.id) : call(handle);
  };
  switch (op_.kind) {
    case Kind::dealloc_pd:
      return with(ObjectKind::pd, [&](auto h) { return device_->dealloc_pd(thread_, h, reply_, *this); });
    case Kind::dereg_mr:
      return with(ObjectKind::mr, [&](auto h) { return device_->dereg_mr(thread_, h, reply_, *this); });
    case Kind::dealloc_mw:
      return with(ObjectKind::mw, [&](auto h) { return device_->dealloc_mw(thread_, h, reply_, *this); });
    case Kind::query_qp:
      return with(ObjectKind::qp, [&](auto h) { return device_->query_qp(thread_, h, reply_, *this); });
    case Kind::destroy_cq:
      return with(ObjectKind::cq, [&](auto h) { return device_->destroy_cq(thread_, h, reply_, *this); });
    case Kind::destroy_srq:
      return with(ObjectKind::srq, [&](auto h) { return device_->destroy_srq(thread_, h, reply_, *this); });
    case Kind::destroy_qp:
      return with(ObjectKind::qp, [&](auto h) { return device_->destroy_qp(thread_, h, reply_, *this); });
    case Kind::modify_qp:
      return with(ObjectKind::qp, [&](auto h) { return device_->modify_qp(thread_, h, op_.state, reply_, *this); });
    default:
      assert(!"refused before the run by refuse_unsupported()");
      return Progress::done;
  }
}

void Actor::record_reply() {
  switch (op_.kind) {
    case Kind::mmap:
    case Kind::alloc_pd:
    case Kind::create_cq:
    case Kind::reg_mr:
    case Kind::alloc_mw:
    case Kind::create_srq:
    case Kind::create_qp:
      return record_made();
    default:
      if (reply_.error == 0) record_gone();
  }
}

void Actor::record_made() {
  Object& o = scene_.objects[op_.id];
  if (reply_.error != 0) {
    o.life = Life::failed;
    return scene_.observer.object_changed(op_.id, o);
  }
  o = {};
  o.life = Life::alive;
  o.handle = reply_.handle;
  switch (op_.kind) {
    case Kind::mmap:
      o.kind = ObjectKind::buf;
      o.address = Va(reply_.value);
      o.iova = Iova(reply_.value);
      o.length = op_.mmap.length;
      break;
    case Kind::reg_mr:
      o.kind = ObjectKind::mr;
      o.address = reg_mr_.address;
      o.iova = reply_.iova;
      o.length = reg_mr_.length;
      o.lkey = reply_.lkey;
      o.rkey = reply_.rkey;
      o.identity = reply_.identity;
      break;
    case Kind::alloc_mw:
      o.kind = ObjectKind::mw;
      o.rkey = reply_.rkey;
      break;
    case Kind::create_srq:
      o.kind = ObjectKind::srq;
      o.queue = requests_.open_shared(op_.depth);
      break;
    case Kind::create_qp:
      o.kind = ObjectKind::qp;
      o.queue = requests_.open(op_.cq);
      o.recv_queue = op_.srq == 0 ? requests_.open(op_.recv_cq) : requests_.open_use(scene_.objects[op_.srq].queue, op_.recv_cq);
      scene_.observer.made_qp(op_.id, static_cast<std::uint32_t>(reply_.value));
      break;
    case Kind::create_cq:
      o.kind = ObjectKind::cq;
      if (!lookout_.waiters.empty()) wake_waiters(op_.id);
      break;
    default:
      o.kind = ObjectKind::pd;
  }
  scene_.observer.object_changed(op_.id, o);
}

void Actor::record_gone() {
  Object& o = scene_.objects[op_.id];
  switch (op_.kind) {
    case Kind::rereg_mr:
      o.lkey = reply_.lkey;
      o.rkey = reply_.rkey;
      o.identity = reply_.identity;
      if (!rereg_mr_.translation) return scene_.observer.object_changed(op_.id, o);
      o.address = rereg_mr_.address;
      o.iova = reply_.iova;
      o.length = rereg_mr_.length;
      return scene_.observer.object_changed(op_.id, o);
    case Kind::munmap:
      if (op_.offset != 0 || (!op_.whole && op_.length < o.length.raw)) return;
      o.gone_in = process_;
      break;
    case Kind::bind_mw:
      rebind(op_.id, reply_.rkey, bind_mw_.address, bind_mw_.access);
      if (op_.has_wr) requests_.posted(op_.wr, scene_.objects[op_.qp].queue);
      return;
    case Kind::dealloc_pd:
    case Kind::dereg_mr:
    case Kind::dealloc_mw:
      break;
    case Kind::destroy_cq:
      requests_.drop_aside(op_.id);
      break;
    case Kind::destroy_srq:
      requests_.close(o.queue);
      break;
    case Kind::destroy_qp:
      requests_.close(o.queue);
      requests_.close(o.recv_queue);
      break;
    case Kind::modify_qp:
      if (op_.state != verbs::QpState::reset) return;
      requests_.forget(o.queue);
      requests_.forget(o.recv_queue);
      return;
    default:
      return;
  }
  o.life = Life::gone;
  scene_.observer.object_changed(op_.id, o);
}

}  // namespace mtsim::program

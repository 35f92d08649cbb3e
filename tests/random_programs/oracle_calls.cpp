// Calls that make, change and end objects.
#include <algorithm>

#include "oracle.h"

namespace mtsim::random_programs {

namespace {

constexpr std::uint64_t page = 4096;

template <class T>
void make(std::vector<T>& table, Id id, T object) {
  if (static_cast<Id>(table.size()) != id) throw std::logic_error("objects are numbered in the order in which they are made");
  table.push_back(std::move(object));
}

}  // namespace

std::string Oracle::call(const Operation& o) {
  World& w = world_;
  switch (o.kind) {
    case Kind::mmap:
      return mmap(o);
    case Kind::alloc_pd:
      make(w.pds, o.id, Pd{o.host, true});
      return "ok";
    case Kind::dealloc_pd:
      return dealloc_pd(o);
    case Kind::reg_mr:
      return reg_mr(o);
    case Kind::rereg_mr:
      return rereg_mr(o);
    case Kind::dereg_mr:
      return dereg_mr(o);
    case Kind::alloc_mw: {
      Window window;
      window.host = o.host;
      window.alive = true;
      window.type = o.window_type;
      window.pd = o.pd;
      make(w.windows, o.id, window);
      return "ok";
    }
    case Kind::dealloc_mw:
      World::at(w.windows, o.id).alive = World::at(w.windows, o.id).bound = false;
      return "ok";
    case Kind::bind_mw:
      return bind_call(o);
    case Kind::create_cq:
      make(w.cqs, o.id, Cq{o.host, true, o.depth});
      return "ok";
    case Kind::destroy_cq:
      return destroy_cq(o);
    case Kind::create_srq: {
      Srq srq;
      srq.host = o.host;
      srq.alive = true;
      srq.pd = o.pd;
      srq.sges = o.sges_of_srq;
      make(w.srqs, o.id, srq);
      return "ok";
    }
    case Kind::destroy_srq:
      return destroy_srq(o);
    case Kind::create_qp:
      return create_qp(o);
    case Kind::connect:
      return connect(o);
    case Kind::modify_qp:
      return modify_qp(o);
    case Kind::destroy_qp: {
      Qp& qp = World::at(w.qps, o.id);
      qp.alive = false;
      qp.state = QpState::reset;
      return "ok";
    }
    case Kind::query_qp:
      switch (World::at(w.qps, o.id).state) {
        case QpState::reset:
          return "reset";
        case QpState::init:
          return "init";
        case QpState::rts:
          return "rts";
        case QpState::sqe:
          return "sqe";
        case QpState::err:
          return "err";
      }
      return {};
    default:
      throw std::logic_error("no call");
  }
}

/// Where buffers lie does not matter: far apart, and beyond every iova that a program asks for.
std::string Oracle::mmap(const Operation& o) {
  constexpr std::uint64_t first = std::uint64_t{1} << 46, apart = std::uint64_t{1} << 32;
  make(world_.buffers, o.id, Buffer{o.host, first + apart * world_.buffers.size(), o.length, o.writable});
  return "ok";
}

/// ib_check_mr_access
std::string Oracle::check_rights(Rights rights) const { return (rights & (rw | ra)) != 0 && (rights & lw) == 0 ? "EINVAL" : "ok"; }

/// ib_access_writable: the device may come to write.
bool Oracle::may_write(Rights rights) const { return (rights & (lw | rw | ra | mw_bind)) != 0; }

std::string Oracle::reg_mr(const Operation& o) {
  Mr mr;
  mr.host = o.host;
  mr.pd = o.pd;
  mr.buffer = o.address.id;
  const std::uint64_t address = resolve(o.address);
  mr.start = o.iova.value_or(address);
  mr.length = o.length;
  mr.rights = o.access;
  mr.pinned_for_writing = may_write(o.access);
  std::string answer = "ok";
  const Buffer& buffer = World::at(world_.buffers, mr.buffer);
  if (address % page != mr.start % page || check_rights(o.access) != "ok" || o.length == 0) answer = "EINVAL";
  else if (mr.pinned_for_writing && !buffer.writable) answer = "EFAULT";
  mr.alive = answer == "ok";
  make(world_.mrs, o.id, mr);
  return answer;
}

std::string Oracle::rereg_mr(const Operation& o) {
  Mr& mr = World::at(world_.mrs, o.id);
  const bool nothing = !o.change_access && !o.change_translation && o.pd == nobody;
  if (nothing || (o.change_translation && o.length == 0)) return "EINVAL";
  if (!rules_.rereg_rights || (o.change_translation && !rules_.rereg_translation)) return "EOPNOTSUPP";
  if (o.change_access && check_rights(o.access) != "ok") return "EINVAL";
  const Rights rights = o.change_access ? o.access : mr.rights;
  if (o.change_translation) {
    if (may_write(rights) && !World::at(world_.buffers, o.address.id).writable) return "EFAULT";
    mr.buffer = o.address.id;
    mr.start = resolve(o.address);
    mr.length = o.length;
    mr.pinned_for_writing = may_write(rights);
    // The key may stay or be another: programs choose a range that has nothing in common with the old one, so that either refuses.
    ++mr.version;
  } else if (may_write(rights) && !mr.pinned_for_writing) {
    return "EACCES";
  }
  mr.rights = rights;
  if (o.pd != nobody) mr.pd = o.pd;
  return "ok";
}

std::string Oracle::dereg_mr(const Operation& o) {
  const auto bound_to_it = [&](const Window& w) { return w.alive && w.bound && w.mr == o.id; };
  const bool bound = std::any_of(world_.windows.begin(), world_.windows.end(), bound_to_it);
  if (bound && rules_.dereg_bound != "ok") return rules_.dereg_bound;
  World::at(world_.mrs, o.id).alive = false;
  return "ok";
}

/// ibv_bind_mw. The window's key changes at once; the bind is a request like others, and always signaled.
std::string Oracle::bind_call(const Operation& o) {
  const Window& window = World::at(world_.windows, o.mw);
  const Mr& mr = World::at(world_.mrs, o.mr);
  if (window.type != 1) return "EINVAL";
  if (mr.pd != window.pd) return "EPERM";
  if ((o.access & zero_based) != 0) return "EINVAL";
  const Qp& qp = World::at(world_.qps, o.qp);
  Send bind;
  bind.wr = o.wr;
  bind.opcode = Opcode::bind_mw;
  bind.signaled = true;
  bind.window_type = 1;
  bind.window = o.mw;
  bind.mr = o.mr;
  bind.address = resolve(o.address);
  bind.length = o.length;
  bind.rights = o.access;
  if (!qp.takes_sends) {
    if (rules_.keeps_refused) World::at(world_.qps, o.qp).kept.push_back(bind);
    return rules_.send_below_rts;
  }
  carry_out(o.qp, bind);
  return "ok";
}

std::string Oracle::dealloc_pd(const Operation& o) {
  const auto in_it = [&](const auto& object) { return object.alive && object.pd == o.id; };
  const World& w = world_;
  const bool used = std::any_of(w.mrs.begin(), w.mrs.end(), in_it) || std::any_of(w.windows.begin(), w.windows.end(), in_it) ||
                    std::any_of(w.qps.begin(), w.qps.end(), in_it) || std::any_of(w.srqs.begin(), w.srqs.end(), in_it);
  if (used) return "EBUSY";
  World::at(world_.pds, o.id).alive = false;
  return "ok";
}

std::string Oracle::destroy_cq(const Operation& o) {
  for (const Qp& qp : world_.qps)
    if (qp.alive && (qp.settings.send_cq == o.id || qp.settings.recv_cq == o.id)) return "EBUSY";
  World::at(world_.cqs, o.id).alive = false;
  return "ok";
}

std::string Oracle::destroy_srq(const Operation& o) {
  for (const Qp& qp : world_.qps)
    if (qp.alive && qp.settings.srq == o.id) return "EBUSY";
  World::at(world_.srqs, o.id).alive = false;
  return "ok";
}

std::string Oracle::create_qp(const Operation& o) {
  Qp qp;
  qp.host = o.host;
  qp.alive = true;
  qp.pd = o.pd;
  qp.settings = o.settings;
  make(world_.qps, o.id, qp);
  return "ok";
}

std::string Oracle::connect(const Operation& o) {
  const auto can = [](const Qp& qp) { return qp.alive && (qp.state == QpState::reset || qp.state == QpState::init); };
  Qp& here = World::at(world_.qps, o.id);
  Qp& there = World::at(world_.qps, o.peer);
  if (!can(here) || !can(there)) return "EINVAL";
  here.peer = o.peer;
  there.peer = o.id;
  for (Qp* qp : {&here, &there}) {
    qp->state = QpState::rts;
    qp->takes_sends = true;
  }
  return "ok";
}

/// ib_modify_qp_is_ok. What a reset empties completes nothing, and completions that nobody took are gone from the CQ.
std::string Oracle::modify_qp(const Operation& o) {
  Qp& qp = World::at(world_.qps, o.id);
  switch (o.state) {
    case QpState::reset:
      qp.state = QpState::reset;
      qp.takes_sends = false;
      qp.receives.clear();
      qp.begun.reset();
      qp.kept.clear();
      qp.waits_for_end = false;
      qp.ahead = 0;
      for (Window& w : world_.windows)
        if (w.bound && w.type == 2 && w.qp == o.id) w.spoilt = true;
      return "ok";
    case QpState::init:
      if (qp.state != QpState::reset && qp.state != QpState::init) return "EINVAL";
      qp.state = QpState::init;
      return "ok";
    case QpState::err:
      if (qp.state == QpState::reset) return "EINVAL";
      fail(o.id, true);
      qp.takes_sends = true;
      return "ok";
    default:
      return "EINVAL";
  }
}

}  // namespace mtsim::random_programs

// What becomes of a request, packet by packet, in the order in which requester and responder look at things.
#include <algorithm>

#include "oracle.h"

namespace mtsim::random_programs {

namespace {

/// [address, address + length) lies in [start, start + size); no sum can overflow, sizes are small.
bool inside(std::uint64_t address, std::uint64_t length, std::uint64_t start, std::uint64_t size) {
  return address >= start && length <= size && address - start <= size - length;
}

/// Of an unreliable connection also with its send queue stopped.
bool receives(const Qp& qp) { return qp.alive && !qp.waits_for_end && (qp.state == QpState::rts || qp.state == QpState::sqe); }

Rights right_for(Opcode opcode) {
  if (opcode == Opcode::read) return rr;
  if (is_write(opcode)) return rw;
  return is_atomic(opcode) ? ra : 0;
}

}  // namespace

Oracle::Refusal Oracle::check_local(const Element& e, Id pd, Rights rights) const {
  if (e.key.of != Key::Of::mr) return Refusal::key;
  const Mr& mr = World::at(world_.mrs, e.key.id);
  if (!mr.alive || mr.version != e.key.version || mr.pd != pd || (mr.rights & rights) != rights) return Refusal::key;
  return inside(e.address, e.length, mr.start, mr.length) ? Refusal::none : Refusal::range;
}

Oracle::Refusal Oracle::check_remote(const Key& key, const Qp& responder, Rights rights, std::uint64_t address,
                                     std::uint64_t length) const {
  if (key.of == Key::Of::nothing) return Refusal::key;
  if (key.of == Key::Of::mr) {
    const Mr& mr = World::at(world_.mrs, key.id);
    if (!mr.alive || mr.version != key.version || mr.pd != responder.pd || (mr.rights & rights) != rights) return Refusal::key;
    return inside(address, length, mr.start, mr.length) ? Refusal::none : Refusal::range;
  }
  const Window& window = World::at(world_.windows, key.id);
  if (!window.alive || !window.bound || window.version != key.version || window.pd != responder.pd) return Refusal::key;
  if (window.type == 2 && &World::at(world_.qps, window.qp) != &responder) return Refusal::key;
  if ((window.rights & rights) != rights) return Refusal::key;
  const Mr& mr = World::at(world_.mrs, window.mr);
  if (!mr.alive) return Refusal::key;
  const bool in_it = rules_.window_has_bounds ? inside(address, length, window.start, window.length)
                                              : inside(address - window.start + window.in_mr, length, mr.start, mr.length);
  return in_it ? Refusal::none : Refusal::range;
}

/// Rules of type 2 windows: bound, by its present key. Type 1 windows and MRs cannot be invalidated.
bool Oracle::can_be_invalidated(const Key& key, Id qp, std::string& unclear) const {
  if (key.of != Key::Of::mw) return false;
  const Window& window = World::at(world_.windows, key.id);
  if (window.spoilt) unclear = "a window whose state programs cannot rely on";
  if (!window.alive || window.type != 2 || window.version != key.version) return false;
  if (rules_.binder_invalidates && window.pd != World::at(world_.qps, qp).pd) return false;
  if (!window.bound) unclear = "a free window is invalidated";
  else if (rules_.binder_invalidates && window.qp != qp) unclear = "a window is invalidated by another QP than the one that bound it";
  return true;
}

bool Oracle::can_be_bound(const Send& bind, const Qp& qp) const {
  const Window& window = World::at(world_.windows, bind.window);
  const Mr& mr = World::at(world_.mrs, bind.mr);
  if (!window.alive || (rules_.bind_by_kind && window.type != bind.window_type)) return false;
  const bool by_call = bind.window_type == 1;
  if (by_call && window.by_request) return false;
  if (window.pd != qp.pd && (window.type == 2 || rules_.bind_pds)) return false;
  if (window.type == 2 && (window.bound || bind.length == 0)) return false;
  if (window.type == 1 && (bind.rights & zero_based) != 0) return false;
  if (bind.length == 0) return true;  // unbinds
  if (!mr.alive || (rules_.bind_pds && mr.pd != window.pd) || (mr.rights & mw_bind) == 0) return false;
  if ((bind.rights & (rw | ra)) != 0 && (mr.rights & lw) == 0) return false;
  if (!rules_.zero_based_inside && (bind.rights & zero_based) != 0) return bind.length <= mr.length;
  return inside(bind.address, bind.length, mr.start, mr.length);
}

Course Oracle::judge(Id id, const Send& send) const {
  const Qp& qp = World::at(world_.qps, id);
  Course course;
  if (qp.state == QpState::err || qp.state == QpState::sqe) {
    course.status = "WR_FLUSH_ERR";
    return course;
  }
  if (send.opcode == Opcode::bind_mw) {
    if (World::at(world_.windows, send.window).spoilt) course.unclear = "a window whose state programs cannot rely on";
    course.local = !can_be_bound(send, qp);
    if (course.local) course.status = "MW_BIND_ERR";
    return course;
  }
  if (send.opcode == Opcode::local_inv) {
    course.local = !can_be_invalidated(send.inv, id, course.unclear);
    if (course.local) course.status = "LOC_QP_OP_ERR";
    else course.invalidated = send.inv.id;
    return course;
  }
  if (send.rkey.of == Key::Of::mw && World::at(world_.windows, send.rkey.id).spoilt)
    course.unclear = "a window whose state programs cannot rely on";
  const std::string unclear = course.unclear;
  const bool asks = send.opcode == Opcode::read || is_atomic(send.opcode);
  course = asks ? judge_read(qp, send) : judge_message(qp, send);
  if (!unclear.empty()) course.unclear = unclear;
  const bool data_of_read = send.opcode == Opcode::read && (course.status == "SUCCESS" || course.in_answer);
  course.out_of_turn = qp.read_begun && !course.local && !data_of_read && course.status != "RETRY_EXC_ERR";
  if (course.out_of_turn) course.status = "SUCCESS";
  return course;
}

Course Oracle::judge_read(const Qp& qp, const Send& send) const {
  Course course;
  if (qp.settings.type == QpType::uc) {
    course.status = "LOC_QP_OP_ERR";
    course.local = true;
    return course;
  }
  const Qp& peer = World::at(world_.qps, qp.peer);
  if (!receives(peer)) {
    course.status = "RETRY_EXC_ERR";
    return course;
  }
  const std::uint64_t bytes = is_atomic(send.opcode) ? 8 : send.bytes();
  const Rights right = right_for(send.opcode);
  const auto refuse = [&](const char* status, const char* event) {
    course.status = status;
    course.event = event;
    course.peer_fails = true;
    return course;
  };
  if ((peer.settings.access & right) == 0 || peer.settings.dest_rd_atomic == 0) return refuse("REM_INV_REQ_ERR", "QP_REQ_ERR");
  if (bytes != 0 && check_remote(send.rkey, peer, right, send.address, bytes) != Refusal::none)
    return refuse("REM_ACCESS_ERR", "QP_ACCESS_ERR");
  if (is_atomic(send.opcode) && send.address % 8 != 0) return refuse("REM_INV_REQ_ERR", "QP_REQ_ERR");
  course.executed = true;
  std::string unclear;  // where an element that crosses the end of its MR fails does not matter: all of its bytes are written
  if (!scatter(send.elements, qp.pd, 0, bytes, unclear)) {
    course.status = "LOC_PROT_ERR";
    course.in_answer = true;
    course.behind_first = first_packet_fits(qp, send);
  }
  return course;
}

/// Whether the bytes of a READ's first packet can be written, and there are more.
bool Oracle::first_packet_fits(const Qp& qp, const Send& send) const {
  std::uint64_t left = qp.settings.mtu;
  if (send.bytes() <= left) return false;
  for (const Element& e : send.elements) {
    const Element part{e.address, static_cast<std::uint32_t>(std::min<std::uint64_t>(e.length, left)), e.key};
    if (part.length != 0 && check_local(part, qp.pd, lw) != Refusal::none) return false;
    left -= part.length;
  }
  return true;
}

/// Whether all elements that these bytes go to may be written. `unclear` when an element reaches beyond its MR with bytes that are not
/// asked for: some look at the whole element, some at the bytes.
bool Oracle::scatter(const std::vector<Element>& elements, Id pd, std::uint64_t offset, std::uint64_t bytes, std::string& unclear) const {
  std::uint64_t begin = 0;
  for (const Element& e : elements) {
    const std::uint64_t from = std::max(begin, offset), to = std::min(begin + e.length, offset + bytes);
    if (from < to) {
      const Refusal refusal = check_local(e, pd, lw);
      if (refusal == Refusal::range) {
        const Element part{e.address + (from - begin), static_cast<std::uint32_t>(to - from), e.key};
        if (check_local(part, pd, lw) == Refusal::none) unclear = "an element reaches beyond its MR with bytes that are not used";
      }
      if (refusal != Refusal::none) return false;
    }
    begin += e.length;
  }
  return true;
}

/// SENDs and WRITEs, packet by packet: the requester gathers a packet's bytes and sends it, the responder looks at it.
Course Oracle::judge_message(const Qp& qp, const Send& send) const {
  Course course;
  const Qp& peer = World::at(world_.qps, qp.peer);
  const bool reliable = qp.settings.type == QpType::rc, there = receives(peer);
  const std::uint64_t mtu = qp.settings.mtu, length = send.bytes(), packets = length == 0 ? 1 : (length + mtu - 1) / mtu;
  const auto size = [&](std::uint64_t packet) { return std::min(mtu, length - packet * mtu); };
  bool taking = there;  // the responder has not refused it yet
  for (std::uint64_t i = 0; i < packets; ++i) {
    const Refusal refusal = send.inline_data ? Refusal::none : gather(send.elements, qp.pd, i * mtu, size(i));
    if (refusal != Refusal::none) {
      course.status = refusal == Refusal::key ? rules_.gather_key : rules_.gather_range;
      course.local = true;
      if (packets == 1) return course;
      // An element that reaches beyond its MR is found out at its first byte by some and at the first bad one by others; which packets
      // went before must not matter.
      if ((reliable || there) && !responder_takes_all(peer, send, mtu)) course.unclear = "refused at both ends";
      if (is_send(send.opcode) && peer.settings.srq != nobody) course.unclear = "part of a message takes a shared receive";
      return course;
    }
    if (taking) taking = responder_takes(peer, send, i * mtu, size(i), course);
  }
  if (!there && reliable) course.status = "RETRY_EXC_ERR";
  course.executed = taking;
  return course;
}

bool Oracle::responder_takes_all(const Qp& peer, const Send& send, std::uint64_t mtu) const {
  if (!receives(peer)) return false;
  Course course;
  for (std::uint64_t offset = 0; offset < send.bytes(); offset += mtu)
    if (!responder_takes(peer, send, offset, std::min(mtu, send.bytes() - offset), course)) return false;
  return true;
}

Oracle::Refusal Oracle::gather(const std::vector<Element>& elements, Id pd, std::uint64_t offset, std::uint64_t bytes) const {
  std::uint64_t begin = 0;
  for (const Element& e : elements) {
    const bool used = std::max(begin, offset) < std::min(begin + e.length, offset + bytes);
    begin += e.length;
    if (!used) continue;
    if (const Refusal refusal = check_local(e, pd, 0); refusal != Refusal::none) return refusal;
  }
  return Refusal::none;
}

bool Oracle::fails_at_home(const Operation& o) const {
  if (!is_send(o.opcode) && !is_write(o.opcode)) return false;
  const Send send = resolve_send(o);
  return !send.inline_data && gather(send.elements, World::at(world_.qps, o.id).pd, 0, send.bytes()) != Refusal::none;
}

const Receive* Oracle::next_receive(const Qp& qp) const {
  if (qp.begun) return &*qp.begun;
  const auto& queue = qp.settings.srq == nobody ? qp.receives : World::at(world_.srqs, qp.settings.srq).receives;
  return queue.empty() ? nullptr : &queue.front();
}

/// One packet at the responder. False: it refuses the message; `course` says how. An unreliable connection drops what it refuses and tells
/// nobody, but fails when it is the receive that is at fault.
bool Oracle::responder_takes(const Qp& peer, const Send& send, std::uint64_t offset, std::uint64_t bytes, Course& course) const {
  const bool first = offset == 0, last = offset + bytes == send.bytes(), sends = is_send(send.opcode);
  const bool reliable = peer.settings.type == QpType::rc;
  const Receive* const receive = next_receive(peer);
  const auto refuse = [&](const Status& status, const char* event, const Status& of_receive) {
    if (reliable) course.status = status;
    if (reliable) course.event = event;
    course.receive = of_receive;
    course.peer_fails = reliable || !of_receive.empty();
    return false;
  };
  if (first && is_write(send.opcode) && (peer.settings.access & rw) == 0) return refuse("REM_INV_REQ_ERR", "QP_REQ_ERR", {});
  const bool takes = (sends && first) || (send.opcode == Opcode::write_imm && last);
  if (takes && receive == nullptr) {
    if (reliable) course.status = "RNR_RETRY_EXC_ERR";
    course.waits_for_end = !reliable && !first && rules_.waits_for_end;
    return false;
  }
  if (is_write(send.opcode) && first && send.bytes() != 0 &&
      check_remote(send.rkey, peer, rw, send.address, send.bytes()) != Refusal::none) {
    if (takes && !reliable && peer.settings.srq != nobody && rules_.imm_refused_uses_up_shared) {
      course.takes_receive = true;
      course.receive = "REM_ACCESS_ERR";
      return false;
    }
    course.takes_receive = (takes || (late_ && send.opcode == Opcode::write_imm && receive != nullptr)) && reliable;
    if (course.takes_receive) return refuse("REM_ACCESS_ERR", "", rules_.imm_refused);
    return refuse("REM_ACCESS_ERR", "QP_ACCESS_ERR", {});
  }
  if (takes) course.takes_receive = true;
  if (sends && bytes != 0) {
    if (offset + bytes > receive->room()) return refuse(rules_.sender_of_short, "", rules_.receive_short);
    if (!scatter(receive->elements, rules_.shared_by_qp_pd ? peer.pd : world_.receive_pd(peer), offset, bytes, course.unclear))
      return refuse("REM_OP_ERR", "", rules_.receive_refused);
  }
  if (!last || !course.takes_receive) return true;
  course.receive = "SUCCESS";
  if (send.opcode != Opcode::send_inv) return true;
  if (can_be_invalidated(send.inv, id_of(peer), course.unclear)) {
    course.invalidated = send.inv.id;
  } else {
    // The message itself has been taken: the requester learns nothing.
    course.receive = "REM_INV_REQ_ERR";
    course.peer_fails = true;
  }
  return true;
}

}  // namespace mtsim::random_programs

// Posting: what the library refuses, what goes into a queue, and what comes of it.
#include <algorithm>

#include "oracle.h"

namespace mtsim::random_programs {

std::uint64_t Oracle::resolve(const Address& a) const {
  const auto offset = static_cast<std::uint64_t>(a.offset);
  switch (a.of) {
    case Address::Of::raw:
      return offset;
    case Address::Of::buf:
      return World::at(world_.buffers, a.id).start + offset;
    case Address::Of::mr:
      return World::at(world_.mrs, a.id).start + offset;
    case Address::Of::mw:
      return World::at(world_.windows, a.id).start + offset;
  }
  return 0;
}

/// A number and a key with bits turned over stand for no object: programs take only such as no driver hands out meanwhile.
Key Oracle::resolve(const KeyRef& k, bool remote) const {
  if (k.of == KeyRef::Of::raw || k.flip != 0) return {};
  if (k.of == KeyRef::Of::mw) return {Key::Of::mw, k.id, World::at(world_.windows, k.id).version};
  const Mr& mr = World::at(world_.mrs, k.id);
  const bool rkey = k.which == KeyRef::Which::rkey || (remote && k.which == KeyRef::Which::in_place);
  if (rkey && rules_.rkey_needs_right && (mr.rights & (rr | rw | ra)) == 0) return {};
  return {Key::Of::mr, k.id, mr.version};
}

/// Elements without bytes are dropped (mlx5) or their keys not looked at.
Receive Oracle::resolve_receive(const Operation& o) const {
  Receive receive;
  receive.wr = o.wr;
  for (const Sge& sge : o.sges)
    if (sge.length != 0) receive.elements.push_back({resolve(sge.address), sge.length, resolve(sge.key, false)});
  return receive;
}

Send Oracle::resolve_send(const Operation& o) const {
  const Qp& qp = World::at(world_.qps, o.id);
  Send send;
  send.wr = o.wr;
  send.opcode = o.opcode;
  send.signaled = o.signaled || qp.settings.signal_all;
  send.inline_data = o.inline_data;
  if (o.opcode == Opcode::bind_mw) {
    send.window = o.mw;
    send.mr = o.mr;
    send.address = resolve(o.address);
    send.length = o.length;
    send.rights = o.access;
    return send;
  }
  send.elements = resolve_receive(o).elements;
  send.address = resolve(o.to);
  send.rkey = resolve(o.to_key, true);
  send.inv = resolve(o.inv, true);
  return send;
}

std::string Oracle::refusal(const Operation& o) const {
  if (o.kind == Kind::post_srq) return o.sges.size() > World::at(world_.srqs, o.id).sges ? rules_.recv_sges : "ok";
  const Qp& qp = World::at(world_.qps, o.id);
  if (o.kind == Kind::post_recv) {
    if (qp.settings.srq != nobody) return "EINVAL";
    if (qp.state == QpState::reset) return rules_.recv_in_reset;
    return o.sges.size() > qp.settings.recv_sge ? rules_.recv_sges : "ok";
  }
  return qp.takes_sends ? refusal_in_rts(o) : rules_.send_below_rts;
}

std::string Oracle::refusal_in_rts(const Operation& o) const {
  const Qp& qp = World::at(world_.qps, o.id);
  if (o.sges.size() > qp.settings.send_sge) return rules_.send_sges;
  std::uint64_t bytes = 0;
  for (const Sge& sge : o.sges) bytes += sge.length;
  if (o.inline_data && bytes > qp.settings.inline_bytes) return rules_.send_inline;
  const bool asks = o.opcode == Opcode::read || is_atomic(o.opcode);
  if (asks && qp.settings.type == QpType::uc && rules_.read_on_uc != "ok") return rules_.read_on_uc;
  if (is_atomic(o.opcode) && resolve(o.to) % 8 != 0) return rules_.misaligned_atomic;
  return "ok";
}

std::string Oracle::post(const Operation& o) {
  const std::string answer = refusal(o);
  if (answer != "ok") {
    const bool kept = rules_.keeps_refused && o.kind == Kind::post_send && refusal_in_rts(o) == "ok";
    if (kept) World::at(world_.qps, o.id).kept.push_back(resolve_send(o));
    return answer;
  }
  if (o.kind == Kind::post_send) {
    carry_out(o.id, resolve_send(o));
  } else if (o.kind == Kind::post_srq) {
    World::at(world_.srqs, o.id).receives.push_back(resolve_receive(o));
  } else {
    const Qp& qp = World::at(world_.qps, o.id);
    if (qp.state == QpState::err && rules_.late_receives_flushed) complete_receive(qp, o.wr, "WR_FLUSH_ERR");
    else World::at(world_.qps, o.id).receives.push_back(resolve_receive(o));
  }
  return answer;
}

Course Oracle::judge(const Operation& o) const { return judge(o.id, resolve_send(o)); }

void Oracle::carry_out(Id id, const Send& send) {
  const Course course = judge(id, send);
  unclear_ = unclear_ || !course.unclear.empty();
  Qp& qp = World::at(world_.qps, id);
  if (course.status == "WR_FLUSH_ERR") {
    complete_send(qp, send, course.status);
    // The window's name stands for the key that this bind would have given.
    if (send.opcode == Opcode::bind_mw) World::at(world_.windows, send.window).spoilt = true;
    if (qp.ahead == 0) return;
    --qp.ahead;
    qp.state = QpState::rts;
    const Course at_peer = judge(id, send);
    qp.state = QpState::err;
    unclear_ = unclear_ || !at_peer.unclear.empty();
    if (at_peer.local) qp.ahead = 0;
    else change_peer(qp, at_peer);
    return;
  }
  change_peer(qp, course);
  if (send.opcode == Opcode::bind_mw) {
    Window& window = World::at(world_.windows, send.window);
    ++window.version;
    if (course.status == "SUCCESS") bind(send, id);
    else window.spoilt = true;
  }
  remember_read(qp, send, course);
  if (course.status == "SUCCESS") {
    if (send.signaled) complete_send(qp, send, course.status);
    if (course.out_of_turn) fail(id, true);
    return;
  }
  complete_send(qp, send, course.status);
  if (course.in_answer) qp.ahead = ahead_;
  if (qp.settings.type == QpType::uc && rules_.uc_stops_sends_only) qp.state = QpState::sqe;
  else fail(id, rules_.requester_flushes_receives);
}

void Oracle::remember_read(Qp& qp, const Send& send, const Course& course) const {
  if (!rules_.remembers_read || send.opcode != Opcode::read || course.out_of_turn) return;
  if (course.status == "SUCCESS") qp.read_begun = false;
  else if (course.behind_first) qp.read_begun = true;
}

void Oracle::change_peer(const Qp& qp, const Course& course) {
  if (course.takes_receive) {
    Qp& peer = World::at(world_.qps, qp.peer);
    const Receive receive = take_receive(peer);
    if (course.receive.empty()) peer.begun = receive;
    else complete_receive(peer, receive.wr, course.receive);
  }
  if (course.invalidated != nobody) World::at(world_.windows, course.invalidated).bound = false;
  if (!course.event.empty() && rules_.asynchronous_events) world_.events[World::at(world_.qps, qp.peer).host].push_back(course.event);
  if (course.waits_for_end) World::at(world_.qps, qp.peer).waits_for_end = true;
  if (course.peer_fails) fail(qp.peer, true);
}

void Oracle::bind(const Send& send, Id qp) {
  Window& window = World::at(world_.windows, send.window);
  window.bound = send.length != 0;
  window.by_request = window.type == 1 && send.window_type != 1;
  window.mr = send.mr;
  window.qp = qp;
  window.start = (send.rights & zero_based) != 0 ? 0 : send.address;
  window.in_mr = send.address;
  window.length = send.length;
  window.rights = send.rights;
}

/// Nothing is outstanding in its send queue: requests are carried out as they are posted. A shared queue's receives stay.
void Oracle::fail(Id id, bool flush_receives) {
  Qp& qp = World::at(world_.qps, id);
  if (qp.state != QpState::err && qp.settings.srq != nobody && rules_.asynchronous_events)
    world_.events[qp.host].emplace_back("QP_LAST_WQE_REACHED");
  qp.state = QpState::err;
  for (const Send& send : qp.kept) complete_send(qp, send, "WR_FLUSH_ERR");
  qp.kept.clear();
  if (!flush_receives) return;
  if (qp.begun) complete_receive(qp, qp.begun->wr, "WR_FLUSH_ERR");
  qp.begun.reset();
  for (const Receive& receive : qp.receives) complete_receive(qp, receive.wr, "WR_FLUSH_ERR");
  qp.receives.clear();
}

Receive Oracle::take_receive(Qp& qp) {
  if (qp.begun) {
    const Receive receive = *qp.begun;
    qp.begun.reset();
    return receive;
  }
  std::vector<Receive>& queue = qp.settings.srq == nobody ? qp.receives : World::at(world_.srqs, qp.settings.srq).receives;
  const Receive receive = queue.front();
  queue.erase(queue.begin());
  return receive;
}

void Oracle::complete_send(const Qp& qp, const Send& send, const Status& status) {
  world_.completions[qp.settings.send_cq].push_back({send.wr, status, nobody, id_of(qp)});
}

void Oracle::complete_receive(const Qp& qp, std::uint64_t wr, const Status& status) {
  world_.completions[qp.settings.recv_cq].push_back({wr, status, qp.settings.srq, id_of(qp)});
}

const std::vector<Completion>& Oracle::completions(Id cq) const {
  static const std::vector<Completion> none;
  const auto found = world_.completions.find(cq);
  return found == world_.completions.end() ? none : found->second;
}

void Oracle::take(Id cq, std::uint64_t wr) {
  std::vector<Completion>& list = world_.completions[cq];
  const auto found = std::find_if(list.begin(), list.end(), [&](const Completion& c) { return c.wr == wr; });
  if (found == list.end()) throw std::logic_error("no such completion");
  list.erase(found);
}

std::vector<std::string> Oracle::take_events(int host) {
  std::vector<std::string> events;
  events.swap(world_.events[host]);
  return events;
}

}  // namespace mtsim::random_programs

#include "nic/responder.h"

#include <algorithm>

#include "nic/responder_marks.h"
#include "ports/rank.h"

namespace mtsim::nic {

Responder::Responder(sc_core::sc_module_name module_name, engine::Scheduler& scheduler, Clock clock, const ResponderParams& params,
                     std::uint32_t port, ports::PacketPool& packets)
    : sc_module(module_name),
      retirement("retirement"),
      translator("translator"),
      dma("dma"),
      network("network"),
      windows("windows"),
      qp_contexts("qp_contexts"),
      watch("watch"),
      scheduler_(scheduler),
      clock_(clock),
      params_(params),
      port_(port),
      packets_(packets),
      contexts_(scheduler, params.contexts),
      buffer_(scheduler, params.buffer, ports::order(port, ports::Unit::responder)) {
  // The pipe moves at edges: its spans are whole cycles.
  params_.interval = clock_.edge(params_.interval);
  params_.service = clock_.edge(params_.service);
  params_.read_service = clock_.edge(params_.read_service);
  for (std::uint32_t i = 0; i < params.atomic_locks; ++i) locks_.push_back(std::make_unique<engine::Semaphore>(scheduler, 1));
}

void Responder::end_of_elaboration() {
  format_ = network->format();
  if (qp_contexts.size() != 0) qp_contexts_ = qp_contexts.operator->();
  if (watch.size() != 0) watch_ = watch.operator->();
}

void Responder::take(Qp& qp, ports::Packet& packet) {
  packet.stamp.fill(scheduler_.now());
  if (params_.measures) {
    packet.waits.add(ports::Step::wire, ports::Cause::wire_out, packet.waited_out);
    packet.waits.add(ports::Step::wire, ports::Cause::wire_in, packet.waited_in);
  }
  if (qp_contexts_ != nullptr) [[unlikely]]
    packet.context_missed = look_up_context(qp, packet);
  qp.requests.push(packet);
  if (!qp.serving) {
    qp.serving = true;
    scheduler_.spawn(serve(qp));
  }
}

engine::Flow Responder::serve(Qp& qp) {
  while (ports::Packet* packet = qp.requests.pop()) {
    qp.served = packet;
    note(*packet, ports::Step::responder_wait, ports::Cause::qp, packet->stamp[arrived]);
    // One that must wait for it lets those of other QPs pass.
    if (qp_contexts_ != nullptr && packet->context_missed.raw != 0 && !qp.destroyed) [[unlikely]] {
      const Time asked = std::max(scheduler_.now(), packet->context_missed);
      qp.serves = "waits for its QP's context";
      co_await qp_contexts_->fetch(qp, packet->context_missed, qp.responder_order);
      note(*packet, ports::Step::responder_wait, ports::Cause::context_fetch, asked);
    }
    if (!qp.receives() || qp.waits_for_end) ++dropped_;  // a QP that is not ready answers nothing
    else if (in_sequence(qp, *packet)) {
      if (!verbs::is_read_or_atomic(packet->opcode)) co_await data(qp, *packet);
      else if (packet->opcode == verbs::Opcode::read) co_await read(qp, *packet);
      else co_await atomic(qp, *packet);
    }
    ports::PacketPool::give(*packet);
  }
  qp.serving = false;
  qp.served = nullptr;
}

/// Packets have the context looked up in the order in which they come. That keeps the pipe, which they pass themselves afterwards.
Time Responder::look_up_context(Qp& qp, ports::Packet& packet) {
  Time busy;
  const bool found = qp_contexts_->find(qp, busy);
  const Time at = clock_.edge(scheduler_.now()), start = busy.raw != 0 ? pipe_.book(at, busy).start : at;
  if (found) return Time();
  // One that is served at once waits for the pipe here already.
  if (!qp.serving) note(packet, ports::Step::responder_wait, ports::Cause::pipe, scheduler_.now() + at - start);
  return start + busy;
}

// What the specification decides by the packet sequence number. True: the packet is what comes next, or a READ to be carried out again.
bool Responder::in_sequence(Qp& qp, const ports::Packet& packet) {
  if (packet.request == qp.expected && packet.offset == qp.expected_offset) [[likely]] {
    qp.refused = false;
    return true;
  }
  if (!qp.connected()) return in_sequence_unreliable(qp, packet);
  if (packet.skipped != 0 && packet.request - packet.skipped == qp.expected && packet.offset == 0 && qp.expected_offset == 0) {
    qp.expected = packet.request;
    qp.refused = false;
    return true;
  }
  const auto ahead = static_cast<std::int32_t>(packet.request - qp.expected);
  if (ahead < 0 || (ahead == 0 && packet.offset < qp.expected_offset)) {
    ++naks_.duplicates;
    if (packet.opcode == verbs::Opcode::read) return true;
    again(qp, packet);
    return false;
  }
  // Something before it is missing. Said once; what follows is dropped until the missing packet comes.
  if (!qp.refused) {
    qp.refused = true;
    ++naks_.sequence;
    ports::Packet& nak = reply_to(qp, packet, ports::Packet::Kind::negative);
    nak.request = qp.expected;
    nak.offset = qp.expected_offset;
    send_answer(qp, nak, verbs::Nak::sequence);
  }
  return false;
}

/// An unreliable connection starts anew with the first packet of any message and drops what is left of one that lost a packet.
bool Responder::in_sequence_unreliable(Qp& qp, const ports::Packet& packet) {
  if (!packet.first) return false;
  qp.expected = packet.request;
  qp.expected_offset = 0;
  return true;
}

/// A duplicate: what was carried out is not carried out again; its answer is sent again.
void Responder::again(Qp& qp, const ports::Packet& packet) {
  if (!packet.last) return;
  qp.mishap = {};  // of the message that was served last
  if (!verbs::is_atomic(packet.opcode)) return answer(qp, packet, verbs::Nak::none);
  ports::Packet& reply = reply_to(qp, packet, ports::Packet::Kind::response);
  reply.payload = Bytes(8);
  reply.wire = format_.overhead + format_.aeth + format_.atomic_ack;
  send_answer(qp, reply, verbs::Nak::none);
}

void Responder::advance(Qp& qp, const ports::Packet& packet) {
  // A READ that is carried out again changes nothing.
  if (packet.request != qp.expected) return;
  if (packet.last) ++qp.expected;
  qp.expected_offset = packet.last ? 0 : packet.offset + packet.payload.raw;
}

Time Responder::take_up(ports::Packet& packet, Time asked, Time more) {
  const Time edge = clock_.edge(scheduler_.now()), start = pipe_.book(edge, params_.interval).start;
  note(packet, ports::Step::responder_wait, ports::Cause::contexts, asked);
  note(packet, ports::Step::responder_wait, ports::Cause::pipe, scheduler_.now() + edge - start);
  return start + params_.service + more;
}

ports::Packet& Responder::reply_to(const Qp& qp, const ports::Packet& request, ports::Packet::Kind kind) {
  ports::Packet& reply = packets_.take();
  reply.kind = kind;
  reply.opcode = request.opcode;
  reply.source_port = port_;
  reply.port = request.source_port;
  reply.source_qpn = qp.qpn;
  reply.qpn = request.source_qpn;
  reply.request = request.request;
  reply.length = request.length;
  reply.stamp = request.stamp;
  reply.mishap = qp.mishap;
  if (params_.measures) reply.waits = request.waits;
  return reply;
}

void Responder::answer(Qp& qp, const ports::Packet& request, verbs::Nak nak) {
  using Kind = ports::Packet::Kind;
  ports::Packet& reply = reply_to(qp, request, nak == verbs::Nak::none ? Kind::acknowledgement : Kind::negative);
  reply.offset = request.offset;
  reply.rnr_timer = qp.attributes.rnr_timer;
  send_answer(qp, reply, nak);
}

/// An answer without data follows the responses to earlier READs.
void Responder::send_answer(Qp& qp, ports::Packet& reply, verbs::Nak nak) {
  reply.nak = nak;
  if (reply.payload.raw == 0) reply.wire = format_.overhead + format_.aeth;
  if (qp.answers.empty()) network->transmit(reply);
  else scheduler_.spawn(acknowledge(qp, reply));
}

engine::Flow Responder::acknowledge(Qp& qp, ports::Packet& reply) {
  Turnstile::Ticket ticket;
  qp.answers.enter(ticket);
  const Time ready = scheduler_.now();
  co_await qp.answers.turn(ticket);
  note(reply, ports::Step::response_wire, ports::Cause::qp, ready);
  network->transmit(reply);
  qp.answers.leave(ticket);
}

}  // namespace mtsim::nic

#include "nic/responder.h"

#include <algorithm>

#include "ports/rank.h"

namespace mtsim::nic {
namespace {

// The responder's stamps, in the order of ports::Step from `wire` on.
enum Mark : unsigned { arrived, taken_up, judged, translated, moved };

}  // namespace

Responder::Responder(sc_core::sc_module_name module_name, engine::Scheduler& scheduler, Clock clock, const ResponderParams& params,
                     std::uint32_t port, ports::PacketPool& packets)
    : sc_module(module_name),
      retirement("retirement"),
      translator("translator"),
      dma("dma"),
      network("network"),
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
}

void Responder::take(Qp& qp, ports::Packet& packet) {
  packet.stamp.fill(scheduler_.now());
  qp.requests.push(packet);
  if (!qp.serving) {
    qp.serving = true;
    scheduler_.spawn(serve(qp));
  }
}

engine::Flow Responder::serve(Qp& qp) {
  while (ports::Packet* packet = qp.requests.pop()) {
    if (!qp.receives()) ++dropped_;  // a QP that is not ready answers nothing
    else if (packet->kind == ports::Packet::Kind::write) co_await write(qp, *packet);
    else co_await read(qp, *packet);
    ports::PacketPool::give(*packet);
  }
  qp.serving = false;
}

Time Responder::take_up() { return pipe_.book(clock_.edge(scheduler_.now()), params_.interval).start + params_.service; }

// The order of checks of an RC responder for a WRITE: QP access flags; nothing more for an empty message; key, PD, access and the whole
// range of the message on its first packet. Nothing is written of a message that is refused.
engine::Task<int> Responder::write(Qp& qp, ports::Packet& packet) {
  co_await contexts_.take();
  const Time begin = take_up();
  const std::uint32_t life = qp.life;
  packet.stamp[taken_up] = packet.stamp[judged] = packet.stamp[translated] = begin;
  verbs::Nak nak =
      packet.first ? verbs::check_request(verbs::Opcode::write, qp.attributes.access, qp.attributes.dest_rd_atomic) : verbs::Nak::none;
  if (nak != verbs::Nak::none || packet.payload.raw == 0) co_await engine::Until(scheduler_, clock_.edge(begin), qp.responder_order);
  ports::Query query;
  query.order = qp.responder_order;
  query.wish = {packet.rkey, qp.attributes.pd, verbs::Access::remote_write, Iova(packet.address), Bytes(packet.length)};
  for (std::uint64_t done = 0; nak == verbs::Nak::none && done < packet.payload.raw;) {
    query.address = Iova(packet.address + packet.offset + done);
    if (!translator->probe(query, std::max(begin, clock_.edge(scheduler_.now())))) co_await translator->walk(query);
    co_await engine::Until(scheduler_, query.ready, query.order);
    packet.stamp[judged] = query.judged;
    packet.stamp[translated] = query.ready;
    if (!query.ok()) {
      nak = verbs::Nak::remote_access;
      break;
    }
    const Bytes run = std::min(query.length, Bytes(packet.payload.raw - done));
    co_await ports::WriteRoom(*dma.operator->());
    dma->write(query.physical, run, nullptr);
    done += run.raw;
  }
  contexts_.give();
  packet.stamp[moved] = scheduler_.now();
  if (qp.life == life && (packet.last || nak != verbs::Nak::none)) answer(qp, packet, nak);
  co_return 0;
}

// A READ is carried out in pieces of a train each; the first carries the judgement of the whole range.
engine::Task<int> Responder::read(Qp& qp, ports::Packet& packet) {
  const std::uint32_t life = qp.life;
  ports::Query query;
  query.order = qp.responder_order;
  query.wish = {packet.rkey, qp.attributes.pd, verbs::Access::remote_read, Iova(packet.address), Bytes(packet.length)};
  std::uint64_t offset = 0;
  do {
    const std::uint64_t bytes = std::min(qp.train, packet.length - offset);
    co_await buffer_.take(Bytes(bytes));
    co_await contexts_.take();
    const Time begin = take_up();
    packet.stamp[taken_up] = packet.stamp[judged] = packet.stamp[translated] = begin;
    verbs::Nak nak =
        offset == 0 ? verbs::check_request(verbs::Opcode::read, qp.attributes.access, qp.attributes.dest_rd_atomic) : verbs::Nak::none;
    if (nak != verbs::Nak::none || bytes == 0) co_await engine::Until(scheduler_, clock_.edge(begin), qp.responder_order);
    Pa from;
    Bytes run;
    for (std::uint64_t done = 0; nak == verbs::Nak::none && done < bytes;) {
      query.address = Iova(packet.address + offset + done);
      if (!translator->probe(query, std::max(begin, clock_.edge(scheduler_.now())))) co_await translator->walk(query);
      co_await engine::Until(scheduler_, query.ready, query.order);
      packet.stamp[judged] = query.judged;
      packet.stamp[translated] = query.ready;
      if (!query.ok()) {
        nak = verbs::Nak::remote_access;
        break;
      }
      if (run.raw != 0) scheduler_.spawn(fetch(from, run, query.order));
      from = query.physical;
      run = std::min(query.length, Bytes(bytes - done));
      done += run.raw;
    }
    contexts_.give();
    if (qp.life != life || nak != verbs::Nak::none) {
      buffer_.give_at(scheduler_.now(), Bytes(bytes));
      packet.stamp[moved] = scheduler_.now();
      if (qp.life == life) answer(qp, packet, nak);
      break;
    }
    ports::Packet& reply = reply_to(qp, packet, ports::Packet::Kind::read_response);
    reply.first = offset == 0;
    reply.offset = offset;
    reply.payload = Bytes(bytes);
    offset += bytes;
    reply.last = offset == packet.length;
    reply.packets = qp.packets(bytes);
    // The first and the last packet of a response carry an AETH; a response of one packet carries one.
    const std::uint64_t aeths = reply.packets == 1 ? (reply.first || reply.last) : unsigned(reply.first) + unsigned(reply.last);
    reply.wire = Bytes(reply.packets * format_.overhead.raw + bytes + aeths * format_.aeth.raw);
    scheduler_.spawn(respond(qp, reply, from, run));
  } while (offset < packet.length);
  co_return 0;
}

engine::Flow Responder::fetch(Pa address, Bytes length, engine::Order order) {
  co_await ports::DmaRead(*dma.operator->(), address, length, ports::Agent::payload, order);
}

// Reads of one agent come back in order, so the end of the last run's read is the end of all.
engine::Flow Responder::respond(Qp& qp, ports::Packet& reply, Pa from, Bytes last_run) {
  Turnstile::Ticket ticket;
  qp.answers.enter(ticket);
  co_await ports::DmaRead(*dma.operator->(), from, last_run, ports::Agent::payload, qp.responder_order);
  reply.stamp[moved] = scheduler_.now();
  co_await qp.answers.turn(ticket);
  const Bytes bytes = reply.payload;
  buffer_.give_at(network->transmit(reply), bytes);
  qp.answers.leave(ticket);
}

ports::Packet& Responder::reply_to(const Qp& qp, const ports::Packet& request, ports::Packet::Kind kind) {
  ports::Packet& reply = packets_.take();
  reply.kind = kind;
  reply.source_port = port_;
  reply.port = request.source_port;
  reply.source_qpn = qp.qpn;
  reply.qpn = request.source_qpn;
  reply.request = request.request;
  reply.length = request.length;
  reply.stamp = request.stamp;
  return reply;
}

// An acknowledgement follows the responses to earlier READs. A refusal ends the QP, with the peer told first.
void Responder::answer(Qp& qp, const ports::Packet& request, verbs::Nak nak) {
  ports::Packet& reply =
      reply_to(qp, request, nak == verbs::Nak::none ? ports::Packet::Kind::acknowledgement : ports::Packet::Kind::negative);
  reply.nak = nak;
  reply.wire = format_.overhead + format_.aeth;
  if (qp.answers.empty()) network->transmit(reply);
  else scheduler_.spawn(acknowledge(qp, reply));
  if (nak != verbs::Nak::none) retirement->fail(qp);
}

engine::Flow Responder::acknowledge(Qp& qp, ports::Packet& reply) {
  Turnstile::Ticket ticket;
  qp.answers.enter(ticket);
  co_await qp.answers.turn(ticket);
  network->transmit(reply);
  qp.answers.leave(ticket);
}

}  // namespace mtsim::nic

// READs and atomics: requests that are answered by data.
#include <algorithm>

#include "nic/refused_lookup.h"
#include "nic/responder.h"
#include "nic/responder_marks.h"

namespace mtsim::nic {

// A READ is carried out in pieces of a train each; the first carries the judgement of the whole range.
engine::Task<int> Responder::read(Qp& qp, ports::Packet& packet) {
  const std::uint32_t life = qp.life;
  ports::Query query;
  query.order = qp.responder_order;
  query.qpn = qp.qpn;
  query.packet = &packet;
  query.waits = noted(packet);
  query.wait_step = ports::Step::responder_translation;
  query.wish = {
      packet.rkey, qp.attributes.pd, params_.rules->needed_of_region(packet.opcode), Iova(packet.address), Bytes(packet.length), true,
      qp.qpn};
  advance(qp, packet);
  qp.mishap = {};
  std::uint64_t offset = 0;
  do {
    const std::uint64_t bytes = std::min(qp.train, packet.length - offset);
    if (offset != 0) {
      packet.waits.drop_from(ports::Step::responder_wait);
      note(packet, ports::Step::responder_wait, ports::Cause::qp, packet.stamp[arrived]);
    }
    const Time taken = scheduler_.now();
    qp.serves = "waits for room in the responder's buffer";
    co_await buffer_.take(Bytes(bytes));
    note(packet, ports::Step::responder_wait, ports::Cause::buffer, taken);
    const Time asked = scheduler_.now();
    qp.serves = "waits for a responder context";
    co_await contexts_.take();
    qp.serves = "is looked up";
    const Time begin = take_up(packet, asked, params_.read_service);
    packet.stamp[taken_up] = packet.stamp[judged] = packet.stamp[translated] = begin;
    verbs::Check failed =
        offset == 0 ? verbs::check_request(verbs::Opcode::read, qp.attributes.access, qp.attributes.dest_rd_atomic) : verbs::Check::none;
    if (failed != verbs::Check::none || bytes == 0) co_await engine::Until(scheduler_, clock_.edge(begin), qp.responder_order);
    Pa from;
    Bytes run;
    ReadJoin* others = nullptr;  // runs before the last, if there are any
    for (std::uint64_t done = 0; failed == verbs::Check::none && done < bytes;) {
      query.address = Iova(packet.address + offset + done);
      if (!translator->probe(query, std::max(begin, clock_.edge(scheduler_.now())))) co_await translator->walk(query);
      co_await engine::Until(scheduler_, query.ready, query.order);
      packet.stamp[judged] = query.judged;
      packet.stamp[translated] = query.ready;
      if (!query.ok()) [[unlikely]] {
        failed = verbs::Check::key;
        explain_refusal(qp, packet, failed, &query);
        break;
      }
      if (run.raw != 0) {
        if (others == nullptr) others = &joins_.take();
        scheduler_.spawn(fetch(from, run, query.order, *others));
      }
      from = query.physical;
      run = std::min(query.length, Bytes(bytes - done));
      if (watch_ != nullptr) [[unlikely]]
        watch_->read(query, run, qp.mishap);
      done += run.raw;
    }
    contexts_.give();
    if (qp.life != life || failed != verbs::Check::none) {
      if (others != nullptr) others->forsake(joins_);
      buffer_.give_at(scheduler_.now(), Bytes(bytes));
      packet.stamp[moved] = scheduler_.now();
      if (qp.life == life) refuse(qp, packet, failed);
      break;
    }
    ports::Packet& reply = reply_to(qp, packet, ports::Packet::Kind::response);
    reply.first = offset == 0;
    reply.offset = offset;
    reply.payload = Bytes(bytes);
    offset += bytes;
    reply.last = offset == packet.length;
    reply.packets = qp.packets(bytes);
    // The first and the last packet of a response carry an AETH; a response of one packet carries one.
    const std::uint64_t aeths = reply.packets == 1 ? (reply.first || reply.last) : unsigned(reply.first) + unsigned(reply.last);
    reply.wire = Bytes(reply.packets * format_.overhead.raw + bytes + aeths * format_.aeth.raw);
    scheduler_.spawn(respond(qp, reply, from, run, others));
  } while (offset < packet.length);
  co_return 0;
}

engine::Flow Responder::fetch(Pa address, Bytes length, engine::Order order, ReadJoin& join) {
  join.begin();
  co_await ports::DmaRead(*dma.operator->(), address, length, ports::Agent::payload, order);
  join.end();
}

engine::Flow Responder::respond(Qp& qp, ports::Packet& reply, Pa from, Bytes last_run, ReadJoin* others) {
  Turnstile::Ticket ticket;
  qp.answers.enter(ticket);
  co_await ports::DmaRead(*dma.operator->(), from, last_run, ports::Agent::payload, qp.responder_order, noted(reply),
                          ports::Step::responder_dma);
  if (others != nullptr) {
    co_await *others;
    joins_.give(*others);
  }
  reply.stamp[moved] = scheduler_.now();
  co_await qp.answers.turn(ticket);
  note(reply, ports::Step::response_wire, ports::Cause::qp, reply.stamp[moved]);
  const Bytes bytes = reply.payload;
  buffer_.give_at(network->transmit(reply), bytes);
  qp.answers.leave(ticket);
}

/// An atomic: the key for the whole word, then its alignment; the word is read, and written back under a lock of its own.
engine::Task<int> Responder::atomic(Qp& qp, ports::Packet& packet) {
  const std::uint32_t life = qp.life;
  const Time asked = scheduler_.now();
  qp.serves = "waits for a responder context";
  co_await contexts_.take();
  qp.serves = "is looked up";
  const Time begin = take_up(packet, asked, params_.read_service);
  packet.stamp[taken_up] = packet.stamp[judged] = packet.stamp[translated] = begin;
  advance(qp, packet);
  verbs::Check failed = verbs::check_request(packet.opcode, qp.attributes.access, qp.attributes.dest_rd_atomic);
  ports::Query query;
  query.order = qp.responder_order;
  query.qpn = qp.qpn;
  query.packet = &packet;
  query.waits = noted(packet);
  query.wait_step = ports::Step::responder_translation;
  query.wish = {packet.rkey, qp.attributes.pd, verbs::Access::remote_atomic, Iova(packet.address), Bytes(8), true, qp.qpn};
  query.address = Iova(packet.address);
  if (failed == verbs::Check::none) {
    if (!translator->probe(query, begin)) co_await translator->walk(query);
    co_await engine::Until(scheduler_, query.ready, query.order);
    packet.stamp[judged] = query.judged;
    packet.stamp[translated] = query.ready;
    if (!query.ok()) {
      failed = verbs::Check::key;
      explain_refusal(qp, packet, failed, &query);
    } else if (packet.address % 8 != 0) {
      failed = verbs::Check::alignment;
    }
  } else {
    co_await engine::Until(scheduler_, clock_.edge(begin), qp.responder_order);
  }
  contexts_.give();
  if (qp.life != life) co_return 0;
  if (failed != verbs::Check::none) {
    packet.stamp[moved] = scheduler_.now();
    refuse(qp, packet, failed);
    co_return 0;
  }
  qp.mishap = {};
  if (watch_ != nullptr) [[unlikely]]
    watch_->write(query, Bytes(8), qp.mishap);
  ports::Packet& reply = reply_to(qp, packet, ports::Packet::Kind::response);
  reply.payload = Bytes(8);
  reply.wire = format_.overhead + format_.aeth + format_.atomic_ack;
  scheduler_.spawn(modify(qp, reply, query.physical));
  co_return 0;
}

engine::Flow Responder::modify(Qp& qp, ports::Packet& reply, Pa word) {
  Turnstile::Ticket ticket;
  qp.answers.enter(ticket);
  engine::Semaphore& lock = *locks_[word.raw / 8 % locks_.size()];
  const Time asked = scheduler_.now();
  co_await lock.take();
  note(reply, ports::Step::responder_dma, ports::Cause::lock, asked);
  co_await ports::DmaRead(*dma.operator->(), word, Bytes(8), ports::Agent::payload, qp.responder_order, noted(reply),
                          ports::Step::responder_dma);
  const Time read_at = scheduler_.now();
  const ports::Cause full = co_await ports::WriteRoom(*dma.operator->());
  note(reply, ports::Step::responder_dma, full, read_at);
  dma->write(word, Bytes(8), nullptr);
  lock.give();
  reply.stamp[moved] = scheduler_.now();
  co_await qp.answers.turn(ticket);
  note(reply, ports::Step::response_wire, ports::Cause::qp, reply.stamp[moved]);
  network->transmit(reply);
  qp.answers.leave(ticket);
}

}  // namespace mtsim::nic

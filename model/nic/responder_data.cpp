// SENDs and WRITEs: requests that bring data.
#include <algorithm>

#include "nic/refused_lookup.h"
#include "nic/responder.h"
#include "nic/responder_marks.h"
#include "nic/scatter.h"

namespace mtsim::nic {

// The order of checks of an RC responder: QP access flags; a receive for a SEND or for the immediate of a WRITE; then for a WRITE its key,
// PD, access and the whole range of the message on its first packet, nothing if it is empty; for a SEND the room and the elements of the
// receive, as the data needs them; for a SEND with invalidation its key, once the data is in place. Nothing is written of a WRITE that is
// refused.
engine::Task<int> Responder::data(Qp& qp, ports::Packet& packet) {
  const Time asked = scheduler_.now();
  qp.serves = "waits for a responder context";
  co_await contexts_.take();
  qp.serves = "is looked up";
  const Time begin = take_up(packet, asked);
  const std::uint32_t life = qp.life;
  const bool sends = verbs::is_send(packet.opcode);
  packet.stamp[taken_up] = packet.stamp[judged] = packet.stamp[translated] = begin;
  if (packet.first) qp.mishap = {};
  verbs::Check failed =
      packet.first ? verbs::check_request(packet.opcode, qp.attributes.access, qp.attributes.dest_rd_atomic) : verbs::Check::none;
  // Of an unreliable connection the receive of a message that lost a packet serves the next.
  const bool needs_receive = verbs::takes_receive(packet.opcode) && (sends ? packet.first : packet.last) && !qp.receive;
  if (needs_receive && failed == verbs::Check::none) {
    if (!qp.receive_queue->has()) {
      co_await engine::Until(scheduler_, begin, qp.responder_order);
      const Time since = scheduler_.now();
      qp.serves = "waits for a receive to be fetched";
      co_await qp.receive_queue->wait();
      qp.serves = "is looked up";
      note(packet, packet.payload.raw == 0 ? ports::Step::responder_dma : ports::Step::responder_translation, ports::Cause::receive, since);
      if (qp.life != life) {
        contexts_.give();
        co_return 0;
      }
    }
    if (qp.receive_queue->has()) qp.receive = qp.receive_queue->pop();
    else failed = verbs::Check::no_receive;
  }
  if (sends && packet.first && qp.receive) qp.attributes.receives->at(*qp.receive).begin = packet.stamp[arrived];
  if (failed != verbs::Check::none || packet.payload.raw == 0) {
    co_await engine::Until(scheduler_, clock_.edge(std::max(begin, scheduler_.now())), qp.responder_order);
  } else if (sends) {
    failed = co_await place_send(qp, packet, begin);
  } else {
    ports::Query query;
    query.order = qp.responder_order;
    query.qpn = qp.qpn;
    query.packet = &packet;
    query.waits = noted(packet);
    query.wait_step = ports::Step::responder_translation;
    query.wish = {packet.rkey, qp.attributes.pd, verbs::Access::remote_write, Iova(packet.address), Bytes(packet.length), true, qp.qpn};
    for (std::uint64_t done = 0; done < packet.payload.raw;) {
      query.address = Iova(packet.address + packet.offset + done);
      if (!translator->probe(query, std::max(begin, clock_.edge(scheduler_.now())))) co_await translator->walk(query);
      co_await engine::Until(scheduler_, query.ready, query.order);
      packet.stamp[judged] = query.judged;
      packet.stamp[translated] = query.ready;
      if (!query.ok()) [[unlikely]] {
        failed = verbs::Check::key;
        explain_refusal(qp, packet, failed, &query);
        break;
      }
      const Bytes run = std::min(query.length, Bytes(packet.payload.raw - done));
      const Time translated_at = scheduler_.now();
      qp.serves = "waits for room in the write buffer";
      const ports::Cause full = co_await ports::WriteRoom(*dma.operator->());
      qp.serves = "is looked up";
      if (watch_ != nullptr) [[unlikely]]
        watch_->write(query, run, qp.mishap);
      dma->write(query.physical, run, nullptr, {ports::Purpose::payload, query.relaxed});
      done += run.raw;
      // What is not the last of the packet is part of the way to its last look-up.
      note(packet, done == packet.payload.raw ? ports::Step::responder_dma : ports::Step::responder_translation, full, translated_at);
    }
  }
  if (packet.opcode == verbs::Opcode::send_inv && packet.last && failed == verbs::Check::none) [[unlikely]]
    failed = co_await invalidate(qp, packet);
  contexts_.give();
  packet.stamp[moved] = scheduler_.now();
  if (qp.life != life) co_return 0;
  if (failed == verbs::Check::none && packet.last && qp.receive && !qp.attributes.recv_cq->has_room()) [[unlikely]]
    failed = verbs::Check::cq_overflow;
  if (failed == verbs::Check::none) accepted(qp, packet);
  else refuse(qp, packet, failed);
  co_return 0;
}

engine::Task<verbs::Check> Responder::invalidate(Qp& qp, ports::Packet& packet) {
  const std::uint32_t life = qp.life;
  verbs::Decision decision;
  decision.invalidate = co_await windows->invalidate(qp, packet.rkey, qp.responder_order);
  if (qp.life != life) co_return verbs::Check::none;
  if (decision.invalidate == verbs::InvalidateCheck::none) {
    if (qp.receive) ports::note_invalidated(qp.attributes.receives->at(*qp.receive), packet.rkey);
    co_return verbs::Check::none;
  }
  decision.check = verbs::Check::invalidation;
  decision.opcode = packet.opcode;
  decision.wish.key = packet.rkey;
  retirement->refused(qp, decision);
  co_return verbs::Check::invalidation;
}

void Responder::explain_refusal(Qp& qp, const ports::Packet& packet, verbs::Check check, const ports::Query* query) {
  verbs::Decision decision;
  if (query != nullptr) decision = decision_on(*query, packet.opcode, 0);
  decision.opcode = packet.opcode;
  decision.check = check;
  retirement->refused(qp, decision);
}

engine::Task<verbs::Check> Responder::place_send(Qp& qp, ports::Packet& packet, Time begin) {
  const std::uint32_t life = qp.life;
  const ports::Wqe& wqe = qp.attributes.receives->at(*qp.receive);
  std::uint64_t bytes = packet.payload.raw;
  const bool too_short = packet.offset + bytes > wqe.length;
  // The packets before the one that does not fit have been placed when that comes.
  if (too_short) [[unlikely]] {
    const std::uint64_t room = wqe.length - std::min(wqe.length, packet.offset);
    bytes = params_.rules->responder.places_what_fits ? round_down(room, qp.attributes.mtu.raw) : 0;
    if (bytes == 0) co_await engine::Until(scheduler_, clock_.edge(std::max(begin, scheduler_.now())), qp.responder_order);
  }
  ports::Query query;
  query.order = qp.responder_order;
  query.qpn = qp.qpn;
  query.wqe = &wqe;
  query.waits = noted(packet);
  query.wait_step = ports::Step::responder_translation;
  query.judged = query.ready = begin;
  const Scatter units{scheduler_, clock_, *translator.operator->(), *dma.operator->(), watch_, qp.mishap};
  const std::span<const verbs::Sge> sges(wqe.sges, wqe.sge_count);
  const bool placed = co_await scatter(units, qp, qp.attributes.receive_pd, sges, packet.offset, bytes, begin, query);
  packet.stamp[judged] = query.judged;
  packet.stamp[translated] = query.ready;
  if (qp.life != life) co_return verbs::Check::none;
  if (!placed) {
    verbs::Decision decision = decision_on(query, packet.opcode, wqe.wr);
    decision.check = verbs::Check::receive_key;
    retirement->refused(qp, decision);
    co_return verbs::Check::receive_key;
  }
  co_return too_short ? verbs::Check::receive_too_short : verbs::Check::none;
}

void Responder::accepted(Qp& qp, const ports::Packet& packet) {
  advance(qp, packet);
  if (!packet.last) return;
  // A receive that a lost message of an unreliable connection left waits for the next message that takes one.
  if (qp.receive && verbs::takes_receive(packet.opcode)) {
    ports::Wqe& wqe = qp.attributes.receives->at(*qp.receive);
    if (packet.opcode == verbs::Opcode::write_imm) wqe.begin = packet.stamp[arrived];
    end_receive(qp, packet, verbs::Status::SUCCESS);
  }
  if (qp.connected()) answer(qp, packet, verbs::Nak::none);
}

void Responder::end_receive(Qp& qp, const ports::Packet& packet, verbs::Status status) {
  ports::Wqe& wqe = qp.attributes.receives->at(*qp.receive);
  std::copy(packet.stamp.begin(), packet.stamp.end(), wqe.stamp.begin() + unsigned(ports::Step::wire));
  wqe.mishap = qp.mishap;
  // A receive's life begins at the responder.
  for (const ports::Waits::Entry wait : packet.waits)
    if (wait.step() >= ports::Step::responder_wait) wqe.waits.add(wait.step(), wait.cause(), Time(wait.span));
  // The library is told how much came, by a WRITE with immediate too.
  retirement->received(qp, status, packet.offset + packet.payload.raw);
}

// A receiver that is not ready asks to be tried again. Any other refusal ends the QP, with the peer told first; on an unreliable connection
// nobody is told, and only an error of the receive itself ends it.
void Responder::refuse(Qp& qp, const ports::Packet& packet, verbs::Check check) {
  const verbs::Refusal& refusal = params_.rules->responder.refusal(check);
  if (refusal.nak == verbs::Nak::receiver_not_ready) {
    ++naks_.rnr;
    qp.refused = true;
    if (qp.connected()) answer(qp, packet, refusal.nak);
    else
      qp.waits_for_end =
          qp.packets(packet.length) > 1 && packet.opcode == verbs::Opcode::write_imm && params_.rules->responder.waits_for_end;
    return;
  }
  using enum verbs::Check;
  if (check != key && check != receive_key && check != invalidation) explain_refusal(qp, packet, check, nullptr);
  // The message has come as far as its requester is concerned.
  if (check == invalidation) advance(qp, packet);
  if (qp.connected() && check != cq_overflow) answer(qp, packet, refusal.nak);
  // Of several packets, which may have come as one train, the first is refused before any has taken a receive.
  const bool early = check == key && packet.first && qp.packets(packet.length) > 1;
  const bool of_receive = qp.receive && refusal.receive != verbs::Status::SUCCESS && !early;
  if (!qp.connected() && check == key && of_receive && qp.attributes.shared_receives && params_.rules->responder.uses_up_shared)
    return end_receive(qp, packet, verbs::Status::REM_ACCESS_ERR);
  if (!qp.connected() && !(of_receive && check != key) && check != cq_overflow) return;
  if (of_receive) end_receive(qp, packet, refusal.receive);
  else retirement->report(qp, refusal.event);
  retirement->fail(qp);
}

}  // namespace mtsim::nic

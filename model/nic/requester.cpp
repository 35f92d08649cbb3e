#include "nic/requester.h"

#include <algorithm>
#include <utility>

#include "nic/refused_lookup.h"
#include "nic/requester_marks.h"
#include "ports/rank.h"

namespace mtsim::nic {

using ports::Step;

/// Waits until the scheduler has a QP to hand out.
class Requester::Work {
 public:
  explicit Work(WorkSource& source) : source_(source) {}
  bool await_ready() const { return source_.has_work(); }
  void await_suspend(std::coroutine_handle<> waiter) { source_.wait(waiter); }
  void await_resume() const {}

 private:
  WorkSource& source_;
};

Requester::Requester(sc_core::sc_module_name module_name, engine::Scheduler& scheduler, Clock clock, const RequesterParams& params,
                     std::uint32_t port, ports::PacketPool& packets)
    : sc_module(module_name),
      work("work"),
      retirement("retirement"),
      translator("translator"),
      dma("dma"),
      network("network"),
      windows("windows"),
      qp_contexts("qp_contexts"),
      request_contexts("request_contexts"),
      watch("watch"),
      scheduler_(scheduler),
      clock_(clock),
      params_(params),
      port_(port),
      packets_(packets),
      contexts_(scheduler, params.contexts),
      buffer_(scheduler, params.buffer, ports::order(port, ports::Unit::requester)) {}

void Requester::end_of_elaboration() {
  format_ = network->format();
  if (qp_contexts.size() != 0) qp_contexts_ = qp_contexts.operator->();
  if (request_contexts.size() != 0) request_contexts_ = request_contexts.operator->();
  longest_ = std::min(params_.rules->requester.longest, params_.rules->requester.longest_element);
  done_when_sent_ = params_.rules->requester.done_when_sent;
  looks_up_ = qp_contexts_ != nullptr || request_contexts_ != nullptr;
  if (watch.size() != 0) watch_ = watch.operator->();
}

engine::Flow Requester::run() {
  for (;;) {
    co_await Work(*work.operator->());
    const bool stalls = contexts_.in_use() == contexts_.places();
    if (stalls) work->stalled(true);
    co_await contexts_.take();
    if (stalls) work->stalled(false);
    co_await engine::Until(scheduler_, clock_.edge(std::max(scheduler_.now(), pipe_.free_at())),
                           ports::order(port_, ports::Unit::requester));
    Qp* qp = work->take();
    if (qp == nullptr) {
      contexts_.give();
      continue;
    }
    Time busy;
    if (looks_up_ && !contexts_at_hand(*qp, busy)) [[unlikely]] {
      contexts_.give();
      continue;
    }
    pipe_.book(scheduler_.now(), params_.interval + busy);
    ++pieces_;
    if (verbs::is_local(qp->wqe(qp->next).opcode)) [[unlikely]] {
      scheduler_.spawn(change_window(*qp));
      continue;
    }
    Piece piece = cut(*qp);
    piece.busy = busy;
    scheduler_.spawn(send(*qp, piece));
    if (qp->preparing < params_.qp_pieces) work->wake(*qp);
  }
}

// Pieces begin at multiples of the train length, which is a multiple of the path MTU, so that packets come out as the specification cuts
// them. The request of a READ or an atomic is one packet whatever it asks for.
Requester::Piece Requester::cut(Qp& qp) {
  const ports::Wqe& wqe = qp.wqe(qp.next);
  Piece piece{qp.next, qp.offset, 0, qp.offset == 0, true, {}};
  if (!verbs::is_read_or_atomic(wqe.opcode)) {
    piece.bytes = static_cast<std::uint32_t>(std::min(qp.train, wqe.length - qp.offset));
    piece.last = qp.offset + piece.bytes == wqe.length;
  } else {
    ++qp.reads;
    qp.request(piece.request).reading = true;
  }
  if (piece.request == qp.retired) qp.progress = scheduler_.now();
  ++qp.preparing;
  if (piece.last) {
    qp.offset = 0;
    ++qp.next;
  } else {
    qp.offset += piece.bytes;
  }
  return piece;
}

/// Extended headers of a request's packets, beyond the base header of each.
std::uint64_t Requester::headers(verbs::Opcode opcode, const Piece& piece) const {
  if (opcode == verbs::Opcode::write) return piece.first ? format_.reth.raw : 0;
  std::uint64_t bytes = 0;
  if (verbs::is_atomic(opcode)) bytes += format_.atomic_eth.raw;
  else if (piece.first && !verbs::is_send(opcode)) bytes += format_.reth.raw;
  if (piece.last && (opcode == verbs::Opcode::write_imm || opcode == verbs::Opcode::send_imm)) bytes += format_.immediate.raw;
  return bytes;
}

ports::Packet& Requester::packet_for(Qp& qp, const ports::Wqe& wqe, const Piece& piece) {
  ports::Packet& packet = packets_.take();
  packet.kind = ports::Packet::Kind::request;
  packet.opcode = wqe.opcode;
  packet.first = piece.first;
  packet.last = piece.last;
  packet.source_port = port_;
  packet.port = qp.peer_port;
  packet.source_qpn = qp.qpn;
  packet.qpn = qp.peer_qpn;
  packet.request = piece.request;
  packet.packets = qp.packets(piece.bytes);
  packet.skipped = piece.first ? qp.request(piece.request).skipped : 0;
  packet.payload = Bytes(piece.bytes);
  packet.wire = Bytes(packet.packets * format_.overhead.raw + piece.bytes + headers(wqe.opcode, piece));
  packet.address = wqe.remote_address;
  packet.offset = piece.offset;
  packet.length = wqe.length;
  packet.rkey = wqe.rkey;
  packet.meant = wqe.meant;
  return packet;
}

/// What the device refuses of a request before it looks at its data: an opcode that the QP's transport does not have, READs and atomics
/// where none may be outstanding, messages that are too long.
verbs::Status Requester::unfit(Qp& qp, const ports::Wqe& wqe) {
  const bool may_be_out = !verbs::is_read_or_atomic(wqe.opcode) || qp.attributes.rd_atomic != 0;
  if (qp.opcodes.has(wqe.opcode) && may_be_out && wqe.length <= longest_) [[likely]]
    return verbs::Status::SUCCESS;
  return refuse_unfit(qp, wqe);
}

engine::Flow Requester::fetch(Pa address, Bytes length, engine::Order order, ReadJoin& join) {
  join.begin();
  co_await ports::DmaRead(*dma.operator->(), address, length, ports::Agent::payload, order);
  join.end();
}

/// The piece has just been taken up. What stood before it, one after the other: earlier pieces of its QP, the look-up of the last of them,
/// what holds the QP, then the turns of other QPs, in part for want of a context. A turn that only had contexts fetched is followed by
/// another.
void Requester::note_schedule(Qp& qp, const ports::Wqe& wqe, bool repeated, ports::Waits& waits) const {
  const Time now = scheduler_.now();
  Time at = wqe.stamp[unsigned(Step::wqe_fetch)];
  if (repeated) return waits.add(Step::retry, ports::Cause::retry, now - at);
  const auto pass = [&](ports::Cause cause, Time until) {
    if (until <= at) return;
    waits.add(Step::schedule, cause, until - at);
    at = until;
  };
  const auto turn = [&](Time listed, Time stalled, Time had) {
    pass(ports::Cause::qp_lookup, std::min(qp.turns.prepared, listed));
    pass(ports::Cause::credits, listed);
    pass(ports::Cause::contexts, std::min(at + stalled, had));
    // Up to the next edge it would wait by itself.
    at = std::max(at, std::min(clock_.edge(at), had));
    pass(ports::Cause::pipe, had);
  };
  pass(ports::Cause::qp, qp.turns.taken);
  if (looks_up_ && qp.turns.brought > at) [[unlikely]] {
    turn(qp.turns.before_listed, qp.turns.before_stalled, qp.turns.missed);
    at = std::max(at, qp.turns.asked);
    pass(ports::Cause::context_fetch, qp.turns.brought);
  }
  turn(qp.turns.listed, qp.turns.stalled, now);
}

// The life of one piece, from taking up to the wire.
engine::Flow Requester::send(Qp& qp, Piece piece) {
  // Of a request in pieces the last one's waits count.
  ports::Waits waits;
  ports::Waits* const noted = params_.measures && piece.last ? &waits : nullptr;
  const Time taken = scheduler_.now();
  const std::uint32_t attempt = qp.attempt;
  const engine::Order order = qp.requester_order;
  ports::Wqe& wqe = qp.wqe(piece.request);
  const bool repeated = qp.request(piece.request).repeated;
  if (noted != nullptr) note_schedule(qp, wqe, repeated, waits);
  qp.turns.taken = taken;
  Turnstile::Ticket ticket;
  qp.sends.enter(ticket);
  // Gather: SGEs of the list in order, each judged when a packet needs it; inline data came with the WQE and no key is checked.
  const std::uint32_t bytes = piece.bytes;
  const bool gathers = bytes != 0 && !verbs::has(wqe.flags, verbs::Send::inline_data);
  qp.prepares = "waits for room in the requester's buffer";
  if (gathers) co_await buffer_.take(Bytes(bytes));
  qp.prepares = "is looked up";
  if (noted != nullptr) waits.add(repeated ? Step::retry : Step::schedule, ports::Cause::buffer, scheduler_.now() - taken);
  if (qp.still(attempt)) {
    stamp(wqe, Step::schedule) = scheduler_.now();
    if (repeated) stamp(wqe, Step::retry) = scheduler_.now();
  }
  const Time begin = clock_.edge(scheduler_.now() + piece.busy + params_.service);
  verbs::Status status = unfit(qp, wqe);
  verbs::Status failed = verbs::Status::SUCCESS;  // of what comes after the packets that leave
  ports::Query query;
  query.order = order;
  query.qpn = qp.qpn;
  query.wqe = &wqe;
  query.waits = noted;
  query.judged = query.ready = begin;
  Pa from;
  Bytes run;
  ReadJoin others;  // runs before the last
  if (gathers) {
    std::uint64_t skip = piece.offset, left = piece.bytes;
    // An element is judged packet by packet; here, by what a train of them needs of it.
    for (std::uint32_t i = 0; i < wqe.sge_count && left != 0 && status == verbs::Status::SUCCESS && qp.still(attempt); ++i) {
      const verbs::Sge sge = wqe.sges[i];
      if (skip >= sge.length) {
        skip -= sge.length;
        continue;
      }
      while (skip < sge.length && left != 0) {
        query.address = Iova(sge.address + skip);
        query.wish = {sge.lkey, qp.attributes.pd, verbs::Access::none, query.address,
                      Bytes(std::min<std::uint64_t>(left, sge.length - skip))};
        if (!translator->probe(query, std::max(begin, clock_.edge(scheduler_.now())))) co_await translator->walk(query);
        co_await engine::Until(scheduler_, query.ready, order);
        if (!query.ok()) [[unlikely]] {
          const verbs::Status refused = params_.rules->gather_status(query.verdict);
          const std::uint64_t gathered = piece.bytes - left, whole = whole_packets(query, gathered, qp.attributes.mtu);
          explain_refusal(qp, wqe, query);
          if (whole == 0 || failed != verbs::Status::SUCCESS) {
            status = refused;
            break;
          }
          failed = refused;
          piece.bytes = static_cast<std::uint32_t>(whole);
          piece.last = false;
          left = whole > gathered ? whole - gathered : 0;
          continue;
        }
        if (run.raw != 0) scheduler_.spawn(fetch(from, run, order, others));
        from = query.physical;
        run = std::min(query.length, Bytes(std::min<std::uint64_t>(left, sge.length - skip)));
        if (watch_ != nullptr && qp.still(attempt)) [[unlikely]]
          watch_->read(query, run, wqe.mishap);
        skip += run.raw;
        left -= run.raw;
      }
      skip = 0;
    }
  } else {
    co_await engine::Until(scheduler_, begin, order);
  }
  ports::DmaRead payload(*dma.operator->(), from, status == verbs::Status::SUCCESS ? run : Bytes{}, ports::Agent::payload, order, noted);
  payload.start();
  if (qp.still(attempt)) {
    stamp(wqe, Step::key_check) = query.judged;
    stamp(wqe, Step::translation) = std::max(query.ready, scheduler_.now());
    if (status != verbs::Status::SUCCESS || failed != verbs::Status::SUCCESS) qp.halted = true;
  }
  qp.turns.prepared = scheduler_.now();
  contexts_.give();
  --qp.preparing;
  work->wake(qp);

  co_await payload;
  co_await others;
  const Time in_nic = scheduler_.now();
  co_await qp.sends.turn(ticket);
  Time sent = scheduler_.now();
  if (noted != nullptr) waits.add(Step::wire, ports::Cause::qp, sent - in_nic);
  const bool leaves = status == verbs::Status::SUCCESS && !qp.stopped;
  if (qp.still(attempt) && !qp.stopped) [[likely]] {
    stamp(wqe, Step::dma) = in_nic;
    if (status != verbs::Status::SUCCESS) {
      qp.stopped = true;
      keep(wqe, waits);
      retirement->answered(qp, piece.request, status);
    } else {
      ports::Packet& packet = packet_for(qp, wqe, piece);
      packet.waits = waits;
      sent = network->transmit(packet);
      if (failed != verbs::Status::SUCCESS) [[unlikely]] {
        qp.stopped = true;
        keep(wqe, waits);
        retirement->answered(qp, piece.request, failed);
      }
      if (noted != nullptr && !qp.connected()) waits.add(Step::wire, ports::Cause::wire_out, packet.waited_out);
    }
  }
  if (gathers) buffer_.give_at(sent, Bytes(bytes));
  qp.sends.leave(ticket);
  if (qp.connected() && !(done_when_sent_ && piece.last && !verbs::is_read_or_atomic(wqe.opcode))) [[likely]] {
    if (!qp.still(attempt)) co_return;
    if (piece.request == qp.retired) qp.progress = sent;
    if (qp.ack.watched == 0) [[unlikely]]
      await_answer(qp, sent);
  } else if (piece.last && leaves) {
    // An unreliable connection's request is over once it has left, and over iWARP any that asks for no data.
    co_await engine::Until(scheduler_, sent, order);
    if (!qp.still(attempt)) co_return;
    stamp(wqe, Step::wire) = sent;
    keep(wqe, waits);
    retirement->answered(qp, piece.request, verbs::Status::SUCCESS);
  }
}

}  // namespace mtsim::nic

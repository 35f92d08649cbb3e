#include "nic/requester.h"

#include <algorithm>

#include "ports/rank.h"

namespace mtsim::nic {
namespace {

using ports::Step;

Time& stamp(ports::Wqe& wqe, Step step) { return wqe.stamp[unsigned(step)]; }

}  // namespace

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
      scheduler_(scheduler),
      clock_(clock),
      params_(params),
      port_(port),
      packets_(packets),
      contexts_(scheduler, params.contexts),
      buffer_(scheduler, params.buffer, ports::order(port, ports::Unit::requester)) {}

engine::Flow Requester::run() {
  for (;;) {
    co_await Work(*work.operator->());
    co_await contexts_.take();
    co_await engine::Until(scheduler_, clock_.edge(std::max(scheduler_.now(), pipe_.free_at())),
                           ports::order(port_, ports::Unit::requester));
    Qp* qp = work->take();
    if (qp == nullptr) {
      contexts_.give();
      continue;
    }
    pipe_.book(scheduler_.now(), params_.interval);
    ++pieces_;
    scheduler_.spawn(send(*qp, cut(*qp)));
  }
}

// Pieces begin at multiples of the train length, which is a multiple of the path MTU, so that packets come out as the specification cuts
// them. A READ's request is one packet whatever it asks for.
Requester::Piece Requester::cut(Qp& qp) {
  const ports::Wqe& wqe = qp.wqe(qp.next);
  Piece piece{qp.next, qp.offset, 0, qp.offset == 0, true};
  if (wqe.opcode != verbs::Opcode::read) {
    piece.bytes = static_cast<std::uint32_t>(std::min(qp.train, wqe.length - qp.offset));
    piece.last = qp.offset + piece.bytes == wqe.length;
  } else {
    ++qp.reads;
  }
  qp.preparing = true;
  if (piece.last) {
    qp.offset = 0;
    ++qp.next;
  } else {
    qp.offset += piece.bytes;
  }
  return piece;
}

ports::Packet& Requester::packet_for(Qp& qp, const ports::Wqe& wqe, const Piece& piece) {
  ports::Packet& packet = packets_.take();
  packet.kind = wqe.opcode == verbs::Opcode::read ? ports::Packet::Kind::read_request : ports::Packet::Kind::write;
  packet.first = piece.first;
  packet.last = piece.last;
  packet.source_port = port_;
  packet.port = qp.peer_port;
  packet.source_qpn = qp.qpn;
  packet.qpn = qp.peer_qpn;
  packet.request = piece.request;
  packet.packets = qp.packets(piece.bytes);
  packet.payload = Bytes(piece.bytes);
  packet.wire = Bytes(packet.packets * format_.overhead.raw + piece.bytes + (piece.first ? format_.reth.raw : 0));
  packet.address = wqe.remote_address;
  packet.offset = piece.offset;
  packet.length = wqe.length;
  packet.rkey = wqe.rkey;
  return packet;
}

engine::Flow Requester::fetch(Pa address, Bytes length, engine::Order order) {
  co_await ports::DmaRead(*dma.operator->(), address, length, ports::Agent::payload, order);
}

// The life of one piece, from taking up to the wire.
engine::Flow Requester::send(Qp& qp, Piece piece) {
  const std::uint32_t life = qp.life;
  const engine::Order order = qp.requester_order;
  ports::Wqe& wqe = qp.wqe(piece.request);
  Turnstile::Ticket ticket;
  qp.sends.enter(ticket);
  // Gather: SGEs of the list in order, each judged when a packet needs it; inline data came with the WQE and no key is checked.
  const bool gathers = piece.bytes != 0 && wqe.opcode != verbs::Opcode::read && !verbs::has(wqe.flags, verbs::Send::inline_data);
  if (gathers) co_await buffer_.take(Bytes(piece.bytes));
  if (qp.sends_in(life)) stamp(wqe, Step::schedule) = scheduler_.now();
  const Time begin = clock_.edge(scheduler_.now() + params_.service);
  verbs::Status status =
      wqe.opcode == verbs::Opcode::read && qp.attributes.rd_atomic == 0 ? verbs::Status::LOC_QP_OP_ERR : verbs::Status::SUCCESS;
  ports::Query query;
  query.order = order;
  query.judged = query.ready = begin;
  Pa from;
  Bytes run;
  if (gathers) {
    std::uint64_t skip = piece.offset, left = piece.bytes;
    for (std::uint32_t i = 0; i < wqe.sge_count && left != 0 && status == verbs::Status::SUCCESS && qp.sends_in(life); ++i) {
      const verbs::Sge sge = wqe.sges[i];
      if (skip >= sge.length) {
        skip -= sge.length;
        continue;
      }
      while (skip < sge.length && left != 0) {
        query.wish = {sge.lkey, qp.attributes.pd, verbs::Access::none, Iova(sge.address), Bytes(sge.length)};
        query.address = Iova(sge.address + skip);
        if (!translator->probe(query, std::max(begin, clock_.edge(scheduler_.now())))) co_await translator->walk(query);
        co_await engine::Until(scheduler_, query.ready, order);
        if (!query.ok()) {
          status = verbs::Status::LOC_PROT_ERR;
          break;
        }
        if (run.raw != 0) scheduler_.spawn(fetch(from, run, order));
        from = query.physical;
        run = std::min(query.length, Bytes(std::min<std::uint64_t>(left, sge.length - skip)));
        skip += run.raw;
        left -= run.raw;
      }
      skip = 0;
    }
  } else {
    co_await engine::Until(scheduler_, begin, order);
  }
  // Reads of one agent come back in order: the last one's end is the end of all.
  ports::DmaRead payload(*dma.operator->(), from, status == verbs::Status::SUCCESS ? run : Bytes{}, ports::Agent::payload, order);
  payload.start();
  if (qp.sends_in(life)) {
    stamp(wqe, Step::key_check) = query.judged;
    stamp(wqe, Step::translation) = std::max(query.ready, scheduler_.now());
    if (status != verbs::Status::SUCCESS) qp.halted = true;
  }
  contexts_.give();
  qp.preparing = false;
  work->wake(qp);

  co_await payload;
  const Time in_nic = scheduler_.now();
  co_await qp.sends.turn(ticket);
  Time sent = scheduler_.now();
  if (qp.sends_in(life)) {
    stamp(wqe, Step::dma) = in_nic;
    if (status != verbs::Status::SUCCESS) retirement->answered(qp, piece.request, status);
    else sent = network->transmit(packet_for(qp, wqe, piece));
  }
  if (gathers) buffer_.give_at(sent, Bytes(piece.bytes));
  qp.sends.leave(ticket);
}

void Requester::take(Qp& qp, ports::Packet& packet) {
  qp.responses.push(packet);
  if (!qp.accepting) {
    qp.accepting = true;
    scheduler_.spawn(accept(qp));
  }
}

engine::Flow Requester::accept(Qp& qp) {
  while (ports::Packet* packet = qp.responses.pop()) {
    const bool outstanding = qp.sends_in(qp.life) && packet->request - qp.retired < qp.producer - qp.retired;
    if (outstanding) {
      ports::Wqe& wqe = qp.wqe(packet->request);
      std::copy(packet->stamp.begin(), packet->stamp.end(), wqe.stamp.begin() + unsigned(Step::wire));
      stamp(wqe, Step::response_wire) = stamp(wqe, Step::scatter) = scheduler_.now();
      verbs::Status status = verbs::status_of(packet->nak);
      const std::uint32_t life = qp.life;
      if (packet->kind == ports::Packet::Kind::read_response && packet->payload.raw != 0 && !co_await scatter(qp, *packet, wqe))
        status = verbs::Status::LOC_PROT_ERR;
      if (qp.sends_in(life)) {
        stamp(wqe, Step::scatter) = scheduler_.now();
        const bool over = packet->last || status != verbs::Status::SUCCESS;
        if (status != verbs::Status::SUCCESS) qp.halted = true;
        if (over && wqe.opcode == verbs::Opcode::read) --qp.reads;
        if (over) retirement->answered(qp, packet->request, status);
        if (over) work->wake(qp);
      }
    }
    ports::PacketPool::give(*packet);
  }
  qp.accepting = false;
}

engine::Task<bool> Requester::scatter(Qp& qp, const ports::Packet& packet, ports::Wqe& wqe) {
  std::uint64_t skip = packet.offset, left = packet.payload.raw;
  ports::Query query;
  query.order = qp.requester_order;
  const std::uint32_t life = qp.life;
  for (std::uint32_t i = 0; i < wqe.sge_count && left != 0; ++i) {
    const verbs::Sge sge = wqe.sges[i];
    if (skip >= sge.length) {
      skip -= sge.length;
      continue;
    }
    while (skip < sge.length && left != 0) {
      query.wish = {sge.lkey, qp.attributes.pd, verbs::Access::local_write, Iova(sge.address), Bytes(sge.length)};
      query.address = Iova(sge.address + skip);
      if (!translator->probe(query, clock_.edge(scheduler_.now()))) co_await translator->walk(query);
      co_await engine::Until(scheduler_, query.ready, query.order);
      if (!query.ok()) co_return false;
      co_await ports::WriteRoom(*dma.operator->());
      if (!qp.sends_in(life)) co_return true;
      const Bytes run = std::min(query.length, Bytes(std::min<std::uint64_t>(left, sge.length - skip)));
      dma->write(query.physical, run, nullptr);
      skip += run.raw;
      left -= run.raw;
    }
    skip = 0;
  }
  co_return true;
}

}  // namespace mtsim::nic

// What peers answer: where it goes, and what it ends.
#include <algorithm>

#include "nic/refused_lookup.h"
#include "nic/requester.h"
#include "nic/requester_marks.h"
#include "nic/scatter.h"

namespace mtsim::nic {

using ports::Step;

namespace {

bool is_data_of_read(const ports::Packet& packet) {
  return packet.kind == ports::Packet::Kind::response && packet.opcode == verbs::Opcode::read;
}

}  // namespace

void Requester::take(Qp& qp, ports::Packet& packet) {
  packet.came = scheduler_.now();
  qp.responses.push(packet);
  if (!qp.accepting) {
    qp.accepting = true;
    scheduler_.spawn(accept(qp));
  }
}

engine::Flow Requester::accept(Qp& qp) {
  while (ports::Packet* packet = qp.responses.pop()) {
    const Time turn = scheduler_.now();
    Time asked = turn;
    bool found = true;
    if (qp_contexts_ != nullptr && !qp.destroyed) [[unlikely]] {
      // Answers pass no pipe that could be kept: looking the context up delays this QP's alone.
      Time busy;
      found = qp_contexts_->find(qp, busy);
      asked = clock_.edge(turn) + busy;
      qp.accepts = "waits for its QP's context";
      if (!found) co_await qp_contexts_->fetch(qp, asked, qp.requester_order);
      else if (busy.raw != 0) co_await engine::Until(scheduler_, asked, qp.requester_order);
      qp.accepts = nullptr;
    }
    if (packet->nak == verbs::Nak::sequence) [[unlikely]]
      find_missing(qp, *packet);
    const std::uint32_t index = packet->request;
    const bool outstanding = qp.may_send() && index - qp.retired < qp.producer - qp.retired && !qp.request(index).answered;
    if (outstanding && !qp.read_begun && (packet->nak == verbs::Nak::sequence || packet->nak == verbs::Nak::receiver_not_ready)) {
      try_again(qp, *packet);
    } else if (outstanding && qp.read_begun && !is_data_of_read(*packet)) [[unlikely]] {
      end_out_of_turn(qp, *packet);
    } else if (outstanding) {
      ports::Wqe& wqe = qp.wqe(index);
      if (packet->mishap) [[unlikely]]
        wqe.mishap.add(packet->mishap);
      std::copy(packet->stamp.begin(), packet->stamp.end(), wqe.stamp.begin() + unsigned(Step::wire));
      stamp(wqe, Step::response_wire) = stamp(wqe, Step::scatter) = qp.progress = scheduler_.now();
      ports::Waits& waits = packet->waits;
      if (params_.measures) {
        waits.add(Step::response_wire, ports::Cause::wire_out, packet->waited_out);
        waits.add(Step::response_wire, ports::Cause::wire_in, packet->waited_in);
        waits.add(Step::response_wire, ports::Cause::qp, turn - packet->came);
        if (!found) waits.add(Step::response_wire, ports::Cause::context_fetch, scheduler_.now() - asked);
      }
      qp.retries = qp.rnr_retries = 0;
      verbs::Status status = params_.rules->answered_status(packet->nak);
      const std::uint32_t life = qp.life;
      if (request_contexts_ != nullptr && !request_contexts_->find(qp, index)) [[unlikely]] {
        const Time since = scheduler_.now();
        qp.accepts = "waits for its request's context";
        co_await request_contexts_->fetch(qp, index, !packet->last);
        qp.accepts = nullptr;
        if (params_.measures) waits.add(Step::scatter, ports::Cause::context_fetch, scheduler_.now() - since);
      }
      if (packet->kind == ports::Packet::Kind::response && packet->payload.raw != 0 && qp.lives(life)) {
        ports::Query query;
        query.order = qp.requester_order;
        query.qpn = qp.qpn;
        query.wqe = &wqe;
        query.waits = params_.measures ? &waits : nullptr;
        query.wait_step = Step::scatter;
        std::uint64_t whole = 0;
        const Scatter units{scheduler_, clock_, *translator.operator->(), *dma.operator->(), watch_, wqe.mishap, &whole};
        const std::span<const verbs::Sge> sges(wqe.sges, wqe.sge_count);
        if (!co_await scatter(units, qp, qp.attributes.pd, sges, packet->offset, packet->payload.raw, Time(), query)) {
          status = params_.rules->requester.scatter;
          explain_refusal(qp, wqe, query);
          if (packet->offset + whole >= qp.attributes.mtu.raw) qp.read_begun = params_.rules->requester.remembers_read;
        }
      }
      if (qp.lives(life)) {
        stamp(wqe, Step::scatter) = scheduler_.now();
        if (params_.measures) keep(wqe, waits);
        if (packet->last && status == verbs::Status::SUCCESS) qp.read_begun = false;
        if (packet->last || status != verbs::Status::SUCCESS) over(qp, index, status);
      }
    }
    // Over iWARP the message that ends the connection is about requests that have counted as done.
    if (done_when_sent_ && !outstanding && qp.may_send() && packet->kind == ports::Packet::Kind::negative) retirement->fail(qp);
    ports::PacketPool::give(*packet);
  }
  qp.accepting = false;
}

void Requester::over(Qp& qp, std::uint32_t index, verbs::Status status) {
  Qp::Outstanding& request = qp.request(index);
  if (request.reading) {
    request.reading = false;
    --qp.reads;
  }
  if (static_cast<std::int32_t>(qp.next - index) <= 0) pass(qp, index);
  if (status != verbs::Status::SUCCESS) qp.halted = true;
  retirement->answered(qp, index, status);
  work->wake(qp);
}

}  // namespace mtsim::nic

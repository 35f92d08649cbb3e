#include "program/workload_requests.h"

namespace mtsim::program {

void RequestForm::begin(Op& op, Kind kind, NameId id) const {
  op.kind = kind;
  op.actor = actor;
  op.at_ns = -1;
  op.id = id;
  op.expect.given = false;
  op.hazard = Op::Hazard::unsaid;
}

void RequestForm::post(Op& op, NameId qp, std::uint64_t wr, bool signaled, const Place& place) const {
  begin(op, Kind::post_send, qp);
  op.qp = qp;
  op.wr = wr;
  op.has_wr = true;
  op.opcode = opcode;
  op.flags = signaled ? flags | verbs::Send::signaled : flags;
  op.more = false;
  op.ud = 0;
  op.has_immediate = false;
  op.immediate = 0;
  op.sges.resize(1);
  // Field by field: a copy of the whole would have to wait until the parts just written have left the store buffer.
  op.sges[0].address.object = place.local.object;
  op.sges[0].address.offset = place.local.offset;
  op.sges[0].length = length;
  op.sges[0].key = {};
  op.has_to = true;
  op.to.object = place.remote.object;
  op.to.offset = place.remote.offset;
  op.to_key = {};
}

void RequestForm::compute(Op& op) const {
  begin(op, Kind::compute, 0);
  op.number = compute_ns;
}

void RequestForm::poll_next(Op& op) const {
  begin(op, Kind::poll, cq);
  op.cq = cq;
  op.count = 1;
  op.has_wr = false;
  op.idle = false;
  op.wait = wait;
}

void RequestForm::poll_for(Op& op, std::uint64_t wr) const {
  poll_next(op);
  op.wr = wr;
  op.has_wr = true;
}

}  // namespace mtsim::program

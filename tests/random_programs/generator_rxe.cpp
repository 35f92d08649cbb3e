// What programs for a real rxe of Linux 6.1 leave out or do in another way. Its answers are the kernel's; what they may depend on:
//
// - A completion is seen before the QP is in error, at either end, and a NAK before the responder is. So all hosts sleep after a burst.
// - The library puts requests into the ring before the kernel refuses them below RTS, and a list as a whole: ERR completes them, though no
//   program knows of them by number.
// - A retry carries binds out again, and a request that waits for those before it may miss that they are done: binds, invalidations and
//   fences find nothing outstanding.
// - A request that fails at home ends the retries of those before it, which then never complete: it finds nothing outstanding either.
// - A fenced request that is sent again waits for READs and atomics that have been sent: itself and what is behind it as well, for ever.
// - Receives posted in ERR wait until it is set again; those that were there are flushed in the kernel's own time, and are let pass first.
// - Invalidating a window that is free brings the kernel down.
#include <algorithm>

#include "generator.h"

namespace mtsim::random_programs {

void for_rxe(Options& options) {
  if (options.racy) throw std::invalid_argument("a program for rxe is free of races");
  options.rules = rules_rxe_6_1();
  options.on_rxe = true;
  options.events = false;
  options.timeout = 15;  // 134 ms, three times
  options.largest_mtu = 1024;
}

/// Whether the device answers this, and what is under way, always alike.
bool Generator::rxe_is_sure(const Flow& flow, const Operation& o, const Course& course) const {
  if (!affordable(course)) return false;
  if (waits_for_others(o) && flow.outstanding) return false;
  // Rule 7.23: a request before it that has no answer yet would never end, also one that fails, though the rest is to be flushed.
  if (flow.outstanding && oracle_.fails_at_home(o)) return false;
  // Rule 7.24: a fenced request that is sent again waits for READs and atomics that have been sent, itself and those behind it too.
  const bool asks = o.opcode == Opcode::read || is_atomic(o.opcode);
  if (asks && ((o.fence && course.status == "RETRY_EXC_ERR") || (flow.outstanding && flow.fenced_retries))) return false;
  // Retries for want of a receive have been seen to stop with other requests about.
  if (course.status == "RNR_RETRY_EXC_ERR" && flow.outstanding) return false;
  if (o.opcode == Opcode::local_inv && !rxe_may_invalidate(o)) return false;
  if (o.opcode == Opcode::send_inv && !rxe_may_invalidate(o)) return false;
  // The next request would find out that the peer is gone, after all retries.
  const bool reliable = qp(flow.from).settings.type == QpType::rc;
  if (reliable && course.peer_fails && course.status == "SUCCESS" && !o.signaled) return false;
  // Whether a word is aligned rxe sees where its bytes are.
  if (is_atomic(o.opcode) && o.to_key.of == KeyRef::Of::mw && (window(o.to_key.id).in_mr - window(o.to_key.id).start) % 8 != 0)
    return false;
  return true;
}

/// Polls what a connection's requests complete with, if that tells of all of them.
void Generator::let_end(Flow& flow) {
  if (!flow.last_signaled || !polled_by_number(qp(flow.from).settings.send_cq)) return;
  settle(qp(flow.from).host, false);
  flow.outstanding = false;
}

/// After a request. What is flushed says little: few of them behind one that failed.
void Generator::go_on(Flow& flow) {
  if (dice_.chance(20)) let_end(flow);
  if (qp(flow.from).state != QpState::rts && dice_.chance(40)) flow.requests = 0;
}

/// Of a type 2 window that is there: bound.
bool Generator::rxe_may_invalidate(const Operation& o) const {
  if (o.inv.of != KeyRef::Of::mw || o.inv.flip != 0) return true;
  const Window& w = window(o.inv.id);
  return !w.alive || w.type == 1 || (w.bound && !w.spoilt);
}

/// Retries that come to nothing take real time: few of them.
bool Generator::affordable(const Course& course) const {
  const bool exhausts = course.status == "RETRY_EXC_ERR" || course.status == "RNR_RETRY_EXC_ERR";
  constexpr unsigned operations_between = 300;
  return !exhausts || exhausted_ * operations_between <= counted_;
}

void Generator::spend(const Course& course) {
  if (course.status == "RETRY_EXC_ERR" || course.status == "RNR_RETRY_EXC_ERR") ++exhausted_;
}

bool Generator::refused_by_state(const Operation& o) const {
  if (o.kind == Kind::post_send) return !qp(o.id).takes_sends;
  return o.kind == Kind::post_recv && qp(o.id).state == QpState::reset;
}

/// The program's own CPU copies inline data, from where the address says: not from an iova.
void Generator::keep_inline_data_readable(Operation& o) {
  for (Sge& sge : o.sges) {
    if (sge.length == 0) continue;
    const Mr& from = mr(sge.address.id);
    const Buffer& buffer = World::at(oracle_.world().buffers, from.buffer);
    if (from.start >= buffer.start && from.start < buffer.start + buffer.length) continue;
    const Id anchor = host(o.host).anchors.at(from.pd).front();
    sge.address = {Address::Of::mr, anchor, static_cast<std::int64_t>(dice_.below(mr(anchor).length - sge.length + 1))};
    sge.key = key_of(anchor);
  }
}

/// What one QP's requests complete with, in the order of the requests.
void Generator::poll_in_order(int h, Id cq, const std::vector<Completion>& all) {
  for (const Completion& c : all) {
    Operation o = operation(h, Kind::poll, cq);
    o.expect = std::to_string(c.wr) + ":" + c.status;
    ++counted_;
    program_.operations.push_back(o);
    oracle_.take(cq, c.wr);
  }
}

/// The kernel ends objects of a process in an order of its own; QPs before the windows bound through them would take a minute each.
void Generator::wind_up() {
  barrier();
  for (int h = 0; h < host_count(); ++h)
    for (const Id id : std::vector<Id>(host(h).windows)) end_window(h, id);
  barrier();
}

}  // namespace mtsim::random_programs

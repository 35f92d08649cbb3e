// Broken connections are made anew; receives are posted ahead of the messages that take them.
#include "generator.h"

namespace mtsim::random_programs {

bool Generator::broken(const Pair& pair) const { return qp(pair.left).state != QpState::rts || qp(pair.right).state != QpState::rts; }

/// Some stay broken for a while.
void Generator::recover() {
  std::vector<Pair> again;
  for (Pair& pair : pairs_) {
    if (!broken(pair) && !dice_.chance(1)) continue;
    if (dice_.chance(30)) continue;
    bring_down(pair.left);
    bring_down(pair.right);
    again.push_back(pair);
  }
  if (again.empty()) return;
  barrier();
  for (const Pair& pair : again) {
    const bool left = dice_.chance(50);
    Operation o = operation(qp(left ? pair.left : pair.right).host, Kind::connect, left ? pair.left : pair.right);
    o.peer = left ? pair.right : pair.left;
    o.peer_host = qp(o.peer).host;
    call(o);
    if (options_.on_rxe || !dice_.chance(5)) continue;
    call(o);  // it is connected already
  }
  barrier();
}

/// To RESET, through ERR where receives are to complete.
void Generator::bring_down(Id id) {
  const int h = qp(id).host;
  const auto set = [&](QpState state) {
    Operation o = operation(h, Kind::modify_qp, id);
    o.state = state;
    call(o);
  };
  end_windows_of(id);
  const bool shared_begun = qp(id).begun && qp(id).settings.srq != nobody;
  if (!keeps_refused(id) && (shared_begun || dice_.chance(60))) {
    set(QpState::err);
    settle(h);
  }
  set(QpState::reset);
  if (!dice_.chance(40)) return;
  if (dice_.chance(50)) post_receive(id, nobody);  // refused
  set(QpState::init);
  for (std::uint64_t i = qp(id).settings.srq == nobody ? dice_.below(4) : 0; i > 0; --i) post_receive(id, nobody);
}

void Generator::post_receives(int h) {
  for (const Pair& pair : pairs_)
    for (const Id id : {pair.left, pair.right}) {
      const Qp& q = qp(id);
      if (q.host != h || q.settings.srq != nobody || q.state == QpState::reset || q.state == QpState::init) continue;
      if (q.state == QpState::err && !dice_.chance(20)) continue;
      const std::uint64_t wanted = dice_.chance(10) ? 0 : dice_.from_to(1, 6);
      for (std::uint64_t i = q.receives.size(); i < wanted; ++i) post_receive(id, nobody);
    }
  const Id srq = host(h).srq;
  if (srq != nobody)
    for (std::size_t i = World::at(oracle_.world().srqs, srq).receives.size(), wanted = dice_.from_to(2, 10); i < wanted; ++i)
      post_receive(nobody, srq);
  settle(h);
}

/// To the QP, or to `srq` if there is one. False: it was refused.
bool Generator::post_receive(Id id, Id srq) {
  const bool shared = srq != nobody;
  const Srq* of = shared ? &World::at(oracle_.world().srqs, srq) : nullptr;
  const int h = shared ? of->host : qp(id).host;
  Operation o = operation(h, shared ? Kind::post_srq : Kind::post_recv, shared ? srq : id);
  const Id pd = shared ? of->pd : qp(id).pd;
  const unsigned most = shared ? of->sges : qp(id).settings.recv_sge;
  const std::uint64_t length = dice_.chance(10) ? 0 : dice_.chance(40) ? dice_.from_to(1, 600) : dice_.from_to(1, 20'000);
  o.wr = next_wr(h);
  o.sges = elements(h, pd, length, most, lw, dice_.chance(4));
  if (dice_.chance(2)) o.sges.resize(40, good_element(h, pd, 8, lw));
  return post(o);
}

}  // namespace mtsim::random_programs

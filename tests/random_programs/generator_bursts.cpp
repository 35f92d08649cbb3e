// Bursts: connections that carry requests at the same time, each in one direction. What they use together does not change meanwhile.
#include <algorithm>

#include "generator.h"

namespace mtsim::random_programs {

void Generator::burst() {
  uses_.clear();
  std::vector<Flow> flows = choose_flows();
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < flows.size(); ++i) open.push_back(i);
  while (!open.empty()) {
    const std::size_t place = static_cast<std::size_t>(dice_.below(open.size()));
    Flow& flow = flows[open[place]];
    for (std::uint64_t few = dice_.from_to(1, 4); few > 0 && flow.requests > 0; --few) post_one(flow);
    if (flow.requests != 0) continue;
    finish_flow(flow);
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(place));
  }
  for (int h = 0; h < host_count(); ++h) settle(h);
}

/// At most one into each shared receive queue: which of two takes the next receive would depend on timing.
std::vector<Generator::Flow> Generator::choose_flows() {
  std::vector<Flow> flows;
  std::set<Id> shared;
  for (const Pair& pair : pairs_) {
    if (!dice_.chance(60) || (broken(pair) && dice_.chance(60))) continue;
    bool left = dice_.chance(50);
    // Out of a connection of which one side has failed rather from the other.
    const QpState states[] = {qp(pair.left).state, qp(pair.right).state};
    if ((states[0] == QpState::rts) != (states[1] == QpState::rts) && dice_.chance(70)) left = states[0] == QpState::rts;
    Flow flow{left ? pair.left : pair.right, left ? pair.right : pair.left, static_cast<unsigned>(dice_.from_to(1, 20))};
    const QpState state = qp(flow.from).state;
    // Out of a state without sends one that is refused is enough.
    if (state == QpState::reset || state == QpState::init) flow.requests = 1;
    const Id srq = qp(flow.to).settings.srq;
    if (srq != nobody && !shared.insert(srq).second) continue;
    flows.push_back(flow);
  }
  return flows;
}

void Generator::post_one(Flow& flow) {
  --flow.requests;
  for (int tries = 0; tries < 6; ++tries) {
    Operation o = request(flow);
    if (options_.on_rxe && flow.outstanding && waits_for_others(o)) let_end(flow);
    const bool refused = oracle_.refusal(o) != "ok";
    const Course course = refused ? Course{} : oracle_.judge(o);
    if (!refused && !fits(flow, o, course)) continue;
    const bool ended = qp(flow.from).state != QpState::rts;
    if (!refused) claim(flow, o, course);
    o.wr = next_wr(o.host);
    post(o);
    if (refused) return;
    if (qp(flow.from).settings.type == QpType::uc || (!ended && course.status != "SUCCESS") || course.peer_fails || course.out_of_turn)
      strays_ = true;
    flow.begun = flow.outstanding = true;
    flow.fenced_retries = flow.fenced_retries || (o.fence && course.status == "RETRY_EXC_ERR");
    spend(course);
    flow.answer_failed = flow.answer_failed || course.in_answer;
    flow.last_signaled = o.signaled || qp(flow.from).settings.signal_all;
    if ((options_.on_rxe && course.status == "RNR_RETRY_EXC_ERR") || course.out_of_turn) flow.requests = 0;
    if (options_.on_rxe) return go_on(flow);
    if (dice_.chance(8)) settle(o.host, false);
    return;
  }
}

/// Whether the answer of this request, and of what else is under way, is the same whatever the timing.
bool Generator::fits(const Flow& flow, const Operation& o, const Course& course) {
  if (!course.unclear.empty()) return false;
  if (options_.on_rxe && !rxe_is_sure(flow, o, course)) return false;
  const Qp& from = qp(flow.from);
  if (!options_.uc_local_errors && course.local && from.settings.type == QpType::uc) return false;
  const bool behind_others = options_.on_rxe ? flow.outstanding : flow.begun;
  // What is under way behind a request whose answer ends the QP may have been carried out or not.
  if (from.read_begun && flow.outstanding) return false;
  if (!options_.rules.local_error_waits && course.local && behind_others) return false;
  // Behind one that fails a change of a window may have been made when it is flushed.
  const bool changes_window = o.opcode == Opcode::bind_mw || o.opcode == Opcode::local_inv;
  if (changes_window && flow.begun && from.state != QpState::rts) return false;
  if (flow.answer_failed) {
    // It may still be carried out at the peer, and must leave nothing behind there.
    const bool empty = o.opcode == Opcode::write && std::all_of(o.sges.begin(), o.sges.end(), [](const Sge& s) { return s.length == 0; });
    if (!empty || (qp(flow.to).settings.access & rw) == 0) return false;
  }
  // Windows: a change that others could meet before or after would be a race.
  const auto others = [&](const std::set<Id>& ids) { return std::any_of(ids.begin(), ids.end(), [&](Id id) { return id != flow.from; }); };
  for (const Id changed : {course.invalidated, o.opcode == Opcode::bind_mw ? o.mw : nobody}) {
    const auto use = uses_.find(changed);
    if (changed != nobody && use != uses_.end() && (others(use->second.users) || others(use->second.changers) || use->second.by_read))
      return false;
  }
  // An address that counts from a window that another flow binds, with whatever key.
  const auto aimed = options_.on_rxe && o.to.of == Address::Of::mw ? uses_.find(o.to.id) : uses_.end();
  if (aimed != uses_.end() && others(aimed->second.changers)) return false;
  for (const KeyRef& key : {o.to_key, o.inv}) {
    const auto use = key.of == KeyRef::Of::mw ? uses_.find(key.id) : uses_.end();
    if (use != uses_.end() && others(use->second.changers)) return false;
  }
  return true;
}

void Generator::claim(const Flow& flow, const Operation& o, const Course& course) {
  const bool reads = o.opcode == Opcode::read || is_atomic(o.opcode);
  for (const KeyRef& key : {o.to_key, o.inv})
    if (key.of == KeyRef::Of::mw) {
      uses_[key.id].users.insert(flow.from);
      uses_[key.id].by_read = uses_[key.id].by_read || reads;
    }
  if (options_.on_rxe && o.to.of == Address::Of::mw) uses_[o.to.id].users.insert(flow.from);
  if (course.invalidated != nobody) uses_[course.invalidated].changers.insert(flow.from);
  if (o.opcode == Opcode::bind_mw) uses_[o.mw].changers.insert(flow.from);
}

/// The last request completes, so that the program knows when all have; of an unreliable connection a last message tells the peer as well.
void Generator::finish_flow(Flow& flow) {
  const Qp& from = qp(flow.from);
  if (!from.takes_sends) return;
  Operation o = operation(from.host, Kind::post_send, flow.from);
  o.peer_host = qp(flow.to).host;
  o.signaled = true;
  if (from.settings.type == QpType::uc) {
    o.opcode = Opcode::send;
    const Course course = oracle_.judge(o);
    if (from.state != QpState::rts || course.receive != "SUCCESS") o.opcode = Opcode::write;
  } else if (flow.last_signaled || from.state != QpState::rts) {
    return;
  } else {
    o.opcode = Opcode::write;
    const Course course = oracle_.judge(o);
    if (course.status != "SUCCESS") strays_ = true;
    spend(course);
  }
  o.wr = next_wr(o.host);
  post(o);
}

}  // namespace mtsim::random_programs

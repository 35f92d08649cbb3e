// Races on purpose: requests are under way while something that they need changes. Each request is carried out before the change or after
// it, so its lawful verdicts are those that the oracle gives for every place of the change among the requests, and for every number of them
// that were on their way when one before them failed by its answer.
#include <algorithm>

#include "generator.h"

namespace mtsim::random_programs {

namespace {

enum class Change { dereg_target, rereg_target, dereg_source, dereg_receives, peer_fails, own_fails };

void collect(const Oracle& oracle, Id cq, std::map<std::uint64_t, std::set<Status>>& verdicts) {
  for (const Completion& c : oracle.completions(cq)) verdicts[c.wr].insert(c.status);
}

std::string alternatives(const std::set<Status>& statuses) {
  std::string out;
  for (const Status& s : statuses) out += (out.empty() ? "" : "|") + s;
  return out;
}

}  // namespace

/// A healthy connection whose completions can be polled by number, with receive queues of its own.
std::optional<Generator::Flow> Generator::choose_racy_flow() {
  const auto can = [&](Id id) {
    const QpSettings& s = qp(id).settings;
    if (qp(id).read_begun) return false;
    return s.srq == nobody && polled_by_number(s.send_cq) && polled_by_number(s.recv_cq) && s.type == QpType::rc;
  };
  std::vector<Flow> able;
  for (const Pair& pair : pairs_) {
    if (broken(pair) || !can(pair.left) || !can(pair.right)) continue;
    able.push_back({pair.left, pair.right, 0});
    able.push_back({pair.right, pair.left, 0});
  }
  if (able.empty()) return std::nullopt;
  return dice_.pick(able);
}

/// Carries the requests out in every order with the change, in each of the ways that it may be seen; `last` becomes what comes of it.
/// False: some order leaves open what happens.
bool Generator::try_orders(const Flow& flow, const std::vector<Operation>& requests, const std::vector<Operation>& ways, Oracle& last,
                           std::map<int, Verdicts>& verdicts) const {
  for (const Operation& way : ways)
    for (const bool late : {false, true})
      for (std::size_t ahead = 0; ahead <= requests.size(); ++ahead)
        for (std::size_t place = 0; place <= requests.size(); ++place) {
          last = oracle_;
          last.race(static_cast<unsigned>(ahead), late);
          for (std::size_t i = 0; i <= requests.size(); ++i) {
            if (i == place) last.call(way);
            if (i < requests.size()) last.post(requests[i]);
          }
          if (last.unclear()) return false;
          for (const Id id : {flow.from, flow.to}) {
            Operation o = operation(qp(id).host, Kind::modify_qp, id);
            o.state = QpState::err;
            last.call(o);
            collect(last, qp(id).settings.send_cq, verdicts[o.host]);
            if (qp(id).settings.recv_cq != qp(id).settings.send_cq) collect(last, qp(id).settings.recv_cq, verdicts[o.host]);
          }
        }
  return true;
}

void Generator::racy_round() {
  const auto flow = choose_racy_flow();
  if (!flow) return burst();
  const int from = qp(flow->from).host, to = qp(flow->to).host;
  std::vector<Change> changes{Change::dereg_target, Change::dereg_source, Change::dereg_receives, Change::peer_fails, Change::own_fails};
  if (options_.rules.rereg_rights) changes.push_back(Change::rereg_target);
  const Change kind = dice_.pick(changes);
  const bool there = kind != Change::dereg_source && kind != Change::own_fails;
  const int changer = there ? to : from;
  const Id changer_qp = there ? flow->to : flow->from;

  // What changes: made for this.
  const Id victim = reg_mr(changer, qp(changer_qp).pd, dice_.pick(host(changer).buffers), lw | rr | rw | ra, 4096, 24 * 1024);
  for (std::uint64_t i = kind == Change::dereg_receives ? dice_.from_to(1, 4) : 0; i > 0; --i) {
    Operation o = operation(to, Kind::post_recv, flow->to);
    o.wr = next_wr(to);
    o.sges = {{{Address::Of::mr, victim, 0}, static_cast<std::uint32_t>(dice_.from_to(1, 20'000)), key_of(victim)}};
    post(o);
  }
  barrier();

  Operation change = operation(changer, Kind::dereg_mr, victim);
  if (kind == Change::rereg_target) {
    change.kind = Kind::rereg_mr;
    change.change_access = true;
    change.access = dice_.chance(50) ? lw : lw | rr;
  } else if (kind == Change::peer_fails || kind == Change::own_fails) {
    change = operation(changer, Kind::modify_qp, changer_qp);
    change.state = QpState::err;
  }
  std::vector<Operation> ways{change};
  // Registering anew is a deregistration and then a registration: what comes between finds nothing.
  if (kind == Change::rereg_target) ways.insert(ways.begin(), operation(changer, Kind::dereg_mr, victim));
  std::vector<Operation> requests;
  std::map<int, Verdicts> verdicts;
  Oracle last = oracle_;
  do {
    requests = racy_requests(*flow, victim, kind == Change::dereg_source, kind == Change::dereg_target || kind == Change::rereg_target);
    verdicts.clear();
  } while (!try_orders(*flow, requests, ways, last, verdicts));
  const auto line = [&](Operation o) {
    ++counted_;
    program_.operations.push_back(std::move(o));
  };
  const auto poll = [&](int h, Id cq, std::uint64_t wr) {
    Operation o = operation(h, Kind::poll, cq);
    o.by_number = true;
    o.wr = wr;
    o.expect = alternatives(verdicts[h].at(wr));
    last.take(cq, wr);
    line(o);
  };
  // The requester's host makes its change in the midst of its posts, the other host whenever it comes to it.
  const std::size_t place = changer == from ? static_cast<std::size_t>(dice_.from_to(1, requests.size())) : 0;
  if (changer == to) line(change);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    line(requests[i]);
    if (i + 1 == place) line(change);
  }
  for (const Operation& o : requests) poll(from, qp(flow->from).settings.send_cq, o.wr);
  barrier();
  sleep_all(stray_ns);
  // Both sides to ERR, so that every receive completes, and up again.
  for (const Id id : {flow->from, flow->to}) {
    Operation o = operation(qp(id).host, Kind::modify_qp, id);
    o.state = QpState::err;
    line(o);
    const Id cq = qp(id).settings.recv_cq;
    for (const Completion& c : std::vector<Completion>(last.completions(cq))) poll(o.host, cq, c.wr);
    o.state = QpState::reset;
    last.call(o);
    line(o);
  }
  oracle_ = last;
  oracle_.race(0, false);
  if (mr(victim).alive) call(operation(changer, Kind::dereg_mr, victim));
  host(changer).gone_mrs.push_back(victim);
  barrier();
  Operation o = operation(from, Kind::connect, flow->from);
  o.peer = flow->to;
  o.peer_host = to;
  call(o);
}

/// Requests of which many need the victim; each completes.
std::vector<Operation> Generator::racy_requests(const Flow& flow, Id victim, bool as_source, bool as_target) {
  std::vector<Operation> out;
  for (std::uint64_t left = dice_.from_to(2, 8); left > 0;) {
    Operation o = request(flow);
    if (o.opcode == Opcode::bind_mw || o.opcode == Opcode::local_inv || o.opcode == Opcode::send_inv) continue;
    if (oracle_.refusal(o) != "ok" || !oracle_.judge(o).unclear.empty()) continue;
    o.signaled = true;
    o.fence = false;
    const bool asks_back = o.opcode == Opcode::read || is_atomic(o.opcode);
    if (as_target && !is_send(o.opcode) && dice_.chance(60)) {
      o.to = {Address::Of::mr, victim, 0};
      o.to_key = key_of(victim);
    }
    if (as_source && dice_.chance(60)) {
      o.inline_data = false;
      const auto length = static_cast<std::uint32_t>(is_atomic(o.opcode) ? 8 : dice_.from_to(1, asks_back ? 20'000 : 4000));
      o.sges = {{{Address::Of::mr, victim, 0}, length, key_of(victim)}};
    }
    // Whether a READ fails in its first packet or behind it would be left open.
    std::uint64_t bytes = 0;
    for (const Sge& sge : o.sges) bytes += sge.length;
    if (options_.rules.remembers_read && o.opcode == Opcode::read && bytes > qp(flow.from).settings.mtu) continue;
    if (!oracle_.judge(o).unclear.empty()) continue;
    o.wr = next_wr(o.host);
    out.push_back(o);
    --left;
  }
  return out;
}

}  // namespace mtsim::random_programs

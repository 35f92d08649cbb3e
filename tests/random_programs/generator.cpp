#include "generator.h"

#include <algorithm>

namespace mtsim::random_programs {

void without(Options& options, const std::string& feature) {
  if (feature == "windows") options.windows = false;
  else if (feature == "uc_local_errors") options.uc_local_errors = false;
  else if (feature == "queries") options.queries = false;
  else if (feature == "events") options.events = false;
  else throw std::invalid_argument("no feature '" + feature + "': windows, uc_local_errors, queries or events");
}

Program generate(const Options& options) { return Generator(options).run(); }

Generator::Generator(const Options& options) : options_(options), dice_(options.seed), oracle_(options.rules) {
  // Which events a race raises depends on who wins.
  options_.events = options_.events && options_.rules.asynchronous_events && !options_.racy;
  hosts_.resize(static_cast<std::size_t>(dice_.from_to(2, 3)));
  program_.hosts = host_count();
  program_.seed = options.seed;
  program_.rules = options.rules.name;
  if (options.on_rxe) program_.device = "rxe";
}

Program Generator::run() {
  set_up();
  for (unsigned before = counted_, half_a_round = 0; counted_ + half_a_round < options_.operations; before = counted_) {
    for (int h = 0; h < host_count(); ++h)
      for (std::uint64_t changes = dice_.below(6); changes > 0; --changes) change(h);
    barrier();
    recover();
    for (int h = 0; h < host_count(); ++h) post_receives(h);
    barrier();
    if (options_.racy && dice_.chance(70)) racy_round();
    else burst();
    barrier();
    if (options_.on_rxe) sleep_all(settling_ns);
    else if (strays_) sleep_all(stray_ns);
    strays_ = false;
    look_around();
    if (options_.on_rxe) half_a_round = (counted_ - before) / 2;
  }
  if (options_.on_rxe) wind_up();
  return std::move(program_);
}

Operation Generator::operation(int host, Kind kind, Id id) const {
  Operation o;
  o.host = host;
  o.kind = kind;
  o.id = id;
  return o;
}

std::string Generator::call(Operation o) {
  const std::string answer = oracle_.call(o);
  if (answer != "ok") o.expect = answer;
  ++counted_;
  program_.operations.push_back(std::move(o));
  return answer;
}

/// True: it was taken. Posts to one queue, one after the other, may go down as a list; what stands behind one that is refused is not
/// posted.
bool Generator::post(Operation o) {
  if (!program_.operations.empty()) {
    Operation& before = program_.operations.back();
    const bool same_queue = before.host == o.host && before.kind == o.kind && before.id == o.id;
    if (same_queue && before.expect.empty() && !before.never_posted && dice_.chance(20)) before.more = true;
  }
  const bool state_refuses = (options_.on_rxe || options_.rules.keeps_refused) && refused_by_state(o);
  const std::string answer = oracle_.post(o);
  const bool taken = answer == "ok";
  if (oracle_.unclear()) throw std::logic_error("a program has a request whose course is unclear");
  if (!taken) o.expect = answer;
  ++counted_;
  program_.operations.push_back(o);
  if (taken || state_refuses || !dice_.chance(25)) return taken;
  program_.operations.back().more = true;
  Operation behind = operation(o.host, o.kind, o.id);
  behind.wr = next_wr(o.host);
  behind.opcode = Opcode::send;
  behind.signaled = true;
  behind.never_posted = true;
  ++counted_;
  program_.operations.push_back(behind);
  return false;
}

void Generator::barrier() {
  for (int h = 0; h < host_count(); ++h) {
    Operation o = operation(h, Kind::barrier);
    o.name = "all";
    o.count = static_cast<unsigned>(host_count());
    program_.operations.push_back(o);
  }
}

void Generator::sleep_all(std::uint64_t ns) {
  for (int h = 0; h < host_count(); ++h) {
    Operation o = operation(h, Kind::sleep);
    o.time = ns;
    program_.operations.push_back(o);
  }
  barrier();
}

std::uint64_t Generator::next_wr(int h) { return host(h).wr += dice_.chance(90) ? 1 : dice_.from_to(2, 9); }

void Generator::poll_number(int h, Id cq, const Completion& c) {
  Operation o = operation(h, Kind::poll, cq);
  o.by_number = true;
  o.wr = c.wr;
  if (c.status != "SUCCESS" || dice_.chance(50)) o.expect = c.status;
  ++counted_;
  program_.operations.push_back(o);
  oracle_.take(cq, c.wr);
}

/// One after the other by number, or all of a CQ at once: always the same way on a CQ, since what the one takes ahead of its turn and sets
/// aside does not count for the other. Unless all has come that will, a poll of all could take what others send meanwhile.
void Generator::settle(int h, bool all_has_come) {
  for (const Id cq : host(h).cqs) {
    if (!polled_by_number(cq) && !all_has_come) continue;
    const std::vector<Completion> all = oracle_.completions(cq);
    if (all.empty()) continue;
    if (polled_by_number(cq)) {
      for (const Completion& c : all) poll_number(h, cq, c);
      continue;
    }
    if (options_.on_rxe && std::all_of(all.begin(), all.end(), [&](const Completion& c) { return c.qp == all.front().qp; })) {
      poll_in_order(h, cq, all);
      continue;
    }
    Operation o = operation(h, Kind::poll, cq);
    o.count = static_cast<unsigned>(all.size());
    for (const Completion& c : all) {
      o.expect += (o.expect.empty() ? "" : ",") + std::to_string(c.wr) + ":" + c.status;
      oracle_.take(cq, c.wr);
    }
    ++counted_;
    program_.operations.push_back(o);
  }
}

/// What the hosts say after a burst: states, events, and that nothing more completes.
void Generator::look_around() {
  for (const Pair& pair : pairs_)
    for (const Id id : {pair.left, pair.right})
      if (options_.queries && dice_.chance(15)) call(operation(qp(id).host, Kind::query_qp, id));
  for (int h = 0; h < host_count(); ++h) {
    // In what order two QPs of a host failed is not for a program to know.
    const std::vector<std::string> events = oracle_.take_events(h);
    const std::set<std::string> kinds(events.begin(), events.end());
    std::string any;
    for (const std::string& kind : kinds) any += (any.empty() ? "" : "|") + kind;
    for (std::size_t i = 0; options_.events && i < events.size(); ++i) {
      Operation o = operation(h, Kind::event);
      o.expect = any;
      ++counted_;
      program_.operations.push_back(o);
    }
    if (!dice_.chance(options_.on_rxe ? 15 : 20)) continue;
    Operation o = operation(h, Kind::poll_idle, dice_.pick(host(h).cqs));
    o.time = options_.on_rxe ? settling_ns : dice_.from_to(1, 3) * 1000;
    ++counted_;
    program_.operations.push_back(o);
  }
}

}  // namespace mtsim::random_programs

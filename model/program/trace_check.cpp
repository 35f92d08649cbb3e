#include "program/trace_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace mtsim::program {
namespace {

enum : std::uint8_t { made_buffer = 1, made_region = 2, made_window = 4, made_other = 8, made_any = 15 };

std::uint8_t makers_of(Wanted wanted) {
  switch (wanted) {
    case Wanted::buffer:
      return made_buffer;
    case Wanted::region:
      return made_region;
    case Wanted::window:
      return made_window;
    case Wanted::address:
      return made_buffer | made_region | made_window;
    case Wanted::keyed_address:
    case Wanted::key:
      return made_region | made_window;
    case Wanted::pd:
    case Wanted::cq:
    case Wanted::qp:
    case Wanted::srq:
      break;
  }
  return made_other;
}

std::string_view noun(Wanted wanted) {
  switch (wanted) {
    case Wanted::buffer:
      return "a buffer";
    case Wanted::region:
      return "an MR";
    case Wanted::window:
      return "a window";
    case Wanted::address:
      return "a buffer, an MR or a window";
    case Wanted::keyed_address:
    case Wanted::key:
      return "an MR or a window";
    case Wanted::pd:
      return "a PD";
    case Wanted::cq:
      return "a CQ";
    case Wanted::qp:
      return "a QP";
    case Wanted::srq:
      return "an SRQ";
  }
  return {};
}

template <class T>
T& grown(std::vector<T>& table, std::size_t index) {
  if (index >= table.size()) table.resize(index + 1);
  return table[index];
}

}  // namespace

TraceCheck::Name& TraceCheck::name(NameId id) { return grown(made_, id); }

void TraceCheck::host_declared(std::uint32_t host) {
  if (host >= hosts_.size()) hosts_.resize(host + 1);
  hosts_[host] = true;
}

void TraceCheck::operation(const LineParser& line, const Op& op) {
  note_names(line, op);
  if (op.has_wr && (posts(op.kind) || op.kind == Kind::bind_mw)) note_request(line, op);
  if (op.kind == Kind::barrier) note_barrier(line, op);
  if (op.kind == Kind::fork) note_fork(line, op);
}

void TraceCheck::note_names(const LineParser& line, const Op& op) {
  host_declared(names_.actors()[op.actor].host);
  for (const Reference& reference : line.references()) {
    Name& used = name(reference.name);
    const auto bit = static_cast<std::uint16_t>(1u << static_cast<unsigned>(reference.wanted));
    if (used.wanted & bit) continue;
    used.wanted = static_cast<std::uint16_t>(used.wanted | bit);
    uses_.push_back({reference, op.line});
  }
  if (const Shape& form = shape(op.kind); form.subject == Subject::makes && op.id) name(op.id).made |= makers_of(form.wanted);
}

void TraceCheck::broken_line(const LineParser& line, const Op& op) {
  if (!line.has_actor()) {
    names_lost_ = true;
    return;
  }
  if (line.has_kind()) {
    note_names(line, op);
    return;
  }
  const std::uint32_t host = names_.actors()[op.actor].host;
  host_declared(host);
  if (!is_name(line.subject())) return;
  for (unsigned space = 0; space < space_count; ++space)
    name(names_.object(host, line.subject(), static_cast<Space>(space))).made = made_any;
}

void TraceCheck::note_request(const LineParser& line, const Op& op) {
  HostRequests& host = grown(requests_, names_.actors()[op.actor].host);
  if (host.line > 0 && op.wr <= host.last)
    problems_.add(op.line, line.column(Key::wr),
                  [&] { return fmt::format("wr={} does not rise: line {} of the same host has wr={}", op.wr, host.line, host.last); });
  host = {std::max(host.last, op.wr), op.line};
}

void TraceCheck::note_barrier(const LineParser& line, const Op& op) {
  Barrier& barrier = grown(barriers_, op.barrier);
  if (barrier.line == 0) {
    barrier.n = op.count;
    barrier.line = op.line;
    barrier.column = line.column(Key::n);
  }
  if (op.count != barrier.n)
    problems_.add(op.line, line.column(Key::n), [&] {
      return fmt::format("n={} at barrier {}: it is n={} at line {}, and all must agree", op.count, quote(names_.barrier_name(op.barrier)),
                         barrier.n, barrier.line);
    });
  ++barrier.arrivals;
  if (barrier.actors.size() < barrier.n && std::find(barrier.actors.begin(), barrier.actors.end(), op.actor) == barrier.actors.end())
    barrier.actors.push_back(op.actor);
}

void TraceCheck::note_fork(const LineParser& line, const Op& op) {
  Fork& fork = grown(forks_, op.child);
  if (fork.line != 0) {
    problems_.add(op.line, line.subject_column(), [&] {
      return fmt::format("{} was forked at line {} already: each copy of host {} has a name of its own", quote(line.subject()), fork.line,
                         names_.hosts()[names_.actors()[op.actor].host]);
    });
    return;
  }
  fork = {op.line, line.subject_column(), op.actor};
}

/// A copy that is to be forked by itself, or by its own copies, would never begin.
void TraceCheck::check_forks() {
  for (std::uint32_t child = 0; child < forks_.size(); ++child) {
    const Fork& fork = forks_[child];
    auto above = names_.child_of(fork.actor);
    // No line of ancestors is longer than there are names.
    for (std::size_t steps = 0; above && *above != child && steps < forks_.size(); ++steps) above = names_.child_of(forks_[*above].actor);
    if (above != child) continue;
    problems_.add(fork.line, fork.column, [&] {
      return fmt::format("{} runs in {} itself or in a copy of it: nobody is there to fork it", names_.actors()[fork.actor].name,
                         quote(names_.child_name(child)));
    });
  }
}

void TraceCheck::finish() {
  // A line that was not understood leaves its barrier one short and its object unmade: saying so as well would only mislead.
  if (!problems_.any()) {
    check_forks();
    check_barriers();
  }
  if (!names_lost_)
    for (const NamedAt& use : uses_) check_name(use);
}

void TraceCheck::check_barriers() {
  for (std::uint32_t i = 0; i < barriers_.size(); ++i) {
    const Barrier& barrier = barriers_[i];
    const auto tell = [&](auto text) { problems_.add(barrier.line, barrier.column, text); };
    if (barrier.actors.size() < barrier.n)
      tell([&] {
        return fmt::format("barrier {} has n={}, but only {} of the actors ever come to it", quote(names_.barrier_name(i)), barrier.n,
                           barrier.actors.size());
      });
    else if (barrier.arrivals % barrier.n != 0)
      tell([&] {
        return fmt::format("barrier {} has n={} and {} lines: the last to come would wait for ever", quote(names_.barrier_name(i)),
                           barrier.n, barrier.arrivals);
      });
  }
}

void TraceCheck::check_name(const NamedAt& use) {
  const auto [id, wanted, column] = use.reference;
  const std::uint8_t made = name(id).made;
  if (made & makers_of(wanted)) return;
  const std::uint32_t host = names_.host_of(id);
  const std::string& host_name = names_.hosts()[host];
  if (!is_known(host)) {
    // The host stands before the name and its dot.
    problems_.add(use.line, column - 1 - host_name.size(),
                  [&] { return fmt::format("no host is called {}; the trace has {}", quote(host_name), known_hosts()); });
    return;
  }
  problems_.add(use.line, column, [&, wanted = wanted, id = id] {
    const std::string& text = names_.object_name(id);
    if (wanted == Wanted::keyed_address && (made & made_buffer))
      return fmt::format("{} is a buffer of host {} and has no key: write ADDR:KEY, in sge= ADDR:LEN:KEY", quote(text), host_name);
    if (made) return fmt::format("{} of host {} is never {}", quote(text), host_name, noun(wanted));
    return fmt::format("no line of host {} makes {} called {}{}", host_name, noun(wanted), quote(text),
                       did_you_mean(text, made_names(host, wanted)));
  });
}

std::string TraceCheck::known_hosts() const {
  std::string out;
  for (std::uint32_t host = 0; host < names_.hosts().size(); ++host)
    if (is_known(host)) out += (out.empty() ? "" : ", ") + names_.hosts()[host];
  return out;
}

std::vector<std::string> TraceCheck::made_names(std::uint32_t host, Wanted wanted) const {
  // Names of other spaces carry other bits, except that PDs, CQs, QPs and SRQs share one: the space tells those apart.
  std::vector<std::string> out;
  for (NameId id = 1; id < made_.size(); ++id) {
    const bool there = names_.find_object(host, names_.object_name(id), space_of(wanted)) == id;
    if (there && (made_[id].made & makers_of(wanted))) out.push_back(names_.object_name(id));
  }
  return out;
}

}  // namespace mtsim::program

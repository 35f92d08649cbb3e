#include "record.h"

#include <fmt/format.h>

#include <algorithm>

#include "results/quoted.h"

namespace mtsim::replay {

std::vector<std::string> request_steps() { return {"post call", "until polled"}; }
std::string calls_header() { return "actor,line,call,begin_ns,end_ns,ns,errno,bytes,faults,lkey,rkey\n"; }

Record::Record(const program::Names& names, Files files)
    : names_(names), files_(files), hosts_(names.hosts().size()), actors_of_(names.hosts().size()) {
  // Threads of a host are numbered in the order of its actors.
  for (program::ActorId id = 0; id < names.actors().size(); ++id) actors_of_[names.actors()[id].host].push_back(id);
}

results::CallStats& Record::stats_of(program::Kind kind) {
  results::NamedCalls& stats = calls_[kind];
  if (stats.name.empty()) {
    stats.name = program::name(kind);
    stats.latency = results::LatencyTable({"call"});
  }
  return stats;
}

void Record::called(Who who, program::Kind kind, Timed timed, const CallFacts& facts) {
  results::CallStats& stats = stats_of(kind);
  ++stats.calls;
  if (facts.error != 0) {
    ++stats.failed[facts.error];
  } else {
    const Time span = timed.span();
    stats.bytes += facts.bytes;
    stats.pages += facts.pages;
    stats.latency.add(span, {&span, 1});
  }
  if (kind == program::Kind::reg_mr) registration_faults_ += facts.faults;
  if (files_.calls == nullptr) return;
  results::BlockWriter& out = *files_.calls;
  const program::ActorId actor = actors_of_[who.host][who.thread];
  out.add(results::quoted(names_.actors()[actor].name));
  out.add(',');
  out.add(running_ == nullptr ? std::uint64_t{0} : running_->line_of(actor));
  out.add(',');
  out.add(program::name(kind));
  for (const Time t : {timed.begin, timed.end, timed.span()}) {
    out.add(',');
    out.add_ns(t);
  }
  out.add(',');
  out.add(verbs::errno_name(facts.error));
  for (const std::uint64_t n : {facts.bytes.raw, facts.faults}) {
    out.add(',');
    out.add(n);
  }
  for (const Key key : {facts.lkey, facts.rkey}) {
    out.add(",0x");
    out.add_hex(key.raw);
  }
  out.add('\n');
}

void Record::registered(Bytes bytes) {
  pinned_ += bytes;
  pinned_most_ = std::max(pinned_most_, pinned_);
}

void Record::posted(std::uint32_t host, Side side, verbs::Handle queue, std::uint64_t wr, verbs::Opcode opcode, std::uint64_t bytes,
                    Timed timed) {
  Host& h = hosts_[host];
  h.requests[wr] = {side, queue, opcode, bytes, timed, false};
  if (side == Side::send) h.sends[queue].push_back(wr);
  if (side == Side::receive) h.receives[queue].push_back(wr);
}

const std::string& Record::queue(Host& host, std::uint32_t number, std::uint32_t qpn) {
  std::string& text = host.queues[qpn];
  if (text.empty()) text = results::OperationsFile::queue(names_.hosts()[number], host.qp_names[qpn], qpn);
  return text;
}

void Record::name_qp(program::NameId name, std::uint32_t qpn) {
  Host& host = hosts_[names_.host_of(name)];
  host.qp_names[qpn] = names_.object_name(name);
  host.queues.erase(qpn);
}

void Record::end(std::uint32_t host, std::uint64_t wr, const Request& request, std::uint32_t qpn, verbs::Status status, std::uint64_t bytes,
                 Time at, bool cqe) {
  // When a message for a receive came is not told: a receive has no latency.
  const bool receive = request.side != Side::send;
  const Time begin = receive ? at : request.post.begin;
  const std::array<Time, 2> ends{receive ? at : request.post.end, at};
  Kept& kept = operations_[std::size_t(request.opcode)];
  ++kept.completed;
  if (status == verbs::Status::SUCCESS) {
    kept.bytes += bytes;
    if (!receive) kept.latency.add_path(begin, ends);
  }
  if (files_.operations == nullptr) return;
  Host& h = hosts_[host];
  files_.operations->add({queue(h, host, qpn), wr, request.opcode, bytes, status, true, begin, ends, {}, 0, cqe});
}

verbs::Completion Record::completed(std::uint32_t host, std::uint64_t wr, verbs::Status status, std::uint32_t bytes, std::uint32_t qpn,
                                    Time at) {
  ++statuses_[std::size_t(status)];
  Host& h = hosts_[host];
  verbs::Completion out;
  out.wr = wr;
  out.status = status;
  const auto found = h.requests.find(wr);
  if (found == h.requests.end()) {
    if (const auto kept = h.refused.find(wr); kept != h.refused.end()) {
      out.opcode = kept->second.opcode;
      end(host, wr, kept->second, qpn, status, kept->second.bytes, at, true);
      h.refused.erase(kept);
    }
    return out;
  }
  const Request request = found->second;
  out.opcode = request.opcode;
  if (request.side != Side::send && status == verbs::Status::SUCCESS) out.bytes = bytes;
  if (request.side != Side::shared && !request.orphan) {
    std::deque<std::uint64_t>& order = (request.side == Side::send ? h.sends : h.receives)[request.queue];
    while (!order.empty() && order.front() != wr) {
      const std::uint64_t silent = order.front();
      order.pop_front();
      const auto earlier = h.requests.find(silent);
      end(host, silent, earlier->second, qpn, verbs::Status::SUCCESS, earlier->second.bytes, at, false);
      h.requests.erase(earlier);
    }
    if (!order.empty()) order.pop_front();
  }
  end(host, wr, request, qpn, status, request.side == Side::send ? request.bytes : out.bytes, at, true);
  h.requests.erase(wr);
  return out;
}

void Record::forget(std::uint32_t host, verbs::Handle qp, bool done, Time at) {
  Host& h = hosts_[host];
  for (auto* side : {&h.sends, &h.receives}) {
    const auto queue = side->find(qp);
    if (queue == side->end()) continue;
    for (const std::uint64_t wr : queue->second) {
      Request& request = h.requests.at(wr);
      request.orphan = true;
      if (!done || side == &h.receives) continue;
      end(host, wr, request, h.qpns[qp], verbs::Status::SUCCESS, request.bytes, at, false);
      h.requests.erase(wr);
    }
    side->erase(queue);
  }
}

void Record::fill(results::Report& report) const {
  for (unsigned i = 0; i < verbs::opcode_count; ++i) {
    const Kept& kept = operations_[i];
    if (kept.completed == 0) continue;
    report.operations.push_back({verbs::Opcode(i), kept.completed, kept.completed, Bytes(kept.bytes), kept.latency, {}});
  }
  report.completions = statuses_;
  using program::Kind;
  for (const auto& [kind, stats] : calls_) {
    if (kind == Kind::reg_mr) report.registration.reg_mr = stats;
    else if (kind == Kind::dereg_mr) report.registration.dereg_mr = stats;
    else if (kind == Kind::rereg_mr || kind == Kind::advise_mr) report.registration.others.push_back(stats);
    else report.calls.push_back(stats);
  }
  report.registration.pinned_now = pinned_;
  report.registration.pinned_most = pinned_most_;
  report.counters.push_back(
      {"registration.page_faults", "count", "page faults of threads while they were in reg_mr", registration_faults_, false});
}

}  // namespace mtsim::replay

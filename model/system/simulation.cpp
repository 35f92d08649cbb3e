#include "system/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "fabric/network.h"
#include "results/human.h"
#include "system/collect.h"
#include "system/collect_refusals.h"
#include "system/collect_waits.h"
#include "system/describe_queues.h"
#include "system/host.h"
#include "system/occupancy.h"
#include "system/recorders.h"

namespace mtsim::system {
namespace {

/// The program's hosts in the order of their names: ports, and so every tie within a picosecond, do not depend on the order in which a
/// trace mentions them.
std::vector<std::uint32_t> by_name(const std::vector<std::string>& hosts) {
  std::vector<std::uint32_t> order(hosts.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return hosts[a] < hosts[b]; });
  return order;
}

std::vector<std::uint32_t> threads_by_host(const program::Names& names) {
  std::vector<std::uint32_t> threads(names.hosts().size(), 0);
  for (const auto& actor : names.actors()) ++threads[actor.host];
  return threads;
}

}  // namespace

Simulation::Simulation(const Plan& plan, const Recording& recording) : plan_(plan), port_of_(plan.program->names().hosts().size()) {
  const program::Program& program = *plan.program;
  const program::Names& names = program.names();
  scheduler_ = std::make_unique<engine::Scheduler>("scheduler");
  scheduler_->set_end(plan.settings.run.limit);
  const auto count = static_cast<std::uint32_t>(names.hosts().size());
  switch_ = std::make_unique<fabric::Switch>("switch", *scheduler_, plan.settings.network, count);
  const auto threads = threads_by_host(names);
  std::uint32_t further = count;  // ranks of NICs beyond each host's first
  for (const std::uint32_t index : by_name(names.hosts())) {
    const HostSettings& s = plan.hosts[index];
    const std::uint32_t on_host = std::max(threads[index], 1u);
    const std::uint32_t said = program.cpus(index) != 0 ? program.cpus(index) : s.cpus;
    const auto port = static_cast<std::uint32_t>(hosts_.size());
    hosts_.push_back(std::make_unique<Host>(names.hosts()[index].c_str(), *scheduler_, s, said != 0 ? said : on_host, on_host, port,
                                            further, *switch_, plan.follows_data ? &hazards_ : nullptr));
    further += s.nics - 1;
    switch_->ends(hosts_.back()->nic);
    port_of_[index] = port;
  }
  meeting_ = std::make_unique<MeasuringMeeting>(*scheduler_, watches());
  recorders_ = std::make_unique<Recorders>(recording, program, hosts_, port_of_, *switch_, tally_);
  std::vector<verbs::Device*> devices;
  for (const std::uint32_t port : port_of_) devices.push_back(&recorders_->device(port));
  actors_ = std::make_unique<program::Actors>(program, std::move(devices), *meeting_, recorders_->observer(), plan.time);
}

Simulation::~Simulation() = default;

std::vector<MeasuringMeeting::Watch> Simulation::watches() {
  const program::Program& program = *plan_.program;
  std::vector<MeasuringMeeting::Watch> out{{program.start_barrier(), [this] { begin_window(); }}};
  const std::vector<program::Program::Phase> phases = program.phases();
  phases_.resize(phases.size());
  for (std::size_t i = 0; i < phases.size(); ++i) phases_[i].stats.name = phases[i].name;
  // One phase may begin where another ends.
  for (std::size_t i = 0; i < phases.size(); ++i) out.push_back({phases[i].end, [this, i] { end_phase(phases_[i]); }});
  for (std::size_t i = 0; i < phases.size(); ++i) out.push_back({phases[i].begin, [this, i] { begin_phase(phases_[i]); }});
  out.push_back({program.end_barrier(), [this] { end_window(); }});
  return out;
}

Bytes Simulation::registered() const {
  Bytes sum;
  using Call = ports::RegistrationRecord::Call;
  for (const auto& host : hosts_) sum += host->registrations.calls(Call::reg_mr).bytes + host->registrations.calls(Call::dereg_mr).bytes;
  return sum;
}

void Simulation::begin_phase(TimedPhase& phase) const {
  phase.begun = scheduler_->now();
  phase.registered = registered();
}

void Simulation::end_phase(TimedPhase& phase) const {
  ++phase.stats.times;
  phase.stats.time += scheduler_->now() - phase.begun;
  phase.stats.bytes += registered() - phase.registered;
}

void Simulation::begin_window() {
  for (const auto& host : hosts_) {
    host->operations.restart();
    host->registrations.restart();
  }
  at_start_ = collect();
  if (occupancy_) occupancy_->restart();
  recorders_->measure(true);
}

void Simulation::end_window() {
  at_end_ = collect();
  if (occupancy_) occupancy_->stop();
  recorders_->measure(false);
}

void Simulation::run(const std::function<void(const Heartbeat&)>& beat) {
  if (beat) scheduler_->set_heartbeat([this, &beat] { beat({scheduler_->now(), actors_->operations_begun()}); });
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  recorders_->begin();
  if (plan_.settings.run.measures) {
    occupancy_ = std::make_unique<Occupancy>(*scheduler_, hosts_, *switch_);
    occupancy_->restart();
  }
  actors_->start();
  sc_core::sc_start();
  if (occupancy_ && !at_end_) occupancy_->stop();
  recorders_->finish();
  scheduler_->set_heartbeat({});
}

results::Report Simulation::collect() const {
  results::Report report;
  report.window_end = report.simulated = scheduler_->now();
  for (const auto& host : hosts_) collect_host(*host, report);
  collect_network(*switch_, hosts_, report);
  collect_waits(hosts_, report);
  collect_refusals(hosts_, report);
  return report;
}

results::Report Simulation::report() const {
  results::Report report = at_end_ ? *at_end_ : collect();
  if (at_start_) subtract(report, *at_start_);
  if (occupancy_) report.occupancy = occupancy_->collect();
  std::erase_if(report.miss_chains, [](const results::MissChains& m) { return m.chains.empty(); });
  complete_contention(report);
  std::erase_if(report.hazards, [](const results::HazardStats& h) { return !h.stale.any() && !h.foreign.any(); });
  report.hazard_events = hazards_.collect(hosts_);
  report.simulated = scheduler_->now();
  report.version = MTSIM_VERSION;
  report.seed = plan_.settings.run.seed;
  report.config = plan_.config_text;
  report.config_hash = plan_.config_hash;
  report.trace = plan_.program->title();
  report.trace_hash = plan_.program->hash();
  report.partial = scheduler_->stopped() || !actors_->done();
  for (const TimedPhase& phase : phases_) report.phases.push_back(phase.stats);
  report.unexpected_total = tally_.surprises();
  for (const auto& s : tally_.first_surprises())
    report.unexpected.push_back({s.line, plan_.program->names().actors()[s.actor].name, s.operation, s.expected, s.got});
  for (unsigned kind = 0; kind < program::kind_count; ++kind)
    for (const auto& [error, count] : tally_.failures(program::Kind(kind)))
      report.failed_calls[std::string(program::name(program::Kind(kind)))][error] += count;
  return report;
}

std::vector<std::string> Simulation::killed() const {
  std::vector<std::string> lines;
  for (const auto& host : hosts_) {
    const auto& kill = host->kernel.memory_use().killed;
    if (!kill) continue;
    const auto bytes = [](Pages pages) { return results::human::bytes(page_bytes * pages.raw); };
    lines.push_back(fmt::format("{}: out of memory at {}: the kernel killed {}, and the run ends here", host->title,
                                results::human::time(kill->at), results::human::killed(kill->process, kill->processes)));
    lines.push_back(fmt::format("  {} of {} were its pages; {} were pinned by {} memory regions; {} lay in swap", bytes(kill->resident),
                                bytes(kill->size), bytes(kill->pinned), kill->regions, bytes(kill->swapped)));
  }
  if (!lines.empty())
    for (const std::string& actor : actors_->standing()) lines.push_back("  " + actor);
  return lines;
}

std::vector<std::string> Simulation::page_faults() const {
  std::vector<std::string> lines;
  for (const auto& host : hosts_) {
    const auto& fault = host->nic.walker.unserved_fault();
    if (!fault) continue;
    std::string operation;
    if (fault->local && fault->opcode == verbs::Opcode::recv) {
      operation = fmt::format("the receive wr={} of its QP {:#x}", fault->wr, fault->qpn);
    } else if (fault->local) {
      operation = fmt::format("the {} wr={} of its QP {:#x}", verbs::name(fault->opcode), fault->wr, fault->qpn);
    } else {
      const Host& peer = *hosts_[fault->source_port];
      const nic::Qp* qp = peer.nic.queue_pairs().find(fault->source_qpn);
      operation = fmt::format("a {}{} of {}'s QP {:#x}, at QP {:#x},", verbs::name(fault->opcode),
                              qp == nullptr ? "" : fmt::format(" (wr={})", qp->attributes.ring->at(fault->request).wr), peer.title,
                              fault->source_qpn, fault->qpn);
    }
    if (fault->reason == translate::Fault::key_of_keys) {
      lines.push_back(
          fmt::format("{}: {}: {} uses key {:#x} at address {:#x}, which is the key of an implicit on-demand region: its data path "
                      "is not modelled yet, and the run ends here",
                      host->title, results::human::time(fault->at), operation, fault->key.raw, fault->address.raw));
      lines.emplace_back("  An explicit region (access=od with addr= and len=) of the same memory can be used.");
      continue;
    }
    lines.push_back(fmt::format(
        "{}: {}: {} needs a page fault of the NIC at address {:#x} of key {:#x} ({}): serving page faults is not "
        "modelled yet, and the run ends here",
        host->title, results::human::time(fault->at), operation, fault->address.raw, fault->key.raw, translate::explain(fault->reason)));
    lines.push_back(
        fmt::format("  It would not if the memory were brought to the NIC before: touch it before reg_mr, or `advise_mr {} flush=1` "
                    "after whatever took it away.",
                    fault->writes ? "prefetch_write" : "prefetch"));
  }
  if (!lines.empty())
    for (std::string& actor : actors_->standing()) lines.push_back(std::move(actor.insert(0, "  ")));
  return lines;
}

std::vector<std::string> Simulation::stuck() const {
  std::vector<std::string> lines = killed();
  for (std::string& line : page_faults()) lines.push_back(std::move(line));
  if (!lines.empty()) return lines;
  if (actors_->done() || scheduler_->stopped()) return {};
  lines = actors_->standing();
  for (const auto& host : hosts_)
    for (const Host::Adapter& adapter : host->adapters()) describe_queues(host->title + "." + adapter.nic_name, adapter.nic, lines);
  for (std::string& line : lines) line.insert(0, "  ");
  const char* why = scheduler_->idle() ? "nothing moves any more" : "simulated time is over (run.limit)";
  lines.insert(lines.begin(), why + std::string(", and these have not ended:"));
  return lines;
}

}  // namespace mtsim::system

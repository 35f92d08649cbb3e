// Every field of a report, named once. An archive walks them: to write JSON or CSV, or to read JSON back. The key says what a figure
// is; its unit follows from the call: `time("busy", t)` is `busy_ns` in JSON, and unit `ns` in CSV.
//
// An archive offers group(key, f); count, bytes, time, total, number, text, flag and word for single values; errnos, statuses, steps
// and table for what has a form of its own; items(key, vector, member that is each item's key, f) and list(key, vector, f);
// series(key, vector of times or bytes); and
// derived(key, ...) for figures that a reader leaves alone.
#pragma once

#include <string>

#include "results/derived.h"
#include "results/report.h"

namespace mtsim::results {

template <class Archive, class Op>
void operation_fields(Archive& a, Op& o) {
  a.count("posted", o.posted);
  a.count("completed", o.completed);
  a.bytes("", o.bytes);
}

/// Of operations that waited for anything.
template <class Archive, class Op>
void wait_fields(Archive& a, Op& o) {
  const TotalTime latency = o.latency.latency().sum();
  const std::uint64_t n = o.latency.latency().count();
  const auto share = [&](TotalTime part) {
    return latency.raw <= 0 ? 0.0 : static_cast<double>(part.raw) / static_cast<double>(latency.raw);
  };
  if (!o.waits.empty())
    a.group("service", [&](auto& in) {
      in.derived("", "share", share(service(o)));
      in.derived("mean", "ns", mean_ns(service(o), n));
    });
  a.items("waited_for", o.waits, &WaitStats::name, [&](auto& in, auto& w) {
    in.derived("", "share", share(w.total));
    in.derived("mean", "ns", mean_ns(w.total, n));
    in.time("p99", w.p99);
    in.time("max", w.longest);
    in.count("operations", w.operations);
    in.total("total", w.total);
  });
}

template <class Archive, class Call>
void call_fields(Archive& a, Call& c) {
  a.count("calls", c.calls);
  a.errnos("failed", c.failed);
  a.bytes("", c.bytes);
  a.count("pages", c.pages.raw);
  a.table("latency", c.latency);
}

template <class Archive, class Registration, class R>
void registration_fields(Archive& a, Registration& r, const R& report) {
  a.bytes("pinned_now", r.pinned_now);
  a.bytes("pinned_most", r.pinned_most);
  a.group("reg_mr", [&](auto& in) { call_fields(in, r.reg_mr); });
  a.group("dereg_mr", [&](auto& in) { call_fields(in, r.dereg_mr); });
  a.items("others", r.others, &NamedCalls::name, [](auto& in, auto& c) { call_fields(in, c); });
  a.items("contention", r.contention, &Contention::name, [&](auto& in, auto& c) {
    in.text("host", c.host);
    in.count("calls", c.calls);
    in.total("alone_total", c.alone);
    in.total("kept_total", c.kept);
    in.derived("full_from", "threads", full_from_threads(report, c));
  });
}

template <class Archive, class Phase>
void phase_fields(Archive& a, Phase& p) {
  a.count("times", p.times);
  a.time("time", p.time);
  a.bytes("", p.bytes);
  a.derived("rate", "gbyte_per_s", bytes_per_s(p) / 1e9);
}

template <class Archive, class Memory>
void memory_fields(Archive& a, Memory& m) {
  a.count("swapped_out", m.swapped_out);
  a.count("swapped_in", m.swapped_in);
  a.count("dropped", m.dropped);
  a.count("migrated", m.migrated);
  a.count("killed", m.killed);
  a.time("killed_at", m.killed_at);
  a.bytes("size", m.size);
  a.bytes("resident", m.resident);
  a.bytes("pinned", m.pinned);
  a.count("pinned_regions", m.pinned_regions);
  a.bytes("in_swap", m.in_swap);
  a.text("killed_process", m.killed_process);
  a.count("processes", m.processes);
  a.count("left_pins", m.left_pins);
}

template <class Archive, class Hazard>
void hazard_fields(Archive& a, Hazard& h) {
  const auto counts = [](auto& in, auto& c) {
    in.count("requests", c.requests);
    in.count("receives", c.receives);
    in.count("transfers", c.transfers);
  };
  a.group("stale", [&](auto& in) { counts(in, h.stale); });
  a.group("foreign", [&](auto& in) { counts(in, h.foreign); });
}

template <class Archive, class Event>
void hazard_event_fields(Archive& a, Event& e) {
  a.text("kind", e.kind);
  a.time("at", e.at);
  a.text("host", e.host);
  a.text("operation", e.operation);
  a.flag("writes", e.writes);
  a.count("address", e.address);
  a.count("key", e.key);
  a.count("memory", e.memory);
  a.word("why", e.why, hazard_reason_names);
}

template <class Archive, class Series>
void memory_series_fields(Archive& a, Series& s) {
  a.series("at", s.at);
  a.series("free", s.free);
  a.series("pinned", s.pinned);
  a.series("swapped", s.swapped);
}

template <class Archive, class Series>
void occupancy_fields(Archive& a, Series& o) {
  a.time("from", o.from);
  a.series("at", o.at);
  a.items("units", o.units, &Occupancy::Unit::name, [](auto& in, auto& unit) {
    in.count("capacity", unit.capacity);
    in.flag("level", unit.level);
    in.series("in_use", unit.in_use);
  });
}

template <class Archive, class Cache>
void cache_fields(Archive& a, Cache& c) {
  a.count("lookups", c.lookups);
  a.count("hits", c.hits);
  a.count("misses_cold", c.misses_cold);
  a.count("misses_capacity", c.misses_capacity);
  a.count("misses_conflict", c.misses_conflict);
  a.count("evictions", c.evictions);
  a.count("fetches_in_flight_most", c.fetches_most);
  a.derived("miss_latency_mean", "ns", mean_ns(c.miss_time, c.misses()));
  a.time("miss_latency_max", c.miss_longest);
  a.total("miss_latency_total", c.miss_time);
}

template <class Archive, class Chains>
void chain_fields(Archive& a, Chains& m, Time window) {
  a.count("without_miss", m.without);
  a.count("at_once_most", m.most);
  a.items("chains", m.chains, &MissChains::Chain::lines, [&](auto& in, auto& c) {
    in.count("length", c.length);
    in.count("lookups", c.lookups);
    in.derived("mean", "ns", mean_ns(c.total, c.lookups));
    in.time("max", c.longest);
    in.total("total", c.total);
    in.derived("at_once_mean", "count", window.raw <= 0 ? 0.0 : static_cast<double>(c.total.raw) / static_cast<double>(window.raw));
  });
}

template <class Archive, class Resource>
void resource_fields(Archive& a, Resource& r, Time window) {
  a.word("kind", r.kind, resource_kind_names);
  a.count("capacity", r.capacity);
  a.derived("utilisation", "share", utilisation(r, window));
  a.time("busy", r.busy);
  a.count("requests", r.requests);
  a.derived("wait_mean", "ns", mean_ns(r.waited, r.requests));
  a.time("wait_max", r.longest_wait);
  a.total("wait_total", r.waited);
  a.count("most_in_use", r.most_in_use);
  a.bytes("", r.bytes);
  a.text("note", r.note);
}

template <class Archive, class Pcie>
void pcie_fields(Archive& a, Pcie& p) {
  a.count("reads", p.reads);
  a.count("writes", p.writes);
  a.count("completions", p.completions);
  a.bytes("payload", p.payload);
  a.bytes("header", p.header);
  a.count("tag_stalls", p.tag_stalls);
  a.time("tag_stall", p.tag_stall_time);
  a.count("credit_stalls", p.credit_stalls);
  a.time("credit_stall", p.credit_stall_time);
  a.time("busy", p.busy);
}

template <class Archive, class Cpu>
void cpu_fields(Archive& a, Cpu& c, Time window) {
  const double whole = static_cast<double>(c.cpus) * static_cast<double>(window.raw);
  a.count("cpus", c.cpus);
  a.time("user", c.user);
  a.time("system_call", c.system_call);
  a.steps("registration", c.registration);
  a.derived("registration", "share", whole <= 0 ? 0.0 : static_cast<double>(c.registering().raw) / whole);
  a.time("interrupt", c.interrupt);
  a.time("polling", c.polling);
  a.time("idle", c.idle);
}

template <class Archive, class Port>
void port_fields(Archive& a, Port& p) {
  a.count("packets", p.packets);
  a.bytes("", p.bytes);
  a.bytes("deepest_queue", p.deepest_queue);
}

template <class Archive, class R>
void summary_fields(Archive& a, R& r) {
  a.time("simulated", r.simulated);
  a.time("window_start", r.window_start);
  a.time("window_end", r.window_end);
  a.derived("operations", "count", completed_operations(r));
  a.derived("", "bytes", payload(r).raw);
  a.derived("goodput", "gbit_per_s", goodput_bits_per_s(r) / 1e9);
  a.derived("operations_rate", "per_s", operations_per_s(r));
  a.derived("registration_cpu", "share", registration_cpu_share(r));
  a.derived("what_saturates", "text", what_saturates(r));
  a.statuses("completions", r.completions);
  a.count("unexpected", r.unexpected_total);
  a.count("refused", r.refusals_total);
}

template <class Archive, class R>
void fault_fields(Archive& a, R& r) {
  a.errnos("failed_calls", r.failed_calls);
  a.list("unexpected", r.unexpected, [](auto& in, auto& u) {
    in.count("line", u.line);
    in.text("actor", u.actor);
    in.text("operation", u.operation);
    in.text("expected", u.expected);
    in.text("got", u.got);
  });
  a.list("refused", r.refusals, [](auto& in, auto& u) {
    in.time("at", u.at);
    in.text("host", u.host);
    in.count("qpn", u.qpn);
    in.text("operation", u.operation);
    in.text("reason", u.reason);
    in.text("detail", u.detail);
  });
}

/// All of a report but the `machine` part, section by section in the order of the JSON.
template <class Archive, class R>
void report_fields(Archive& a, R& r) {
  a.count("seed", r.seed);
  a.group("trace", [&](auto& in) {
    in.text("name", r.trace);
    in.text("hash", r.trace_hash);
  });
  a.flag("partial", r.partial);
  a.text("measured_on", r.measured_on);
  a.group("summary", [&](auto& in) { summary_fields(in, r); });
  a.items("operations", r.operations, &OperationStats::opcode, [](auto& in, auto& o) { operation_fields(in, o); });
  a.group("latency", [&](auto& in) {
    for (auto& o : r.operations) in.table(std::string(verbs::name(o.opcode)), o.latency);
  });
  a.group("waits", [&](auto& in) {
    for (auto& o : r.operations) in.group(std::string(verbs::name(o.opcode)), [&](auto& each) { wait_fields(each, o); });
  });
  a.items("phases", r.phases, &PhaseStats::name, [](auto& in, auto& p) { phase_fields(in, p); });
  a.group("registration", [&](auto& in) { registration_fields(in, r.registration, r); });
  a.items("calls", r.calls, &NamedCalls::name, [](auto& in, auto& c) { call_fields(in, c); });
  a.items("memory", r.memory, &MemoryStats::host, [](auto& in, auto& m) { memory_fields(in, m); });
  a.items("memory_series", r.memory_series, &MemorySeries::host, [](auto& in, auto& s) { memory_series_fields(in, s); });
  a.group("hazards", [&](auto& in) {
    in.items("hosts", r.hazards, &HazardStats::host, [](auto& each, auto& h) { hazard_fields(each, h); });
    in.list("first", r.hazard_events, [](auto& each, auto& e) { hazard_event_fields(each, e); });
  });
  a.group("occupancy", [&](auto& in) {
    if (in.has("at_ns", !r.occupancy.units.empty())) occupancy_fields(in, r.occupancy);
  });
  const Time window = r.window();
  a.items("caches", r.caches, &CacheStats::name, [](auto& in, auto& c) { cache_fields(in, c); });
  a.items("miss_chains", r.miss_chains, &MissChains::name, [&](auto& in, auto& m) { chain_fields(in, m, window); });
  a.items("resources", r.resources, &ResourceStats::name, [&](auto& in, auto& s) { resource_fields(in, s, window); });
  a.items("pcie", r.pcie, &PcieStats::name, [](auto& in, auto& p) { pcie_fields(in, p); });
  a.items("cpu", r.cpus, &CpuStats::host, [&](auto& in, auto& c) { cpu_fields(in, c, window); });
  a.items("network", r.ports, &PortStats::name, [](auto& in, auto& p) { port_fields(in, p); });
  a.items("counters", r.counters, &Counter::name, [](auto& in, auto& c) {
    in.count("value", c.value);
    in.text("unit", c.unit);
    in.text("meaning", c.meaning);
  });
  a.group("faults", [&](auto& in) { fault_fields(in, r); });
  a.group("config", [&](auto& in) {
    in.text("hash", r.config_hash);
    in.text("yaml", r.config);
  });
}

template <class Archive, class M>
void machine_fields(Archive& a, M& m) {
  a.number("wall_s", m.wall_s);
  a.number("operations_per_s", m.operations_per_s);
  a.number("events_per_s", m.events_per_s);
}

}  // namespace mtsim::results

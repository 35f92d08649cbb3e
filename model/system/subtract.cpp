#include "system/collect.h"

namespace mtsim::system {

namespace {

/// Others may have come up since.
void subtract_chains(results::MissChains& chains, const results::MissChains& start) {
  chains.without -= start.without;
  for (results::MissChains::Chain& c : chains.chains)
    for (const results::MissChains::Chain& s : start.chains) {
      if (s.lines != c.lines) continue;
      c.lookups -= s.lookups;
      c.total -= s.total;
    }
  std::erase_if(chains.chains, [](const results::MissChains::Chain& c) { return c.lookups == 0; });
}

}  // namespace

void subtract(results::Report& report, const results::Report& start) {
  report.window_start = start.window_end;
  for (results::MemoryStats& m : report.memory)
    for (const results::MemoryStats& s : start.memory) {
      if (s.host != m.host) continue;
      m.swapped_out -= s.swapped_out;
      m.swapped_in -= s.swapped_in;
      m.dropped -= s.dropped;
      m.migrated -= s.migrated;
      m.left_pins -= s.left_pins;
    }
  // Requests and receives are counted anew when the window begins.
  for (std::size_t i = 0; i < report.hazards.size(); ++i) {
    report.hazards[i].stale.transfers -= start.hazards[i].stale.transfers;
    report.hazards[i].foreign.transfers -= start.hazards[i].foreign.transfers;
  }
  for (std::size_t i = 0; i < report.caches.size(); ++i) {
    results::CacheStats& c = report.caches[i];
    const results::CacheStats& s = start.caches[i];
    c.lookups -= s.lookups;
    c.hits -= s.hits;
    c.misses_cold -= s.misses_cold;
    c.misses_capacity -= s.misses_capacity;
    c.misses_conflict -= s.misses_conflict;
    c.evictions -= s.evictions;
    c.miss_time -= s.miss_time;
  }
  for (results::MissChains& m : report.miss_chains)
    for (const results::MissChains& s : start.miss_chains)
      if (s.name == m.name) subtract_chains(m, s);
  for (std::size_t i = 0; i < report.resources.size(); ++i) {
    results::ResourceStats& r = report.resources[i];
    const results::ResourceStats& s = start.resources[i];
    r.busy -= s.busy;
    r.requests -= s.requests;
    r.waited -= s.waited;
    r.bytes -= s.bytes;
  }
  for (std::size_t i = 0; i < report.pcie.size(); ++i) {
    results::PcieStats& p = report.pcie[i];
    const results::PcieStats& s = start.pcie[i];
    p.reads -= s.reads;
    p.writes -= s.writes;
    p.completions -= s.completions;
    p.payload -= s.payload;
    p.header -= s.header;
    p.tag_stalls -= s.tag_stalls;
    p.tag_stall_time -= s.tag_stall_time;
    p.credit_stalls -= s.credit_stalls;
    p.credit_stall_time -= s.credit_stall_time;
    p.busy -= s.busy;
  }
  for (std::size_t i = 0; i < report.cpus.size(); ++i) {
    results::CpuStats& c = report.cpus[i];
    const results::CpuStats& s = start.cpus[i];
    c.user -= s.user;
    c.system_call -= s.system_call;
    for (std::size_t j = 0; j < c.registration.size(); ++j) c.registration[j].time -= s.registration[j].time;
    c.interrupt -= s.interrupt;
    c.polling -= s.polling;
    c.idle -= s.idle;
  }
  for (std::size_t i = 0; i < report.ports.size(); ++i) {
    report.ports[i].packets -= start.ports[i].packets;
    report.ports[i].bytes -= start.ports[i].bytes;
  }
  for (std::size_t i = 0; i < report.counters.size(); ++i)
    if (!report.counters[i].level) report.counters[i].value -= start.counters[i].value;
}

}  // namespace mtsim::system

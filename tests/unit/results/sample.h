// A report with something in every part, small enough to check by hand.
#pragma once

#include <cerrno>

#include "results/report.h"

namespace mtsim::results::sample {

inline LatencyTable table(std::vector<std::string> steps, std::initializer_list<std::vector<Time>> operations) {
  LatencyTable out(std::move(steps));
  for (const std::vector<Time>& by_step : operations) {
    Time sum;
    for (const Time t : by_step) sum += t;
    out.add(sum, by_step);
  }
  return out;
}

/// One host, two CPUs, a window of 100 us; three WRITEs, one of which fails.
inline Report report() {
  Report r;
  r.version = "0.1.0";
  r.seed = 7;
  r.config_hash = "c0ffee";
  r.config = "nic:\n  clock: 1GHz\n";
  r.trace = "pool.mtrace";
  r.trace_hash = "beef";
  r.simulated = us(120);
  r.window_start = us(20);
  r.window_end = us(120);

  OperationStats write;
  write.opcode = verbs::Opcode::write;
  write.posted = 4;
  write.completed = 3;
  write.bytes = KiB(8);
  write.latency = table({"doorbell", "translation", "wire"}, {{ns(100), ps(500), us(1)}, {ns(300), ps(1'001), us(2)}});
  write.waits = {{"schedule: contexts", 1, TotalTime(ns(300).raw), ns(300), ns(300)},
                 {"translation: walk slot", 2, TotalTime(ps(1'200).raw), ps(700), ps(700)}};
  r.operations.push_back(write);
  r.completions[std::size_t(verbs::Status::SUCCESS)] = 2;
  r.completions[std::size_t(verbs::Status::REM_ACCESS_ERR)] = 1;
  r.unexpected_total = 1;
  r.unexpected.push_back({17, "a.t0", "poll cq wr=3", "SUCCESS", "REM_ACCESS_ERR"});
  r.failed_calls["reg_mr"][ENOMEM] = 1;

  CallStats& reg = r.registration.reg_mr;
  reg.calls = 2;
  reg.failed[ENOMEM] = 1;
  reg.bytes = MiB(1);
  reg.pages = Pages(256);
  reg.latency = table({"syscall", "pin"}, {{us(1), us(29)}});
  r.registration.pinned_now = MiB(1);
  r.registration.pinned_most = MiB(2);

  r.registration.contention.push_back({"a.kernel.umr_qp", "a", 2, total(us(25)), total(us(50))});
  r.memory_series.push_back({"a", {Time(0), us(1)}, {MiB(64), MiB(63)}, {Bytes(0), MiB(1)}, {Bytes(0), KiB(8)}});

  r.caches.push_back({"a.nic.mtt_cache", 10, 6, 3, 1, 0, 1, 2, TotalTime(ns(1'600).raw), ns(500)});
  r.miss_chains.push_back(
      {"a.nic", 6, 2, {{"mpt, mtt", 2, 1, TotalTime(ns(900).raw), ns(900)}, {"mtt", 1, 3, TotalTime(us(1).raw), ns(400)}}});
  r.occupancy = {us(20), {us(70), us(120)}, {{"a.nic.walker.walks", 32, false, {0.25, 31.9}}, {"a.nic.requests", 0, true, {16, 3}}}};
  r.resources.push_back({"a.kernel.umr_qp", ResourceKind::server, 1, us(40), 3, TotalTime(us(3).raw), us(2), 1, Bytes(0), ""});
  r.resources.push_back({"a.cpu", ResourceKind::cpu, 2, us(190), 9, TotalTime(0), Time(0), 2, Bytes(0), "2.1 GHz"});
  PcieStats up;
  up.name = "a.pcie.up";
  up.reads = 5;
  up.writes = 3;
  up.payload = Bytes(192);
  up.header = Bytes(160);
  up.tag_stalls = 1;
  up.tag_stall_time = ns(50);
  up.busy = us(1);
  r.pcie.push_back(up);
  CpuStats cpu;
  cpu.host = "a";
  cpu.cpus = 2;
  cpu.user = us(100);
  cpu.system_call = us(20);
  cpu.registration = {{"syscall", us(1)}, {"pin", us(69)}};
  cpu.idle = us(10);
  r.cpus.push_back(cpu);
  r.ports.push_back({"switch.a", 12, Bytes(9'000), Bytes(4'200)});
  r.counters.push_back({"a.nic.doorbells", "count", "doorbell writes that reached the NIC", 4});
  r.machine = Machine{0.5, 6.0, 100.25};
  return r;
}

/// As much of everything as a large run has, with long names.
inline Report crowded() {
  Report r = report();
  const std::vector<std::string> steps{
      "doorbell",  "wqe fetch",       "key check", "translation", "dma read", "wire", "responder key check", "responder translation",
      "dma write", "acknowledgement", "completion"};
  r.operations.clear();
  for (unsigned code = 0; code < verbs::opcode_count; ++code) {
    OperationStats o;
    o.opcode = verbs::Opcode(code);
    o.posted = o.completed = 123'456'789;
    o.latency = table(steps, {std::vector<Time>(steps.size(), ns(123'456))});
    for (unsigned wait = 0; wait < 12; ++wait)
      o.waits.push_back(
          {"responder look-up: PCIe up: payload reads " + std::to_string(wait), 1, TotalTime(ns(20'000).raw), ns(20'000), ns(20'000)});
    r.operations.push_back(o);
  }
  r.registration.dereg_mr = r.registration.reg_mr;
  r.registration.reg_mr.latency = r.registration.dereg_mr.latency = r.operations.front().latency;
  for (unsigned i = 0; i < 20; ++i) {
    const std::string host = "a_host_with_a_rather_long_name_" + std::to_string(i);
    const auto renamed = [&](auto item, auto name) {
      item.*name = host + "." + item.*name;
      return item;
    };
    r.caches.push_back(renamed(r.caches.front(), &CacheStats::name));
    r.miss_chains.push_back(renamed(r.miss_chains.front(), &MissChains::name));
    r.resources.push_back(renamed(r.resources.front(), &ResourceStats::name));
    r.pcie.push_back(renamed(r.pcie.front(), &PcieStats::name));
    r.cpus.push_back(renamed(r.cpus.front(), &CpuStats::host));
    r.unexpected.push_back(r.unexpected.front());
    r.failed_calls["call_" + std::to_string(i)][EINVAL] = 1'000;
  }
  r.resources.back().busy = us(99);
  r.resources.back().note = "a note that says a good deal more about the resource than anybody would want to read here";
  r.unexpected_total = 21;
  r.completions.fill(123'456);
  return r;
}

}  // namespace mtsim::results::sample

#include "system/collect.h"

#include <fmt/format.h>

#include <algorithm>

#include "system/collect_caches.h"
#include "system/collect_pcie.h"

namespace mtsim::system {
namespace {

using results::ResourceKind;

results::ResourceStats resource(std::string name, ResourceKind kind, std::uint64_t capacity, const engine::Usage& usage) {
  results::ResourceStats r;
  r.name = std::move(name);
  r.kind = kind;
  r.capacity = capacity;
  r.busy = usage.busy;
  r.requests = usage.requests;
  r.waited = results::total(usage.wait_total);
  r.longest_wait = usage.wait_longest;
  r.most_in_use = usage.most;
  return r;
}

void add_operations(const Host& host, results::Report& report) {
  for (unsigned i = 0; i < verbs::opcode_count; ++i) {
    const OperationLog::Kept& kept = host.operations.kept()[i];
    if (kept.ended == 0) continue;
    const auto opcode = verbs::Opcode(i);
    auto at = std::find_if(report.operations.begin(), report.operations.end(), [&](const auto& o) { return o.opcode >= opcode; });
    if (at == report.operations.end() || at->opcode != opcode) {
      at = report.operations.insert(at, results::OperationStats{});
      at->opcode = opcode;
    }
    at->posted += kept.ended;
    at->completed += kept.ended;
    at->bytes += Bytes(kept.bytes);
    at->latency.merge(kept.latency);
  }
  for (unsigned i = 0; i < verbs::status_count; ++i) report.completions[i] += host.operations.statuses()[i];
}

void add_calls(const results::CallStats& from, results::CallStats& to) {
  to.calls += from.calls;
  for (const auto& [error, count] : from.failed) to.failed[error] += count;
  to.bytes += from.bytes;
  to.pages += from.pages;
  to.latency.merge(from.latency);
}

void add_other_calls(const RegistrationLog& log, results::Report& report) {
  using Call = ports::RegistrationRecord::Call;
  for (const Call call : {Call::rereg_mr, Call::advise_mr, Call::invalidation, Call::worker}) {
    const results::CallStats& calls = log.calls(call);
    if (calls.calls == 0) continue;
    const char* name = ports::registration_call_names[unsigned(call)];
    auto& others = report.registration.others;
    auto at = std::find_if(others.begin(), others.end(), [&](const auto& other) { return other.name == name; });
    if (at == others.end()) {
      at = others.emplace(others.end());
      at->name = name;
    }
    add_calls(calls, *at);
  }
}

/// What registrations of a host take one after the other. Not the mmap lock: they share it, unless others want it alone.
bool serves_registrations(const std::string& resource, const std::string& host) {
  const bool of_firmware = resource.starts_with(host + ".nic") && resource.find(".firmware.") != std::string::npos;
  return of_firmware || (resource.starts_with(host + ".kernel.") && !resource.ends_with(".mmap_lock"));
}
/// Faults outside of registrations pass it, too: what these keep it and wait for it is known call by call.
bool serves_others(const std::string& resource) { return resource.ends_with(".kernel.page_allocator"); }

/// To be completed when it is known what happened to the resources within the window.
void add_contention(const std::string& name, const ports::RegistrationCost& cost, std::uint64_t calls, results::Report& report) {
  if (calls == 0) return;
  results::TotalTime alone = results::total(Time() - cost.queued);
  for (const Time step : cost.steps) alone += results::total(step);
  for (const results::ResourceStats& r : report.resources)
    if (serves_registrations(r.name, name))
      report.registration.contention.push_back(
          {r.name, name, calls, alone, results::total(serves_others(r.name) ? cost.shared_faults : Time())});
}

void add_memory(const std::string& name, const ports::MemoryUse& use, results::Report& report) {
  if (use.swapped_out + use.swapped_in + use.dropped + use.migrated + use.left_pins == 0 && !use.killed) return;
  results::MemoryStats m;
  m.host = name;
  m.swapped_out = use.swapped_out;
  m.swapped_in = use.swapped_in;
  m.dropped = use.dropped;
  m.migrated = use.migrated;
  m.left_pins = use.left_pins;
  if (use.killed) {
    m.killed = 1;
    m.killed_at = use.killed->at;
    m.size = page_bytes * use.killed->size.raw;
    m.resident = page_bytes * use.killed->resident.raw;
    m.pinned = page_bytes * use.killed->pinned.raw;
    m.in_swap = page_bytes * use.killed->swapped.raw;
    m.pinned_regions = use.killed->regions;
    m.killed_process = use.killed->process;
    m.processes = use.killed->processes;
  }
  report.memory.push_back(std::move(m));
}

void add_hazards(const Host& host, results::Report& report) {
  if (host.watch == nullptr) return;
  results::HazardStats& h = report.hazards.emplace_back();
  h.host = host.title;
  const auto counts = [&](verbs::Hazard kind, std::uint64_t transfers) {
    const OperationLog::Wrong& wrong = host.operations.wrong(kind);
    return results::HazardStats::Counts{wrong.requests, wrong.receives, transfers};
  };
  h.stale = counts(verbs::Hazard::stale, host.watch->transfers().stale);
  h.foreign = counts(verbs::Hazard::foreign, host.watch->transfers().foreign);
}

void add_memory_series(const std::string& name, const kernel::MemorySeries& series, results::Report& report) {
  results::MemorySeries& out = report.memory_series.emplace_back();
  out.host = name;
  for (const kernel::MemorySeries::Point& point : series.points()) {
    out.at.push_back(point.at);
    out.free.push_back(page_bytes * point.levels.free.raw);
    out.pinned.push_back(page_bytes * point.levels.pinned.raw);
    out.swapped.push_back(page_bytes * point.levels.swapped.raw);
  }
}

void add_pcie(const std::string& name, const Host::Adapter& adapter, results::Report& report) {
  const pcie::Link::Counts& c = adapter.pcie.counts();
  const engine::Usage tags = adapter.nic.dma.tag_usage();
  results::PcieStats up;
  up.name = name + "." + adapter.pcie_name + ".up";
  const pcie::TlpCount reads = c.reads.all(), writes = c.writes.all(), completions = c.completions.all(), stores = c.mmio_writes.all();
  up.reads = reads.tlps;
  up.writes = writes.tlps;
  up.payload = Bytes(writes.payload_bytes);
  up.header = Bytes(reads.header_bytes + writes.header_bytes);
  up.credit_stalls = adapter.nic.dma.credit_usage().waited;
  up.credit_stall_time = adapter.nic.dma.credit_usage().wait_total;
  up.tag_stalls = tags.waited;
  up.tag_stall_time = tags.wait_total;
  up.busy = adapter.pcie.up_usage().busy;
  report.pcie.push_back(up);
  results::PcieStats down;
  down.name = name + "." + adapter.pcie_name + ".down";
  down.writes = stores.tlps;
  down.completions = completions.tlps;
  down.payload = Bytes(completions.payload_bytes + stores.payload_bytes);
  down.header = Bytes(completions.header_bytes + stores.header_bytes);
  down.busy = adapter.pcie.down_usage().busy;
  report.pcie.push_back(down);
}

/// What stands for one of the host's NICs in names of the kernel's own: nothing for the first.
std::string kernel_name(const std::string& name, std::uint32_t nic) {
  return nic == 0 ? name + ".kernel." : fmt::format("{}.kernel.nic{}.", name, nic);
}

/// What all threads of a process share in the kernel, and what all processes do.
void add_shared_state(const std::string& name, Host& host, results::Report& report) {
  const auto add = [&](const std::string& what, const engine::Usage& usage) {
    report.resources.push_back(resource(name + ".kernel." + what, ResourceKind::server, 1, usage));
  };
  const kernel::Processes& processes = host.kernel.processes();
  const Time now = report.window_end;
  processes.for_each([&](const kernel::Process& process) {
    const std::string of = process.name.empty() ? "" : process.name + ".";
    const kernel::SharedState& shared = process.shared;
    add(of + "mmap_lock", shared.mmap_lock.usage());
    add(of + "mmap_lock_count", shared.mmap_count.usage(now));
    add(of + "pinned_vm", shared.pinned_vm.usage(now));
    add(of + "mm_count", shared.mm_count.usage(now));
  });
  add("page_allocator", engine::usage_up_to(processes.page_allocator, now));
}

void add_resources(const std::string& name, Host& host, std::uint32_t number, results::Report& report) {
  const auto add = [&](results::ResourceStats r) { report.resources.push_back(std::move(r)); };
  const Host::Adapter& adapter = host.adapters()[number];
  nic::Nic& nic = adapter.nic;
  pcie::Link& pcie = adapter.pcie;
  const std::string on = name + "." + adapter.nic_name;
  const std::string rate = fmt::format("{:.1f} Gb/s", static_cast<double>(host.settings.pcie.rate().raw) / 1e9);
  auto up = resource(name + "." + adapter.pcie_name + ".up", ResourceKind::link, 1, pcie.up_usage());
  up.bytes = Bytes(pcie.counts().writes.all().payload_bytes);
  up.note = rate;
  add(std::move(up));
  auto down = resource(name + "." + adapter.pcie_name + ".down", ResourceKind::link, 1, pcie.down_usage());
  down.bytes = Bytes(pcie.counts().completions.all().payload_bytes + pcie.counts().mmio_writes.all().payload_bytes);
  down.note = rate;
  add(std::move(down));
  const kernel::RdmaDevice& device = host.kernel.device(number);
  for (const kernel::TableWriter::Lock& lock : device.table_locks())
    add(resource(kernel_name(name, number) + lock.name, ResourceKind::pool, lock.places->places(), lock.places->usage()));
  if (const engine::Server* lock = device.dma_mapper().rbtree_lock(); lock != nullptr)
    add(resource(kernel_name(name, number) + "iova_rbtree", ResourceKind::server, 1, lock->usage()));
  if (number == 0) add_shared_state(name, host, report);
  if (const host::Iommu* iommu = host.root_complex.iommu(); iommu != nullptr && number == 0)
    add(resource(name + ".iommu.walks", ResourceKind::pool, iommu->places(), iommu->usage(report.window_end)));
  add(resource(on + ".dma.tags", ResourceKind::pool, nic.dma.tags(), nic.dma.tag_usage()));
  add(resource(on + ".dma.write_buffer", ResourceKind::pool, 1, nic.dma.write_usage()));
  add(resource(on + ".requester.pipe", ResourceKind::server, 1, nic.requester.pipe().usage()));
  add(resource(on + ".requester.contexts", ResourceKind::pool, nic.requester.contexts().places(), nic.requester.contexts().usage()));
  add(resource(on + ".responder.pipe", ResourceKind::server, 1, nic.responder.pipe().usage()));
  add(resource(on + ".responder.contexts", ResourceKind::pool, nic.responder.contexts().places(), nic.responder.contexts().usage()));
  add(resource(on + ".walker.walks", ResourceKind::pool, nic.walker.walks().places(), nic.walker.walks().usage()));
  add(resource(on + ".firmware.slots", ResourceKind::pool, nic.firmware.slots().places(), nic.firmware.slots().usage()));
  add(resource(on + ".firmware.processor", ResourceKind::server, 1, nic.firmware.processor().usage()));
  add(resource(on + ".firmware.umr", ResourceKind::server, 1, nic.firmware.umr_unit().usage()));
}

void add_cpu(const std::string& name, Host& host, results::Report& report) {
  const ports::CpuTimes times = host.cpus.times();
  results::CpuStats s;
  s.host = name;
  s.cpus = host.cpus.cpus();
  s.user = times[ports::Work::user] + times[ports::Work::compute];
  s.system_call = times[ports::Work::syscall];
  for (const ports::Work work : {ports::Work::registration, ports::Work::fault, ports::Work::pin, ports::Work::sg, ports::Work::dma_map,
                                 ports::Work::page_size, ports::Work::key, ports::Work::table, ports::Work::unpin})
    s.registration.push_back({ports::work_names[unsigned(work)], times[work]});
  s.interrupt = times[ports::Work::interrupt];
  s.polling = times[ports::Work::polling];
  s.idle = times.idle;
  report.cpus.push_back(std::move(s));
}

void add_nic_counters(const std::string& name, const Host::Adapter& adapter, results::Report& report) {
  const auto add = [&](const char* what, const char* unit, const char* meaning, std::uint64_t value) {
    report.counters.push_back({name + "." + adapter.nic_name + "." + what, unit, meaning, value});
  };
  const nic::Nic& nic = adapter.nic;
  add("doorbells", "count", "doorbells rung", nic.doorbell.doorbells());
  add("doorbells_with_wqe", "count", "of these, that carried their WQE", nic.doorbell.with_wqe());
  add("wqe_fetches", "count", "reads that fetched WQEs", nic.scheduler.fetches());
  add("wqes_fetched", "count", "WQEs fetched by them", nic.scheduler.fetched_wqes());
  add("cqes", "count", "CQEs written", nic.completion.cqes());
  const auto& retries = nic.requester.retries();
  const auto& naks = nic.responder.naks();
  add("rnr_naks", "count", "RNR NAKs sent: a message found no receive", naks.rnr);
  add("sequence_naks", "count", "NAKs sent for a packet out of sequence", naks.sequence);
  add("duplicates", "count", "request packets that came again", naks.duplicates);
  add("rnr_retries", "count", "times a QP went back after an RNR NAK", retries.rnr);
  add("sequence_retries", "count", "times a QP went back after a sequence NAK", retries.sequence);
  add("timeouts", "count", "times a QP went back as no answer came in time", retries.timeouts);
  add("dropped_packets", "count", "packets for QPs that do not exist or are not ready", nic.dropped_packets());
  add("commands", "count", "firmware commands", nic.firmware.counts().commands);
  add("mailboxes", "count", "command mailboxes read", nic.firmware.counts().mailboxes);
  add("umr_wqes", "count", "UMR work requests", nic.firmware.counts().umr_wqes);
  add("table_bytes", "bytes", "translation table and context bytes written by the NIC", nic.firmware.counts().table_bytes);
}

void add_counters(const std::string& name, Host& host, results::Report& report) {
  const auto add = [&](const char* what, const char* unit, const char* meaning, std::uint64_t value) {
    report.counters.push_back({name + "." + what, unit, meaning, value});
  };
  for (const Host::Adapter& adapter : host.adapters()) {
    add_nic_counters(name, adapter, report);
    collect_purposes(name + "." + adapter.pcie_name, adapter.pcie.counts(), report);
  }
  collect_root_complex(name, host.root_complex, report);
  const ports::RegistrationCost& cost = host.registrations.cost();
  add("kernel.pages_pinned", "count", "base pages pinned or unpinned by registrations", cost.pages.raw);
  add("kernel.pin_batches", "count", "calls of pin_user_pages", cost.batches);
  add("kernel.folio_grabs", "count", "references taken on folios", cost.grabs);
  add("kernel.sg_entries", "count", "scatter-gather entries after merging", cost.sg_entries);
  if (host.kernel.device(0).dma_mapper().io_page_table() != nullptr) {
    add("kernel.dma_runs", "count", "scatter-gather entries after the IOMMU joined them", cost.dma_runs);
    add("kernel.iopte", "count", "entries of the IOMMU's page table written or cleared", cost.iopte);
    add("kernel.iova_rbtree", "count", "I/O virtual address ranges put into the tree or taken out", cost.iova_rbtree);
  }
  add("kernel.table_entries", "count", "translation entries written", cost.table_entries);
  for (std::uint32_t nic = 0; nic < host.adapters().size(); ++nic) {
    const std::string on = kernel_name(name, nic);
    const auto count = [&](const char* what, const char* meaning, std::uint64_t value) {
      report.counters.push_back({on + what, "count", meaning, value});
    };
    const kernel::RdmaDevice& device = host.kernel.device(nic);
    if (const kernel::OdpTotals& odp = device.reg_path().on_demand().totals(); odp.regions != 0) {
      count("odp_regions", "on-demand regions registered", odp.regions);
      count("odp_children", "children of implicit on-demand regions made", odp.children);
      count("odp_mapped", "base pages that the device got on demand, by registration or prefetch", odp.mapped);
      count("odp_prefetched", "base pages that prefetches went through", odp.prefetched);
      count("odp_invalidated", "base pages taken from the device again", odp.invalidated);
      count("odp_zaps", "UMR work requests that took them", odp.zaps);
      count("odp_failed_prefetches", "prefetches without flush that failed, of which nobody is told", odp.failed_workers);
    }
    for (const kernel::KeyCount& keys : device.key_counts())
      report.counters.push_back({on + "keys_" + keys.name, "count", keys.meaning, keys.value, keys.level});
  }
  add("kernel.cq_overruns", "count", "completions lost because a CQ was full", host.device.cq_overruns());
}

}  // namespace

void collect_host(Host& host, results::Report& report) {
  const std::string name = host.title;
  add_operations(host, report);
  add_calls(host.registrations.calls(ports::RegistrationRecord::Call::reg_mr), report.registration.reg_mr);
  add_calls(host.registrations.calls(ports::RegistrationRecord::Call::dereg_mr), report.registration.dereg_mr);
  add_other_calls(host.registrations, report);
  add_memory(name, host.kernel.memory_use(), report);
  add_hazards(host, report);
  add_memory_series(name, host.kernel.memory_series(), report);
  report.registration.pinned_now += host.kernel.registration().pinned_now;
  report.registration.pinned_most += host.kernel.registration().pinned_most;
  report.resources.push_back(resource(name + ".cpus", ResourceKind::cpu, host.cpus.cpus(), host.cpus.usage()));
  for (std::uint32_t number = 0; number < host.adapters().size(); ++number) {
    const Host::Adapter& adapter = host.adapters()[number];
    collect_caches(name + "." + adapter.nic_name, adapter.nic, host.settings.nic, report);
    collect_chains(name + "." + adapter.nic_name, adapter.nic.walker, report);
    add_resources(name, host, number, report);
    add_pcie(name, adapter, report);
  }
  const RegistrationLog& log = host.registrations;
  using Call = ports::RegistrationRecord::Call;
  const std::uint64_t calls = log.calls(Call::reg_mr).calls + log.calls(Call::rereg_mr).calls + log.calls(Call::dereg_mr).calls;
  add_contention(name, log.cost(), calls, report);
  add_cpu(name, host, report);
  add_counters(name, host, report);
}

void complete_contention(results::Report& report) {
  for (results::Contention& c : report.registration.contention) {
    for (const results::ResourceStats& r : report.resources)
      if (serves_registrations(r.name, c.host) && !serves_others(r.name)) {
        c.alone -= r.waited;
        if (r.name == c.name) c.kept = results::total(r.busy);
      }
    // Keys that are created on the side wait, too, and no call does with them.
    c.alone = std::max(c.alone, results::TotalTime(0));
  }
  std::erase_if(report.registration.contention, [](const results::Contention& c) { return c.kept.raw == 0; });
}

void collect_network(fabric::Switch& network, const std::vector<std::unique_ptr<Host>>& hosts, results::Report& report) {
  for (std::uint32_t port = 0; port < hosts.size(); ++port) {
    const std::string name = hosts[port]->title;
    const fabric::Switch::PortCounts& counts = network.counts(port);
    report.ports.push_back({"switch.to_" + name, counts.packets, Bytes(counts.bytes), network.deepest(port)});
    report.resources.push_back(resource(name + ".wire.out", ResourceKind::link, 1, network.up_usage(port)));
    auto in = resource(name + ".wire.in", ResourceKind::link, 1, network.down_usage(port));
    in.bytes = Bytes(counts.payload_bytes);
    report.resources.push_back(std::move(in));
  }
}

}  // namespace mtsim::system

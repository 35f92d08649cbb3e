#include "system/collect.h"

#include <fmt/format.h>
#include <algorithm>

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

void add_rereg(const results::CallStats& calls, results::Report& report) {
  if (calls.calls == 0) return;
  auto& others = report.registration.others;
  if (others.empty()) others.emplace_back().name = "rereg_mr";
  add_calls(calls, others.front());
}

void add_memory(const std::string& name, const ports::MemoryUse& use, results::Report& report) {
  if (use.swapped_out + use.swapped_in + use.dropped + use.migrated == 0 && !use.killed) return;
  results::MemoryStats m;
  m.host = name;
  m.swapped_out = use.swapped_out;
  m.swapped_in = use.swapped_in;
  m.dropped = use.dropped;
  m.migrated = use.migrated;
  if (use.killed) {
    m.killed = 1;
    m.killed_at = use.killed->at;
    m.size = page_bytes * use.killed->size.raw;
    m.resident = page_bytes * use.killed->resident.raw;
    m.pinned = page_bytes * use.killed->pinned.raw;
    m.in_swap = page_bytes * use.killed->swapped.raw;
    m.pinned_regions = use.killed->regions;
  }
  report.memory.push_back(std::move(m));
}

/// `miss_time`: from look-up to content, over all misses.
void add_cache(const std::string& name, const nic::Cache* cache, Time miss_time, Time miss_longest, const engine::Semaphore& walks,
               results::Report& report) {
  if (cache == nullptr) return;
  const nic::Cache::Counts& c = cache->counts();
  results::CacheStats s;
  s.name = name;
  s.lookups = c.lookups;
  s.hits = c.hits;
  s.misses_cold = c.cold;
  s.misses_capacity = c.capacity;
  s.misses_conflict = c.conflict;
  s.evictions = c.evictions;
  s.fetches_most = walks.usage().most;
  s.miss_time = results::total(miss_time);
  s.miss_longest = miss_longest;
  report.caches.push_back(s);
}

void add_caches(const std::string& name, const Host& host, results::Report& report) {
  const nic::Nic& nic = host.nic;
  const nic::Walker::Misses &mpt = nic.walker.misses(0), &mtt = nic.walker.misses(1);
  add_cache(name + ".nic.mpt_cache", nic.mpt_cache.get(), mpt.total + mpt.second, mpt.longest, nic.walker.walks(), report);
  add_cache(name + ".nic.mpt_cache.level2", nic.mpt_level2.get(), mpt.total, mpt.longest, nic.walker.walks(), report);
  add_cache(name + ".nic.mtt_cache", nic.mtt_cache.get(), mtt.total + mtt.second, mtt.longest, nic.walker.walks(), report);
  add_cache(name + ".nic.mtt_cache.level2", nic.mtt_level2.get(), mtt.total, mtt.longest, nic.walker.walks(), report);
  add_cache(name + ".nic.cache_pool", nic.cache_pool.get(), mpt.total + mtt.total, std::max(mpt.longest, mtt.longest), nic.walker.walks(),
            report);
}

/// What a cache counts beyond look-ups, where it is set up to do such things.
void add_cache_counters(const std::string& name, const nic::Cache* cache, const nic::CacheLevelParams& params, results::Report& report) {
  if (cache == nullptr || params.table_write != nic::TableWrite::update) return;
  report.counters.push_back({name + ".lines_updated", "count", "lines that took new content from a table write", cache->counts().updated});
}

void add_prefetches(const std::string& name, const nic::Cache* cache, const nic::CacheParams& params, const nic::Walker::Ahead& ahead,
                    results::Report& report) {
  if (cache == nullptr || params.prefetch == "none") return;
  const nic::Cache::Counts& c = cache->counts();
  const auto add = [&](const char* what, const char* meaning, std::uint64_t value) {
    report.counters.push_back({name + what, "count", meaning, value});
  };
  add(".prefetches", "lines fetched ahead", c.ahead + ahead.late);
  add(".prefetches_useful", "of these, found by a look-up", c.useful);
  add(".prefetches_late", "of these, asked for while they were under way", ahead.late);
  add(".prefetches_useless", "of these, gone before any look-up asked for them", c.useless);
  add(".prefetches_left_out", "lines not fetched ahead as no walk or PCIe tag was free", ahead.left_out);
}

void add_pcie(const std::string& name, Host& host, results::Report& report) {
  const pcie::Link::Counts& c = host.pcie.counts();
  const engine::Usage tags = host.nic.dma.tag_usage();
  results::PcieStats up;
  up.name = name + ".pcie.up";
  up.reads = c.reads.tlps;
  up.writes = c.writes.tlps;
  up.payload = Bytes(c.writes.payload_bytes);
  up.header = Bytes(c.reads.header_bytes + c.writes.header_bytes);
  up.tag_stalls = tags.waited;
  up.tag_stall_time = tags.wait_total;
  up.busy = host.pcie.up_usage().busy;
  report.pcie.push_back(up);
  results::PcieStats down;
  down.name = name + ".pcie.down";
  down.writes = c.mmio_writes.tlps;
  down.completions = c.completions.tlps;
  down.payload = Bytes(c.completions.payload_bytes + c.mmio_writes.payload_bytes);
  down.header = Bytes(c.completions.header_bytes + c.mmio_writes.header_bytes);
  down.busy = host.pcie.down_usage().busy;
  report.pcie.push_back(down);
}

void add_resources(const std::string& name, Host& host, results::Report& report) {
  const auto add = [&](results::ResourceStats r) { report.resources.push_back(std::move(r)); };
  nic::Nic& nic = host.nic;
  add(resource(name + ".cpus", ResourceKind::cpu, host.cpus.cpus(), host.cpus.usage()));
  const std::string rate = fmt::format("{:.1f} Gb/s", static_cast<double>(host.settings.pcie.rate().raw) / 1e9);
  auto up = resource(name + ".pcie.up", ResourceKind::link, 1, host.pcie.up_usage());
  up.bytes = Bytes(host.pcie.counts().writes.payload_bytes);
  up.note = rate;
  add(std::move(up));
  auto down = resource(name + ".pcie.down", ResourceKind::link, 1, host.pcie.down_usage());
  down.bytes = Bytes(host.pcie.counts().completions.payload_bytes + host.pcie.counts().mmio_writes.payload_bytes);
  down.note = rate;
  add(std::move(down));
  if (const auto lock = host.kernel.table_lock(); lock.places != nullptr)
    add(resource(name + ".kernel." + lock.name, ResourceKind::pool, lock.places->places(), lock.places->usage()));
  if (const engine::Server* lock = host.kernel.dma_mapper().rbtree_lock(); lock != nullptr)
    add(resource(name + ".kernel.iova_rbtree", ResourceKind::server, 1, lock->usage()));
  add(resource(name + ".nic.dma.tags", ResourceKind::pool, nic.dma.tags(), nic.dma.tag_usage()));
  add(resource(name + ".nic.dma.write_buffer", ResourceKind::pool, 1, nic.dma.write_usage()));
  add(resource(name + ".nic.requester.pipe", ResourceKind::server, 1, nic.requester.pipe().usage()));
  add(resource(name + ".nic.requester.contexts", ResourceKind::pool, nic.requester.contexts().places(), nic.requester.contexts().usage()));
  add(resource(name + ".nic.responder.pipe", ResourceKind::server, 1, nic.responder.pipe().usage()));
  add(resource(name + ".nic.responder.contexts", ResourceKind::pool, nic.responder.contexts().places(), nic.responder.contexts().usage()));
  add(resource(name + ".nic.walker.walks", ResourceKind::pool, nic.walker.walks().places(), nic.walker.walks().usage()));
  add(resource(name + ".nic.firmware.slots", ResourceKind::pool, nic.firmware.slots().places(), nic.firmware.slots().usage()));
  add(resource(name + ".nic.firmware.processor", ResourceKind::server, 1, nic.firmware.processor().usage()));
  add(resource(name + ".nic.firmware.umr", ResourceKind::server, 1, nic.firmware.umr_unit().usage()));
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

void add_counters(const std::string& name, Host& host, results::Report& report) {
  const auto add = [&](const char* what, const char* unit, const char* meaning, std::uint64_t value) {
    report.counters.push_back({name + "." + what, unit, meaning, value});
  };
  const ports::RegistrationCost& cost = host.registrations.cost();
  add("nic.doorbells", "count", "doorbells rung", host.nic.doorbell.doorbells());
  add("nic.doorbells_with_wqe", "count", "of these, that carried their WQE", host.nic.doorbell.with_wqe());
  add("nic.wqe_fetches", "count", "reads that fetched WQEs", host.nic.scheduler.fetches());
  add("nic.wqes_fetched", "count", "WQEs fetched by them", host.nic.scheduler.fetched_wqes());
  add("nic.cqes", "count", "CQEs written", host.nic.completion.cqes());
  const auto& retries = host.nic.requester.retries();
  const auto& naks = host.nic.responder.naks();
  add("nic.rnr_naks", "count", "RNR NAKs sent: a message found no receive", naks.rnr);
  add("nic.sequence_naks", "count", "NAKs sent for a packet out of sequence", naks.sequence);
  add("nic.duplicates", "count", "request packets that came again", naks.duplicates);
  add("nic.rnr_retries", "count", "times a QP went back after an RNR NAK", retries.rnr);
  add("nic.sequence_retries", "count", "times a QP went back after a sequence NAK", retries.sequence);
  add("nic.timeouts", "count", "times a QP went back as no answer came in time", retries.timeouts);
  add("nic.dropped_packets", "count", "packets for QPs that do not exist or are not ready", host.nic.dropped_packets());
  add("nic.commands", "count", "firmware commands", host.nic.firmware.counts().commands);
  add("nic.mailboxes", "count", "command mailboxes read", host.nic.firmware.counts().mailboxes);
  add("nic.umr_wqes", "count", "UMR work requests", host.nic.firmware.counts().umr_wqes);
  add("nic.table_bytes", "bytes", "translation table and context bytes written by the NIC", host.nic.firmware.counts().table_bytes);
  const nic::NicSettings& caches = host.settings.nic;
  add_cache_counters(name + ".nic.mpt_cache", host.nic.mpt_cache.get(), caches.mpt_cache, report);
  add_cache_counters(name + ".nic.mpt_cache.level2", host.nic.mpt_level2.get(), caches.mpt_level2, report);
  add_cache_counters(name + ".nic.mtt_cache", host.nic.mtt_cache.get(), caches.mtt_cache, report);
  add_cache_counters(name + ".nic.mtt_cache.level2", host.nic.mtt_level2.get(), caches.mtt_level2, report);
  add_cache_counters(name + ".nic.cache_pool", host.nic.cache_pool.get(), caches.cache_pool, report);
  add_prefetches(name + ".nic.mpt_cache", host.nic.mpt_cache.get(), caches.mpt_cache, host.nic.walker.ahead(0), report);
  add_prefetches(name + ".nic.mtt_cache", host.nic.mtt_cache.get(), caches.mtt_cache, host.nic.walker.ahead(1), report);
  add("kernel.pages_pinned", "count", "base pages pinned or unpinned by registrations", cost.pages.raw);
  add("kernel.pin_batches", "count", "calls of pin_user_pages", cost.batches);
  add("kernel.folio_grabs", "count", "references taken on folios", cost.grabs);
  add("kernel.sg_entries", "count", "scatter-gather entries after merging", cost.sg_entries);
  if (host.kernel.dma_mapper().io_page_table() != nullptr) {
    add("kernel.dma_runs", "count", "scatter-gather entries after the IOMMU joined them", cost.dma_runs);
    add("kernel.iopte", "count", "entries of the IOMMU's page table written or cleared", cost.iopte);
    add("kernel.iova_rbtree", "count", "I/O virtual address ranges put into the tree or taken out", cost.iova_rbtree);
  }
  add("kernel.table_entries", "count", "translation entries written", cost.table_entries);
  for (const kernel::KeyCount& keys : host.kernel.key_counts())
    report.counters.push_back({name + ".kernel.keys_" + keys.name, "count", keys.meaning, keys.value, keys.level});
  add("kernel.cq_overruns", "count", "completions lost because a CQ was full", host.device.cq_overruns());
}

}  // namespace

void collect_host(Host& host, results::Report& report) {
  const std::string name = host.title;
  add_operations(host, report);
  add_calls(host.registrations.reg_mr(), report.registration.reg_mr);
  add_calls(host.registrations.dereg_mr(), report.registration.dereg_mr);
  add_rereg(host.registrations.rereg_mr(), report);
  add_memory(name, host.kernel.memory_use(), report);
  report.registration.pinned_now += host.kernel.registration().pinned_now;
  report.registration.pinned_most += host.kernel.registration().pinned_most;
  add_caches(name, host, report);
  add_resources(name, host, report);
  add_pcie(name, host, report);
  add_cpu(name, host, report);
  add_counters(name, host, report);
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

void describe_queues(Host& host, std::vector<std::string>& lines) {
  const std::string name = host.title;
  for (const auto& held : host.nic.queue_pairs().all()) {
    const nic::Qp& qp = *held;
    if (qp.destroyed || qp.retired == qp.producer) continue;
    lines.push_back(fmt::format("{}.nic: QP {:#x} ({}) has {} requests outstanding: {} sent or being sent, {} in the NIC, {} READs{}", name,
                                qp.qpn, verbs::name(qp.state), qp.producer - qp.retired, qp.next - qp.retired, qp.fetched - qp.next,
                                qp.reads, qp.waiting ? "; its peer was not ready to receive, and it tries again and again" : ""));
  }
  for (const auto& [what, in_use] :
       {std::pair{"requester contexts", host.nic.requester.contexts().in_use()},
        std::pair{"responder contexts", host.nic.responder.contexts().in_use()}, std::pair{"walks", host.nic.walker.walks().in_use()},
        std::pair{"command slots", host.nic.firmware.slots().in_use()}, std::pair{"PCIe tags", std::uint64_t{host.nic.dma.tags_in_use()}}})
    if (in_use != 0) lines.push_back(fmt::format("{}.nic: {} {} in use", name, in_use, what));
  if (host.nic.dropped_packets() != 0)
    lines.push_back(fmt::format("{}.nic: {} packets were dropped: their QP was gone or not ready", name, host.nic.dropped_packets()));
}

}  // namespace mtsim::system

#include "nic/nic.h"

#include "ports/rank.h"

namespace mtsim::nic {
namespace {

std::unique_ptr<translate::Architecture> translation(const NicSettings& settings, translate::TableSpace space) {
  translate::ArchitectureOptions options;
  options.space = space;
  options.mpt_line = settings.mpt_cache.line;
  options.mtt_line = settings.mtt_cache.line;
  options.icm_line = settings.icm_cache.line;
  options.icm_page = settings.nic.icm_page;
  options.child = settings.nic.child;
  options.inline_entries = settings.nic.inline_entries;
  options.contexts = settings.nic.contexts;
  options.allocation = settings.nic.table_allocation;
  options.table_entries = settings.nic.table_entries;
  return translate::Architectures::make(settings.nic.translation, options);
}

std::optional<Time> second_latency(const NicSettings& settings, const CacheLevelParams& level2) {
  if (settings.cache_pool.lines != 0) return settings.cache_pool.latency;
  if (level2.lines != 0) return level2.latency;
  return std::nullopt;
}

Walker::Settings walker_settings(const NicSettings& settings) {
  return {Clock(settings.nic.clock),
          settings.nic.walks,
          {settings.mpt_cache.latency, settings.mtt_cache.latency, settings.icm_cache.latency},
          {second_latency(settings, settings.mpt_level2), second_latency(settings, settings.mtt_level2)},
          {settings.mpt_cache.prefetch, settings.mtt_cache.prefetch, settings.icm_cache.prefetch},
          {&settings.mpt_cache, &settings.mtt_cache, &settings.icm_cache},
          settings.nic.deepest_first};
}

std::unique_ptr<Cache> if_any(const char* name, const CacheLevelParams& params) {
  return params.lines == 0 ? nullptr : std::make_unique<Cache>(name, params);
}

}  // namespace

Nic::Nic(sc_core::sc_module_name module_name, engine::Scheduler& sched, const NicSettings& settings, std::uint32_t switch_port,
         translate::TableSpace space, const NicReplacements& replacements)
    : sc_module(module_name),
      memory("memory"),
      link("link"),
      mmio("mmio"),
      network("network"),
      log("log"),
      events("events"),
      scheduler_(sched),
      rules_(settings.requester.rules),
      port_(switch_port),
      receive_prefetch_(settings.responder.receive_prefetch),
      qps_(switch_port),
      dma("dma", sched, settings.nic.write_buffer, ports::order(switch_port, ports::Unit::link)),
      mpt_cache(replacements.mpt_cache ? nullptr : std::make_unique<Cache>("mpt_cache", settings.mpt_cache)),
      mtt_cache(replacements.mtt_cache ? nullptr : std::make_unique<Cache>("mtt_cache", settings.mtt_cache)),
      mpt_level2(if_any("mpt_level2", settings.mpt_level2)),
      mtt_level2(if_any("mtt_level2", settings.mtt_level2)),
      cache_pool(if_any("cache_pool", settings.cache_pool)),
      walker("walker", sched, translation(settings, space), walker_settings(settings)),
      doorbell("doorbell", sched, qps_, switch_port),
      scheduler("scheduler", sched, Clock(settings.nic.clock), settings.requester),
      requester("requester", sched, Clock(settings.nic.clock), settings.requester, switch_port, packets_),
      responder("responder", sched, Clock(settings.nic.clock), settings.responder, switch_port, packets_),
      completion("completion", sched, settings.requester.rules),
      windows("windows", sched, Clock(settings.nic.clock), settings.nic.window_change, settings.requester.rules),
      firmware("firmware", sched, Clock(settings.nic.clock), settings.firmware, switch_port),
      transfers("transfers", sched, settings.transfers, switch_port) {
  dma.link(link);
  dma.memory(memory);
  walker.dma(dma);
  walker.caches(replacements.mpt_cache ? *replacements.mpt_cache : *mpt_cache);
  walker.caches(replacements.mtt_cache ? *replacements.mtt_cache : *mtt_cache);
  if (walker.architecture().host_tables() == translate::Architecture::HostTables::iommu) dma.payload_is_translated();
  if (walker.architecture().line_kinds().size() > 2) {
    icm_cache = std::make_unique<Cache>("icm_cache", settings.icm_cache);
    walker.caches(*icm_cache);
  }
  wire_second_level(settings);
  wire_contexts(settings);
  doorbell.mmio(mmio);
  doorbell.work(scheduler);
  doorbell.retirement(completion);
  scheduler.dma(dma);
  scheduler.retirement(completion);
  scheduler.translator(walker);
  requester.work(scheduler);
  requester.retirement(completion);
  requester.translator(walker);
  requester.dma(dma);
  requester.network(network);
  responder.retirement(completion);
  responder.translator(walker);
  responder.dma(dma);
  responder.network(network);
  requester.windows(windows);
  responder.windows(windows);
  windows.translator(walker);
  windows.tables(walker);
  windows.dma(dma);
  completion.dma(dma);
  completion.memory(memory);
  completion.log(log);
  completion.events(events);
  firmware.mmio(mmio);
  firmware.dma(dma);
  firmware.memory(memory);
  firmware.tables(walker);
  transfers.dma(dma);
  transfers.log(log);
}

namespace {

std::uint64_t mpt_lines(const NicSettings& settings, const translate::Architecture& architecture) {
  return std::max(ceil_div(std::uint64_t{settings.nic.contexts} * 64, settings.mpt_cache.line.raw), architecture.lines(0));
}

}  // namespace

// In a pool come first the lines of the MPT, then those of QP contexts, if they are not all at hand, then those of the MTT.
void Nic::wire_contexts(const NicSettings& settings) {
  if (settings.qp_cache.enabled) {
    const QpPoolShare pool{cache_pool.get(), mpt_lines(settings, walker.architecture()), settings.mtt_cache.line,
                           settings.cache_pool.latency};
    qp_contexts =
        std::make_unique<QpContexts>("qp_contexts", scheduler_, Clock(settings.nic.clock), settings.qp_cache, settings.qp_level2, pool);
    qp_contexts->dma(dma);
    qp_contexts->memory(memory);
    requester.qp_contexts(*qp_contexts);
    responder.qp_contexts(*qp_contexts);
  }
  if (settings.request_cache.lines != 0) {
    request_contexts = std::make_unique<RequestContexts>("request_contexts", scheduler_, settings.request_cache);
    request_contexts->dma(dma);
    requester.request_contexts(*request_contexts);
    scheduler.request_contexts(*request_contexts);
  }
}

void Nic::wire_second_level(const NicSettings& settings) {
  if (!cache_pool) {
    if (mpt_level2) walker.second(*mpt_level2);
    if (mtt_level2) walker.second(*mtt_level2);
    return;
  }
  const CachePoolParams& pool = settings.cache_pool;
  const std::uint32_t ways = pool.ways == 0 ? 64 : pool.ways;
  const WayMask mpt_ways = pool.mpt_ways == 0 ? all_ways : all_ways >> (64 - pool.mpt_ways);
  const WayMask mtt_ways = pool.mtt_ways == 0 ? all_ways : all_ways >> (64 - pool.mtt_ways) << (ways - pool.mtt_ways);
  const std::uint64_t qp_lines = settings.qp_cache.enabled ? QpContexts::pool_lines(settings.qp_cache, settings.mtt_cache.line) : 0;
  mpt_share_ = std::make_unique<PoolShare>(*cache_pool, 0, mpt_ways);
  mtt_share_ = std::make_unique<PoolShare>(*cache_pool, mpt_lines(settings, walker.architecture()) + qp_lines, mtt_ways);
  walker.second(*mpt_share_);
  walker.second(*mtt_share_);
}

std::uint32_t Nic::create_qp(const ports::QpAttributes& attributes) {
  Qp& qp = qps_.add(attributes, network->format().train);
  if (rules_->responder.judges_by_qp) qp.attributes.receive_pd = attributes.pd;
  qp.receive_queue = receive_queue(attributes, qp.responder_order);
  qp.opcodes = rules_->opcodes[unsigned(attributes.type)];
  if (qp_contexts) qp_contexts->add(qp);
  return qp.qpn;
}

/// QPs that share a ring share what the NIC knows of it.
std::shared_ptr<ReceiveQueue> Nic::receive_queue(const ports::QpAttributes& attributes, engine::Order order) {
  const auto make = [&] { return std::make_shared<ReceiveQueue>(scheduler_, dma, attributes.receives, receive_prefetch_, order); };
  if (!attributes.shared_receives) return make();
  std::weak_ptr<ReceiveQueue>& known = shared_queues_[attributes.receives.get()];
  std::shared_ptr<ReceiveQueue> queue = known.lock();
  if (queue == nullptr) known = queue = make();
  return queue;
}

void Nic::destroy_qp(std::uint32_t qpn) {
  Qp* qp = qps_.find(qpn);
  if (qp == nullptr) return;
  qp->forget_outstanding();
  qp->destroyed = true;
  qp->end_life();
  if (qp_contexts) qp_contexts->drop(*qp);
  if (request_contexts) request_contexts->drop(*qp);
}

void Nic::set_peer(std::uint32_t qpn, std::uint32_t peer_port, std::uint32_t peer_qpn) {
  if (Qp* qp = qps_.find(qpn)) {
    qp->peer_port = peer_port;
    qp->peer_qpn = peer_qpn;
  }
}

void Nic::set_state(std::uint32_t qpn, verbs::QpState new_state) {
  Qp* qp = qps_.find(qpn);
  if (qp == nullptr) return;
  if (new_state == verbs::QpState::err) return completion.fail(*qp);
  if (new_state == verbs::QpState::reset) {
    // The queue is emptied without completions; the ring starts over.
    qp->end_life();
    ++qp->resets;
    if (request_contexts) request_contexts->drop(*qp);
    qp->contexts_made = 0;
    qp->halted = qp->stopped = qp->waiting = qp->refused = qp->changes_window = qp->waits_for_end = false;
    qp->local = 0;
    qp->reads = qp->retries = qp->rnr_retries = 0;
    qp->offset = qp->expected_offset = 0;
    qp->expected = 0;
    qp->receive.reset();
    if (!qp->attributes.shared_receives) qp->receive_queue->reset();
    qp->forget_outstanding();
    qp->producer = qp->fetched = qp->next = qp->retired = 0;
  }
  // What was posted while the send queue had stopped has been flushed.
  if (qp->state == verbs::QpState::sqe) qp->halted = qp->stopped = false;
  qp->state = new_state;
}

verbs::QpState Nic::state(std::uint32_t qpn) const {
  const Qp* qp = qps_.find(qpn);
  return qp ? qp->state : verbs::QpState::reset;
}

verbs::QpType Nic::type(std::uint32_t qpn) const {
  const Qp* qp = qps_.find(qpn);
  return qp ? qp->attributes.type : verbs::QpType::rc;
}

void Nic::receive(ports::Packet& packet) {
  Qp* qp = qps_.find(packet.qpn);
  if (qp == nullptr) {
    ++lost_;
    return ports::PacketPool::give(packet);
  }
  if (packet.kind == ports::Packet::Kind::request) responder.take(*qp, packet);
  else requester.take(*qp, packet);
}

}  // namespace mtsim::nic

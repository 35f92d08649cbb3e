// The NIC: its units and how they are wired.
#pragma once

#include <map>
#include <memory>

#include "engine/scheduler.h"
#include "nic/cache.h"
#include "nic/completion.h"
#include "nic/dma_engine.h"
#include "nic/doorbell.h"
#include "nic/firmware.h"
#include "nic/params.h"
#include "nic/pool_share.h"
#include "nic/qp_contexts.h"
#include "nic/qp_table.h"
#include "nic/request_contexts.h"
#include "nic/requester.h"
#include "nic/responder.h"
#include "nic/transfers.h"
#include "nic/walker.h"
#include "nic/windows.h"
#include "nic/work_scheduler.h"
#include "ports/wire.h"

namespace mtsim::nic {

/// Modules of the user's own that stand in for the shipped ones; null for the shipped one.
struct NicReplacements {
  ports::LineCache* mpt_cache = nullptr;
  ports::LineCache* mtt_cache = nullptr;
};

class Nic : public sc_core::sc_module, public ports::QueuePairs, public ports::NetworkEnd {
 public:
  // Outside: host memory, the link's two ends, the network, and who keeps the log of operations.
  sc_core::sc_port<ports::HostMemory> memory;
  sc_core::sc_port<ports::PcieUp> link;
  sc_core::sc_port<ports::Mmio> mmio;
  sc_core::sc_port<ports::Network> network;
  sc_core::sc_port<OperationLog> log;
  sc_core::sc_port<ports::Events, 1, sc_core::SC_ZERO_OR_MORE_BOUND> events;
  /// Follows the data that it moves, in runs in which they can be wrong; after the NIC is made, before elaboration ends.
  void watch(ports::DataWatch& watch) {
    requester.watch(watch);
    responder.watch(watch);
  }

  /// `port` on the switch is also the NIC's rank among the hosts. `space` is host memory for translation tables.
  Nic(sc_core::sc_module_name name, engine::Scheduler& scheduler, const NicSettings& settings, std::uint32_t port,
      translate::TableSpace space, const NicReplacements& replacements = {});

  std::uint32_t create_qp(const ports::QpAttributes& attributes) override;
  void destroy_qp(std::uint32_t qpn) override;
  void set_peer(std::uint32_t qpn, std::uint32_t peer_port, std::uint32_t peer_qpn) override;
  void set_state(std::uint32_t qpn, verbs::QpState state) override;
  verbs::QpState state(std::uint32_t qpn) const override;
  verbs::QpType type(std::uint32_t qpn) const override;
  std::uint32_t port() const override { return port_; }
  Bytes link_mtu() const override { return network->format().mtu; }

  void receive(ports::Packet& packet) override;

  ports::Doorbells& doorbells() { return doorbell; }
  ports::Command& commands() { return firmware; }
  ports::Umr& umr() { return firmware; }
  ports::Tables& tables() { return walker; }

 private:
  std::shared_ptr<ReceiveQueue> receive_queue(const ports::QpAttributes& attributes, engine::Order order);
  void wire_second_level(const NicSettings& settings);
  void wire_contexts(const NicSettings& settings);

  engine::Scheduler& scheduler_;
  std::shared_ptr<const verbs::Rules> rules_;
  std::uint32_t port_, receive_prefetch_;
  std::map<const ports::ReceiveRing*, std::weak_ptr<ReceiveQueue>> shared_queues_;
  QpTable qps_;
  ports::PacketPool packets_;

 public:
  // The units, for those who read their counts.
  DmaEngine dma;
  std::unique_ptr<Cache> mpt_cache, mtt_cache;                ///< null where replaced
  std::unique_ptr<Cache> icm_cache;                           ///< null where the architecture has no third kind of line
  std::unique_ptr<Cache> mpt_level2, mtt_level2, cache_pool;  ///< null where there is none
  std::unique_ptr<QpContexts> qp_contexts;                    ///< null where all are at hand
  std::unique_ptr<RequestContexts> request_contexts;          ///< null where there is room for all
  Walker walker;
  Doorbell doorbell;
  WorkScheduler scheduler;
  Requester requester;
  Responder responder;
  Completion completion;
  Windows windows;
  Firmware firmware;
  TransferUnit transfers;

  const QpTable& queue_pairs() const { return qps_; }
  /// Packets for QPs that do not exist, or are not ready.
  std::uint64_t dropped_packets() const { return lost_ + responder.dropped(); }

 private:
  std::unique_ptr<PoolShare> mpt_share_, mtt_share_;  ///< of the pool
  std::uint64_t lost_ = 0;
};

}  // namespace mtsim::nic

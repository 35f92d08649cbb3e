// The NIC, seen from its host: objects, doorbells, firmware commands, UMR work.
#pragma once

#include <cstdint>
#include <memory>
#include <systemc>

#include "base/dma_map.h"
#include "base/units.h"
#include "engine/flow.h"
#include "ports/queues.h"
#include "translate/architecture.h"
#include "verbs/device.h"
#include "verbs/types.h"

namespace mtsim::ports {

struct QpAttributes {
  verbs::QpType type = verbs::QpType::rc;
  std::uint32_t pd = 0;
  verbs::Access access = verbs::Access::none;
  Bytes mtu{4096};
  // Shared with the provider library: what is in flight when a QP is destroyed still refers to them.
  std::shared_ptr<SendRing> ring;
  std::shared_ptr<CompletionQueue> send_cq, recv_cq;
  std::shared_ptr<ReceiveRing> receives;  ///< null: no receive can ever be posted
  bool shared_receives = false;           ///< other QPs may have the same ring: it is not flushed with this one
  std::uint32_t receive_pd = 0;           ///< what keys of receives are judged by: a shared queue has a PD of its own
  // As codes of the specification (ibv_modify_qp).
  std::uint8_t timeout = 14, retry = 7, rnr_retry = 7, rnr_timer = 12;
  std::uint32_t rd_atomic = 16, dest_rd_atomic = 16;
};

/// State of QPs, as commands set it. Instant: the time of the commands is the kernel's affair.
class QueuePairs : public virtual sc_core::sc_interface {
 public:
  /// Returns the QP number (24 bits), never 0.
  virtual std::uint32_t create_qp(const QpAttributes& attributes) = 0;
  /// Outstanding work is dropped without completions.
  virtual void destroy_qp(std::uint32_t qpn) = 0;
  /// Where packets of this QP go: the peer NIC's port on the switch and QP.
  virtual void set_peer(std::uint32_t qpn, std::uint32_t port, std::uint32_t peer_qpn) = 0;
  virtual void set_state(std::uint32_t qpn, verbs::QpState state) = 0;
  virtual verbs::QpState state(std::uint32_t qpn) const = 0;
  virtual verbs::QpType type(std::uint32_t qpn) const = 0;
  /// The NIC's own port on the switch.
  virtual std::uint32_t port() const = 0;
  virtual Bytes link_mtu() const = 0;
};

/// Doorbells of send and receive queues.
class Doorbells : public virtual sc_core::sc_interface {
 public:
  /// A CPU store that tells the NIC that requests up to `producer` (exclusive, running on) stand in the ring. With `wqe_bytes` the
  /// store carries the one request posted (BlueFlame) and the NIC need not fetch it.
  virtual void ring(std::uint32_t qpn, std::uint32_t producer, Bytes wqe_bytes) = 0;
  /// Receives of this QP's own queue were posted: a store to the doorbell record, which costs the NIC nothing until it reads it. Only a
  /// QP in ERR acts on it.
  virtual void receives_posted(std::uint32_t qpn) = 0;
};

/// Commands to the firmware through the command queue.
class Command : public virtual sc_core::sc_interface {
 public:
  struct Request {
    Bytes input;                                     ///< bytes of input beyond the entry's own 16: they stand in 512-byte mailboxes
    const translate::TableWrites* writes = nullptr;  ///< table entries that the firmware writes from the input, or null
    Time execution;                                  ///< of the firmware itself, which does one command at a time
    Time latency;                                    ///< what passes besides, while it goes on with others
  };
  /// Finishes when the completion event is visible to the CPU and its interrupt has been raised. Commands queue for the slots.
  virtual engine::Task<int> execute(const Request& request) = 0;
};

/// Work on the one UMR queue pair.
class Umr : public virtual sc_core::sc_interface {
 public:
  struct Request {
    Pa list;           ///< where the kernel has laid the translation list
    Bytes list_bytes;  ///< 0 for a WQE that changes only the mkey context
    const translate::TableWrites* writes = nullptr;
  };
  /// One WQE: doorbell, fetch of the 192-byte WQE, fetch of the list, table writes, CQE; finishes when the CQE's interrupt has been
  /// raised. Several may be under way; the NIC writes tables for one at a time.
  virtual engine::Task<int> post(const Request& request) = 0;
};

/// Transfers that the NIC's own programs make.
class Transfers : public virtual sc_core::sc_interface {
 public:
  /// `request` as the program made it, with a window that fits in `memory`, at the device's addresses. Finishes with the last transfer.
  virtual engine::Task<int> transfer(const verbs::DmaRequest& request, const DmaMap& memory) = 0;
};

/// Asynchronous events, at the kernel.
class Events : public virtual sc_core::sc_interface {
 public:
  /// An entry of the event queue is in memory and its interrupt has been raised. `qpn`: of the QP that it is about.
  virtual void raised(verbs::Event event, std::uint32_t qpn) = 0;
};

/// What a CPU store to a table in host memory changes (the `store` table writer).
class Tables : public virtual sc_core::sc_interface {
 public:
  virtual translate::Architecture& architecture() = 0;
  /// Makes `writes` visible to look-ups and drops the lines that the NIC's caches hold of them.
  virtual void commit(const translate::TableWrites& writes) = 0;
  /// Memory windows that are bound to the MR with this lkey.
  virtual std::uint64_t windows_of(Key) const { return 0; }
};

}  // namespace mtsim::ports

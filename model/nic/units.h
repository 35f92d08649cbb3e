// What the NIC's units say to each other.
#pragma once

#include <coroutine>
#include <systemc>

#include "engine/flow.h"
#include "nic/qp.h"
#include "ports/wire.h"
#include "verbs/decision.h"

namespace mtsim::nic {

/// Hands out QPs with work to the requester, in turn.
class WorkSource : public virtual sc_core::sc_interface {
 public:
  /// The QP has WQEs, or what held it up is over: it is looked at again.
  virtual void wake(Qp& qp) = 0;
  /// The QP whose turn it is, or null.
  virtual Qp* take() = 0;
  virtual bool has_work() const = 0;
  /// The requester has no context for the QP whose turn it is, or has one again.
  virtual void stalled(bool on) = 0;
  /// Resumed when there is work again. One waits at most.
  virtual void wait(std::coroutine_handle<> requester) = 0;
};

/// Ends requests.
class Retirement : public virtual sc_core::sc_interface {
 public:
  /// Request `index` has been answered; requests retire in order. An error ends the QP's life.
  virtual void answered(Qp& qp, std::uint32_t index, verbs::Status status) = 0;
  /// The receive that the QP's message under way has taken is over: `bytes` came into it.
  virtual void received(Qp& qp, verbs::Status status, std::uint64_t bytes) = 0;
  /// The QP goes to ERR: what is outstanding is flushed, its own receives too.
  virtual void fail(Qp& qp) = 0;
  /// Of a QP whose send queue has stopped (SQE): what was posted since is flushed.
  virtual void flush_sends(Qp& qp) = 0;
  /// The host is told of an asynchronous event.
  virtual void report(Qp& qp, verbs::Event event) = 0;
  /// Why something was refused, for the report.
  virtual void refused(Qp& qp, const verbs::Decision& decision) = 0;
};

/// Takes the packets of a QP: requests of the peer, or answers of the peer.
class PacketSink : public virtual sc_core::sc_interface {
 public:
  virtual void take(Qp& qp, ports::Packet& packet) = 0;
};

/// The contexts of QPs, where they are not always at hand.
class ContextSource : public virtual sc_core::sc_interface {
 public:
  /// Whether the QP's context is in the NIC. `busy` is how long looking for it keeps the pipe that asks.
  virtual bool find(Qp& qp, Time& busy) = 0;
  /// Brings the context of a QP that find() has not found: from `at` on, when the look-ups are over, until it is there. Whoever waited for
  /// it has it in hand then, whether or not a cache keeps it.
  virtual engine::Task<int> fetch(Qp& qp, Time at, engine::Order order) = 0;
};

/// The contexts of requests whose WQEs have come into the NIC, where there is not room for all.
class RequestStore : public virtual sc_core::sc_interface {
 public:
  /// The WQE of request `index` has come.
  virtual void begin(Qp& qp, std::uint32_t index) = 0;
  /// Whether its context is still there.
  virtual bool find(Qp& qp, std::uint32_t index) = 0;
  /// Reads the WQE again. `keep`: it will be asked for once more.
  virtual engine::Task<int> fetch(Qp& qp, std::uint32_t index, bool keep) = 0;
};

/// Changes memory windows.
class WindowTable : public virtual sc_core::sc_interface {
 public:
  /// A bind by a request of the QP: takes effect, if no check fails, when this ends.
  virtual engine::Task<verbs::BindCheck> bind(Qp& qp, verbs::Bind bind, engine::Order order) = 0;
  /// The same of an invalidation, which the QP's own request or its peer's asks for.
  virtual engine::Task<verbs::InvalidateCheck> invalidate(Qp& qp, Key key, engine::Order order) = 0;
};

/// Is told of every operation of the NIC's QPs that has ended.
class OperationLog : public virtual sc_core::sc_interface {
 public:
  virtual void ended(std::uint32_t qpn, const ports::Wqe& request, verbs::Status status) = 0;
  /// A check of the NIC's has failed, at `at`.
  virtual void refused(Time at, std::uint32_t qpn, const verbs::Decision& decision) = 0;
};

}  // namespace mtsim::nic

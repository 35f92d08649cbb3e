// Hosts around one switch: full-duplex links, a cut-through switch with a queue at each output. Lossless and unbounded; depths are
// reported.
#pragma once

#include <memory>
#include <vector>

#include "base/byte_time.h"
#include "base/parameter.h"
#include "engine/scheduler.h"
#include "engine/server.h"
#include "ports/wire.h"

namespace mtsim::fabric {

struct NetworkParams {
  BitRate rate{};
  Time propagation{}, forwarding{};
  Bytes mtu{}, overhead{}, train{};
  static void declare(Declaration<NetworkParams>& d);
};

/// Is told of every packet on the links of hosts: for a timeline.
class PacketWatcher {
 public:
  /// The host that sends it has it on its link in [begin, end].
  virtual void leaves(const ports::Packet& packet, Time begin, Time end) = 0;
  /// It comes in at the host that it is for in [begin, end].
  virtual void comes(const ports::Packet& packet, Time begin, Time end) = 0;

 protected:
  ~PacketWatcher() = default;
};

class Switch : public sc_core::sc_module, public ports::Network, private ports::Carrier {
 public:
  /// One for each host, in the order of their ports.
  sc_core::sc_port<ports::NetworkEnd, 0, sc_core::SC_ZERO_OR_MORE_BOUND> ends;

  Switch(sc_core::sc_module_name name, engine::Scheduler& scheduler, const NetworkParams& params, std::uint32_t ports);

  Time transmit(ports::Packet& packet) override;
  ports::WireFormat format() const override;

  struct PortCounts {
    std::uint64_t packets = 0, bytes = 0;  ///< out of the switch to the host; bytes as on the wire
    std::uint64_t payload_bytes = 0;
    Time longest_backlog;  ///< time that the output needed for what stood in its queue
  };
  std::size_t port_count() const { return up_.size(); }
  const PortCounts& counts(std::uint32_t port) const { return counts_[port]; }
  /// Most bytes that stood in the output's queue at once.
  Bytes deepest(std::uint32_t port) const;
  /// The links themselves, for those who ask how far they are booked.
  const engine::Server& up(std::uint32_t port) const { return up_[port]; }
  const engine::Server& down(std::uint32_t port) const { return down_[port]; }
  /// The link from the host to the switch.
  const engine::Usage& up_usage(std::uint32_t port) const { return up_[port].usage(); }
  /// The link from the switch to the host.
  const engine::Usage& down_usage(std::uint32_t port) const { return down_[port].usage(); }
  /// Null: nobody is told.
  void watch(PacketWatcher* watcher) { watcher_ = watcher; }

 private:
  void arrive(ports::Packet& packet) override;
  void deliver(ports::Packet& packet) override;
  [[gnu::cold]] void tell_leaving(const ports::Packet& packet);
  [[gnu::cold]] void tell_coming(const ports::Packet& packet);

  engine::Scheduler& scheduler_;
  NetworkParams params_;
  ByteTime byte_time_;
  std::vector<engine::Server> up_, down_;
  std::vector<PortCounts> counts_;
  PacketWatcher* watcher_ = nullptr;
};

}  // namespace mtsim::fabric

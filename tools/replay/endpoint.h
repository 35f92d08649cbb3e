// What connects two QPs: what each must know of the other. A process of this program gives it at once, one elsewhere over the network.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>

#include "verbs/device.h"

namespace mtsim::replay {

/// Where a QP is reached. Plain bytes: it goes over the network as it stands.
struct QpAddress {
  std::uint32_t qpn = 0;
  std::uint32_t mtu = 0;  ///< ibv_mtu of its path at most
  std::uint16_t lid = 0;
  std::uint16_t port = 0;  ///< iWARP: where it waits for the other; 0: it comes itself
  std::uint8_t gid[16]{};  ///< where it waits: an IP address
};

class Endpoint {
 public:
  /// Of a QP that is in RESET or INIT, which is where connections begin; nothing for any other. One of an iWARP device waits there from
  /// now on. Needs the turn, which it may pass.
  virtual std::optional<QpAddress> path_to(verbs::Handle qp) = 0;
  /// Takes the QP to RTS with that peer; 0 or an errno. The same.
  virtual int bring_up(verbs::Handle qp, const QpAddress& peer) = 0;

 protected:
  ~Endpoint() = default;
};

}  // namespace mtsim::replay

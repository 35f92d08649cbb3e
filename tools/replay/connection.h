// The connection of a queue pair of an iWARP device. Such a queue pair cannot be taken to RTS by ibv_modify_qp: the connection manager
// (librdmacm) makes a TCP connection and does it. One side listens and accepts, the other connects; the queue pair remains the program's.
//
// Nothing here needs the turn. All waits end when the patience of the run does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "endpoint.h"

namespace mtsim::replay {

/// Whether this program was built with librdmacm. Without it every call of a Connection gives EOPNOTSUPP.
bool has_connection_manager();

class Connection {
 public:
  /// What a side brings along.
  struct Own {
    std::uint32_t qpn = 0;
    std::uint8_t reads_in = 0, reads_out = 0;  ///< that may be under way to it and from it
  };
  /// Asked again and again while something is waited for: whether to go on with it.
  using Patience = std::function<bool()>;

  /// For queue pairs of the device of that name.
  Connection(std::string device, Patience patience);
  /// The queue pair must be gone, or about to be connected anew.
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Each gives 0 or an errno.
  /// Waits for nobody yet. `address` learns where that is: an IP address of the device, and a port.
  int listen(QpAddress& address);
  /// The side that listens: until the other has come and both are connected.
  int accept(const Own& own);
  /// The other side: asks for a connection, which established() waits for.
  int connect(const QpAddress& peer, const Own& own);
  int established();

  /// Whether it is connected, as far as the connection manager knows now.
  bool up();
  /// Some thread is in one of these calls, or is to make the next.
  bool busy = false;

 private:
  struct Manager;
  std::unique_ptr<Manager> manager_;
};

}  // namespace mtsim::replay

// The hosts of a trace as processes of this machine: each a child of the process that runs the first.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mtsim::replay {

class Forked {
 public:
  /// Makes a process for every host but the first; returns in each of them. To be called before there are threads or devices.
  explicit Forked(const std::vector<std::string>& hosts);
  /// The parent waits for its children, and ends those that do not end by themselves when their connections have.
  ~Forked();
  Forked(const Forked&) = delete;
  Forked& operator=(const Forked&) = delete;

  /// Number of the host that this process runs.
  std::uint32_t host() const { return host_; }
  bool is_parent() const { return host_ == 0; }
  /// A child's connection to its parent; whoever takes it closes it.
  int take_socket() { return std::exchange(socket_, -1); }
  /// The parent's connections, with a name each.
  std::vector<std::pair<int, std::string>> take_sockets();

 private:
  struct Child {
    pid_t pid = 0;
    int socket = -1;
  };
  void close_sockets();

  std::uint32_t host_ = 0;
  int socket_ = -1;
  std::vector<Child> children_;
};

}  // namespace mtsim::replay

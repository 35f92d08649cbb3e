#include "forked.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/error.h"

namespace mtsim::replay {

namespace {

bool has_ended(pid_t pid, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    if (waitpid(pid, nullptr, WNOHANG) != 0) return true;
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace

Forked::Forked(const std::vector<std::string>& hosts) {
  for (std::uint32_t host = 1; host < hosts.size(); ++host) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw UserError(fmt::format("no connection to a process for host {} can be made: {}", hosts[host], std::strerror(errno)));
    const pid_t pid = ::fork();
    if (pid < 0) throw UserError(fmt::format("no process for host {} can be made: {}", hosts[host], std::strerror(errno)));
    close(ends[pid == 0 ? 0 : 1]);
    if (pid == 0) {
      // What others' connections end with must be their own end.
      close_sockets();
      children_.clear();
      host_ = host;
      socket_ = ends[1];
      return;
    }
    children_.push_back({pid, ends[0]});
  }
}

Forked::~Forked() {
  close_sockets();
  for (const Child& child : children_) {
    if (has_ended(child.pid, std::chrono::seconds(5))) continue;
    // It hangs in the kernel: then that may not help either, and nothing else can be done.
    kill(child.pid, SIGKILL);
    has_ended(child.pid, std::chrono::seconds(1));
  }
}

std::vector<std::pair<int, std::string>> Forked::take_sockets() {
  std::vector<std::pair<int, std::string>> out;
  for (Child& child : children_) out.emplace_back(std::exchange(child.socket, -1), fmt::format("pid {}", child.pid));
  return out;
}

void Forked::close_sockets() {
  for (Child& child : children_)
    if (child.socket >= 0) close(std::exchange(child.socket, -1));
  if (socket_ >= 0) close(std::exchange(socket_, -1));
}

}  // namespace mtsim::replay

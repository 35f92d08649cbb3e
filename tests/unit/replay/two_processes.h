// Two processes of a replay in one, with a pair of sockets between them: the hub with host a, the other with host b.
#pragma once

#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <exception>
#include <thread>

#include "base/error.h"
#include "replay/peers.h"

namespace mtsim::replay {

/// The turn, for as long as this lives.
class HasTurn {
 public:
  explicit HasTurn(Turn& turn) : turn_(turn) { turn_.take(); }
  ~HasTurn() { turn_.pass(); }
  HasTurn(const HasTurn&) = delete;
  HasTurn& operator=(const HasTurn&) = delete;

 private:
  Turn& turn_;
};

inline Membership member_with(std::set<std::uint32_t> own, std::string hash = "0123") {
  Membership self;
  self.version = "1";
  self.trace_hash = std::move(hash);
  self.trace_title = "some.mtrace";
  self.hosts = {"a", "b"};
  self.own = std::move(own);
  self.time = "recorded";
  self.devices = {"dev0"};
  self.boot = "here";
  return self;
}

/// What others say and ask.
struct Heard final : Peers::Side, Endpoint {
  std::map<program::NameId, program::Object> objects;
  std::map<verbs::Handle, QpAddress> connected;
  void learn(program::NameId name, const program::Object& object) override { objects[name] = object; }
  Endpoint& endpoint(std::uint32_t) override { return *this; }
  std::optional<QpAddress> path_to(verbs::Handle qp) override {
    if (qp != 7) return std::nullopt;
    QpAddress address;
    address.qpn = 77;
    address.gid[15] = 200;
    return address;
  }
  int bring_up(verbs::Handle qp, const QpAddress& peer) override {
    connected[qp] = peer;
    return qp == 7 ? 0 : EINVAL;
  }
};

struct OneProcess {
  explicit OneProcess(Membership self, std::chrono::milliseconds limit = std::chrono::seconds(30)) {
    turn.set_limit(limit);
    peers = std::make_unique<Peers>(turn, std::move(self));
  }
  /// Throws GivenUp when the run is.
  template <class Ready>
  bool await(Ready ready) {
    const HasTurn has(turn);
    return turn.wait_for(ready);
  }
  /// The reason for which the run has been given up, when it has.
  std::string await_end() {
    const HasTurn has(turn);
    turn.settle_until(WallClock::now() + std::chrono::seconds(30), [&] { return turn.given_up(); });
    return turn.reason();
  }

  Turn turn;
  Heard heard;
  std::unique_ptr<Peers> peers;
};

inline std::pair<int, int> socket_pair() {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  return {ends[0], ends[1]};
}

/// What a call throws as UserError, or nothing.
template <class Call>
std::string refusal_of(Call call) {
  try {
    call();
  } catch (const UserError& error) {
    std::string all;
    for (const std::string& message : error.messages()) all += message + '\n';
    return all;
  }
  return {};
}

/// Both, found and attached.
struct TwoProcesses {
  explicit TwoProcesses(Wanted wanted = {}) {
    const auto [here, there] = socket_pair();
    std::thread joins([&, socket = there] { b.peers->join(socket); });
    a.peers->gather({{here, "pid 2"}}, wanted);
    joins.join();
    for (OneProcess* process : {&a, &b}) {
      const HasTurn has(process->turn);
      process->peers->attach(process->heard);
    }
  }
  ~TwoProcesses() {
    for (OneProcess* process : {&a, &b}) {
      if (!process->peers) continue;
      const HasTurn has(process->turn);
      process->peers->detach();
    }
  }

  OneProcess a{member_with({0})}, b{member_with({1})};
};

}  // namespace mtsim::replay

// Processes of a replay find each other, and whoever does not fit is sent away with the reason.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include "two_processes.h"

namespace mtsim::replay {
namespace {

using Catch::Contains;

/// What the hub and the other say when the other is like that.
std::pair<std::string, std::string> refusals(Membership other) {
  OneProcess a(member_with({0})), b(std::move(other));
  const auto [here, there] = socket_pair();
  std::string of_b;
  std::thread joins([&, socket = there] { of_b = refusal_of([&] { b.peers->join(socket); }); });
  const std::string of_a = refusal_of([&] { a.peers->gather({{here, "pid 2"}}, {}); });
  joins.join();
  return {of_a, of_b};
}

/// A port of this machine that nobody listens on.
std::uint16_t free_port() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof here;
  auto* const address = reinterpret_cast<sockaddr*>(&here);
  REQUIRE(bind(listener, address, size) == 0);
  REQUIRE(getsockname(listener, address, &size) == 0);
  close(listener);
  return ntohs(here.sin_port);
}

/// Connects, says that, and waits until it is sent away.
void intrude(std::uint16_t port, const std::string& text) {
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  there.sin_port = htons(port);
  const int stranger = socket(AF_INET, SOCK_STREAM, 0);
  while (connect(stranger, reinterpret_cast<const sockaddr*>(&there), sizeof there) != 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(write(stranger, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  char byte = 0;
  CHECK(read(stranger, &byte, 1) <= 0);
  close(stranger);
}

TEST_CASE("A process with another trace, other hosts or other options is refused") {
  Membership other = member_with({1}, "4567");
  const auto [of_hub, of_other] = refusals(other);
  CHECK_THAT(of_hub, Contains("the process of host b did not begin") && Contains("its trace is another: some.mtrace (4567) there"));
  CHECK_THAT(of_other, Contains("the process of host a did not begin: its trace is another") && Contains("(0123) here"));

  other = member_with({1});
  other.hosts = {"a", "b", "c"};
  CHECK_THAT(refusals(other).second, Contains("its trace has other hosts"));
  other = member_with({1});
  other.version = "2";
  CHECK_THAT(refusals(other).second, Contains("its mtsim is 2 and this one is 1"));
  other = member_with({1});
  other.time = "asap";
  CHECK_THAT(refusals(other).second, Contains("--time differs: asap there, recorded here"));
  other = member_with({1});
  other.repeat = 5;
  CHECK_THAT(refusals(other).second, Contains("--repeat differs: 5 there, 1 here"));
}

TEST_CASE("A host runs in one process") {
  OneProcess a(member_with({0})), first(member_with({1})), second(member_with({1}));
  const auto [to_first, from_first] = socket_pair();
  const auto [to_second, from_second] = socket_pair();
  std::string of_first, of_second;
  std::thread joins([&, socket = from_first] { of_first = refusal_of([&] { first.peers->join(socket); }); });
  std::thread joins_too([&, socket = from_second] { of_second = refusal_of([&] { second.peers->join(socket); }); });
  refusal_of([&] { a.peers->gather({{to_first, "pid 2"}, {to_second, "pid 3"}}, {}); });
  a.peers.reset();
  joins.join();
  joins_too.join();
  // Whichever came second; if the run had begun by then, its connection was closed.
  CHECK_THAT(of_first + of_second, Contains("the process of host a did not begin"));
  CHECK(of_first.empty() != of_second.empty());
}

TEST_CASE("A host that nobody runs is named when the limit is over") {
  OneProcess a(member_with({0}), std::chrono::milliseconds(50));
  CHECK_THAT(refusal_of([&] {
               a.peers->gather_at({"127.0.0.1", std::to_string(free_port())}, {});
             }),
             Contains("no process came for host b within"));
  OneProcess b(member_with({1}), std::chrono::milliseconds(50));
  CHECK_THAT(refusal_of([&] {
               b.peers->join_at({"127.0.0.1", std::to_string(free_port())});
             }),
             Contains("the process of host a does not answer at 127.0.0.1:"));
}

TEST_CASE("Strangers are sent away and disturb nobody") {
  OneProcess a(member_with({0})), b(member_with({1}));
  const std::uint16_t port = free_port();
  const Place place{"127.0.0.1", std::to_string(port)};
  std::thread others([&] {
    intrude(port, "GET / HTTP/1.0\r\n\r\n");
    intrude(port, std::string("\0\0\0\4junk", 8));
    intrude(port, std::string("\0\0\0\1\x01", 5));
    b.peers->join_at(place);
  });
  a.peers->gather_at(place, {});
  others.join();
  const HasTurn has(a.turn);
  CHECK_FALSE(a.turn.given_up());
}

TEST_CASE("A place is an address and a port") {
  CHECK(parse_place("192.0.2.1:7471").address == "192.0.2.1");
  CHECK(parse_place("[2001:db8::1]:7471").address == "2001:db8::1");
  CHECK(parse_place("[2001:db8::1]:7471").text() == "[2001:db8::1]:7471");
  CHECK(parse_place("host.example:1").port == "1");
  for (const char* wrong : {"", ":1", "host", "host:", "host:0", "host:65536", "host:http", "2001:db8::1:7471"})
    CHECK_THAT(refusal_of([&] { parse_place(wrong); }), Contains("is no ADDRESS:PORT"));
}

}  // namespace
}  // namespace mtsim::replay

// Processes of a replay talk to each other: objects, barriers, connections, the end.
#include "two_processes.h"

namespace mtsim::replay {
namespace {

program::Object region(std::uint32_t rkey) {
  program::Object object;
  object.kind = program::ObjectKind::mr;
  object.life = program::Life::gone;
  object.handle = 3;
  object.address = Va(0xffff'ffff'ffff'f000);
  object.length = Bytes(4096);
  object.iova = Iova(16);
  object.lkey = Key(0xffff'ffff);
  object.rkey = Key(rkey);
  object.identity = 9;
  return object;
}

/// A thread of that process at barrier 0 of two.
std::uint64_t arrive(OneProcess& process) {
  const HasTurn has(process.turn);
  return process.peers->arrive(0, 2);
}

TEST_CASE("Whoever passes a barrier knows every object of those who came to it") {
  TwoProcesses two;
  const bool from_hub = GENERATE(true, false);
  OneProcess& teller = from_hub ? two.a : two.b;
  OneProcess& listener = from_hub ? two.b : two.a;
  const std::uint64_t waits = arrive(listener);
  {
    const HasTurn has(teller.turn);
    for (program::NameId name = 1; name <= 1000; ++name) teller.peers->publish(name, region(name));
    teller.peers->arrive(0, 2);
  }
  REQUIRE(listener.await([&] { return listener.peers->opened(waits); }));
  CHECK(listener.heard.objects.size() == 1000);
  const program::Object& last = listener.heard.objects[1000];
  CHECK(last.kind == program::ObjectKind::mr);
  CHECK(last.life == program::Life::gone);
  CHECK(last.handle == 3);
  CHECK(last.address.raw == 0xffff'ffff'ffff'f000);
  CHECK(last.length.raw == 4096);
  CHECK(last.iova.raw == 16);
  CHECK(last.lkey.raw == 0xffff'ffff);
  CHECK(last.rkey.raw == 1000);
  CHECK(last.identity == 9);
  CHECK(teller.heard.objects.empty());
}

TEST_CASE("A barrier opens for those who came to it and for nobody else") {
  TwoProcesses two;
  for (int round = 0; round < 3; ++round) {
    const std::uint64_t first = arrive(two.b), second = arrive(two.a);
    REQUIRE(two.b.await([&] { return two.b.peers->opened(first); }));
    REQUIRE(two.a.await([&] { return two.a.peers->opened(second); }));
  }
  const std::uint64_t alone = arrive(two.b);
  // What b asks now is answered after whatever was said of the barrier.
  const HasTurn has(two.b.turn);
  two.b.peers->path_to(0, 7);
  CHECK_FALSE(two.b.peers->opened(alone));
}

TEST_CASE("Ends of a connection are asked of the process that has them") {
  TwoProcesses two;
  const bool from_hub = GENERATE(true, false);
  OneProcess& asks = from_hub ? two.a : two.b;
  OneProcess& answers = from_hub ? two.b : two.a;
  const std::uint32_t host = from_hub ? 1 : 0;
  QpAddress own;
  own.qpn = 5;
  own.mtu = 3;
  own.lid = 0xffff;
  {
    const HasTurn has(asks.turn);
    const auto path = asks.peers->path_to(host, 7);
    REQUIRE(path);
    CHECK(path->qpn == 77);
    CHECK(int(path->gid[15]) == 200);
    CHECK_FALSE(asks.peers->path_to(host, 8));
    CHECK(asks.peers->bring_up(host, 7, own) == 0);
    CHECK(asks.peers->bring_up(host, 8, own) == EINVAL);
  }
  CHECK(answers.heard.connected[7].qpn == 5);
  CHECK(answers.heard.connected[7].lid == 0xffff);
}

TEST_CASE("All begin at one time and end when all have ended") {
  TwoProcesses two;
  WallClock::time_point began, began_there;
  bool ended = false;
  std::thread other([&] {
    const HasTurn has(two.b.turn);
    began_there = two.b.peers->start();
    two.b.peers->end();
    ended = true;
  });
  {
    const HasTurn has(two.a.turn);
    began = two.a.peers->start();
  }
  {
    const HasTurn has(two.b.turn);
    CHECK_FALSE(ended);
  }
  {
    const HasTurn has(two.a.turn);
    two.a.peers->end();
  }
  other.join();
  CHECK(ended);
  CHECK((began == began_there));
}

TEST_CASE("Who gives up, gives up for all, with its reason") {
  TwoProcesses two;
  const bool from_hub = GENERATE(true, false);
  OneProcess& gives_up = from_hub ? two.a : two.b;
  OneProcess& other = from_hub ? two.b : two.a;
  {
    const HasTurn has(gives_up.turn);
    gives_up.turn.give_up("x.t0 at line 4: no completion came");
  }
  CHECK(other.await_end() == "x.t0 at line 4: no completion came");
}

TEST_CASE("A process that is lost ends the run of those who wait for it") {
  TwoProcesses two;
  const bool hub_is_lost = GENERATE(true, false);
  OneProcess& gone = hub_is_lost ? two.a : two.b;
  OneProcess& stays = hub_is_lost ? two.b : two.a;
  const std::uint64_t waits = arrive(stays);
  gone.peers.reset();
  CHECK_THROWS_AS(stays.await([&] { return stays.peers->opened(waits); }), GivenUp);
  CHECK_THAT(stays.await_end(), Catch::Contains(hub_is_lost ? "the process of host a was lost" : "the process of host b (pid 2) was lost"));
}

TEST_CASE("What goes on elsewhere keeps those who wait patient") {
  TwoProcesses two;
  const auto before = [&] {
    const HasTurn has(two.a.turn);
    return two.a.turn.got_on_at();
  }();
  {
    const HasTurn has(two.b.turn);
    two.b.turn.set_limit(std::chrono::milliseconds(0));
    two.b.turn.got_on();
    two.b.peers->notify();
    two.b.peers->publish(1, region(1));
  }
  REQUIRE(two.a.await([&] { return two.a.heard.objects.contains(1); }));
  const HasTurn has(two.a.turn);
  CHECK_FALSE(two.a.turn.out_of_patience());
  CHECK(two.a.turn.got_on_at() == before);
}

TEST_CASE("The hub gets the results and rows of the others") {
  TwoProcesses two({true, false});
  CHECK(two.b.peers->wanted().operations);
  CHECK_FALSE(two.b.peers->wanted().calls);
  CHECK(two.a.peers->counted_devices() == std::vector<std::string>{"dev0"});
  CHECK(two.b.peers->counted_devices().empty());
  std::thread other([&] {
    const HasTurn has(two.b.turn);
    two.b.peers->deliver("{}", {"  b.t0 at line 3: sleep"});
    for (int i = 0; i < 100; ++i) two.b.peers->deliver_rows(false, "row\n");
    two.b.peers->delivered();
  });
  std::string rows;
  std::vector<Delivery> all;
  {
    const HasTurn has(two.a.turn);
    all = two.a.peers->collect([&](std::uint32_t host, bool calls, const std::string& text) {
      CHECK(host == 1);
      CHECK_FALSE(calls);
      rows += text;
    });
  }
  other.join();
  REQUIRE(all.size() == 1);
  CHECK(all[0].report == "{}");
  CHECK(all[0].stuck == std::vector<std::string>{"  b.t0 at line 3: sleep"});
  CHECK(rows.size() == 400);
}

}  // namespace
}  // namespace mtsim::replay

// Do shared resources serve in order of arrival, and do their counts say what happened?
#include <catch2/catch.hpp>
#include <vector>

#include "engine/buffer.h"
#include "engine/semaphore.h"
#include "engine/server.h"
#include "support/fresh_systemc.h"

using namespace mtsim;
using engine::Order;

namespace {

using Seen = std::vector<std::pair<int, Time>>;

struct Bench {
  test::FreshSystemC context;
  engine::Scheduler scheduler{"scheduler"};
  Seen got;

  engine::Flow hold(engine::Semaphore& pool, int who, Time from, std::uint64_t places, Time span) {
    co_await engine::Until(scheduler, from, Order(static_cast<std::uint64_t>(who)));
    co_await pool.take(places);
    got.emplace_back(who, scheduler.now());
    co_await engine::Until(scheduler, scheduler.now() + span, Order(static_cast<std::uint64_t>(who)));
    pool.give(places);
  }
  /// Takes room at `from` and says at once that it comes free `span` after it was got.
  engine::Flow fill(engine::Buffer& buffer, int who, Time from, Bytes bytes, Time span) {
    co_await engine::Until(scheduler, from, Order(static_cast<std::uint64_t>(who)));
    co_await buffer.take(bytes);
    got.emplace_back(who, scheduler.now());
    buffer.give_at(scheduler.now() + span, bytes);
  }
};

}  // namespace

TEST_CASE("a semaphore serves in order of arrival: small takers do not overtake a large one", "[semaphore]") {
  Bench b;
  engine::Semaphore pool(b.scheduler, 3);
  b.scheduler.spawn(b.hold(pool, 0, ns(0), 2, ns(100)));
  b.scheduler.spawn(b.hold(pool, 1, ns(10), 2, ns(50)));  // waits for the first
  b.scheduler.spawn(b.hold(pool, 2, ns(20), 1, ns(10)));  // one place is free, but it is not this one's turn
  b.scheduler.spawn(b.hold(pool, 3, ns(30), 3, ns(10)));
  b.scheduler.spawn(b.hold(pool, 4, ns(30), 1, ns(10)));
  sc_core::sc_start();
  // The second has its two places until 150, so the fourth's three are free then; the last follows it.
  CHECK(b.got == Seen{{0, ns(0)}, {1, ns(100)}, {2, ns(100)}, {3, ns(150)}, {4, ns(160)}});
  const engine::Usage usage = pool.usage();
  CHECK(usage.requests == 5);
  CHECK(usage.waited == 4);
  CHECK(usage.most == 3);
  CHECK(usage.wait_total == ns(90 + 80 + 120 + 130));
  CHECK(usage.wait_longest == ns(130));
  CHECK(usage.busy == ns(2 * 100 + 2 * 50 + 10 + 3 * 10 + 10));
  CHECK(pool.in_use() == 0);
  CHECK_FALSE(pool.has_waiters());
}

TEST_CASE("what is given back goes to those who wait, not to who asks in the same picosecond", "[semaphore]") {
  Bench b;
  engine::Semaphore pool(b.scheduler, 1);
  b.scheduler.spawn(b.hold(pool, 1, ns(0), 1, ns(100)));
  b.scheduler.spawn(b.hold(pool, 5, ns(50), 1, ns(100)));
  b.scheduler.spawn(b.hold(pool, 2, ns(100), 1, ns(100)));
  sc_core::sc_start();
  CHECK(b.got == Seen{{1, ns(0)}, {5, ns(100)}, {2, ns(200)}});
}

TEST_CASE("a buffer serves in order of arrival as room comes free", "[buffer]") {
  Bench b;
  engine::Buffer buffer(b.scheduler, Bytes(100), Order(50));
  b.scheduler.spawn(b.fill(buffer, 0, ns(0), Bytes(60), ns(100)));
  b.scheduler.spawn(b.fill(buffer, 1, ns(10), Bytes(70), ns(30)));
  b.scheduler.spawn(b.fill(buffer, 2, ns(20), Bytes(10), ns(5)));  // would fit at once, but waits its turn
  b.scheduler.spawn(b.fill(buffer, 3, ns(20), Bytes(100), ns(40)));
  sc_core::sc_start();
  // Room is given back in the order of the calls: the third's not before the second's at 130.
  CHECK(b.got == Seen{{0, ns(0)}, {1, ns(100)}, {2, ns(100)}, {3, ns(130)}});
  CHECK(buffer.usage().requests == 4);
  CHECK(buffer.usage().waited == 3);
  CHECK(buffer.usage().most == 100);
  CHECK(buffer.usage().wait_total == ns(90 + 80 + 110));
}

TEST_CASE("a piece larger than the buffer has it to itself", "[buffer]") {
  Bench b;
  engine::Buffer buffer(b.scheduler, Bytes(100), Order(50));
  b.scheduler.spawn(b.fill(buffer, 0, ns(0), Bytes(1), ns(10)));
  b.scheduler.spawn(b.fill(buffer, 1, ns(1), Bytes(5000), ns(10)));
  b.scheduler.spawn(b.fill(buffer, 2, ns(2), Bytes(1), ns(10)));
  sc_core::sc_start();
  CHECK(b.got == Seen{{0, ns(0)}, {1, ns(10)}, {2, ns(20)}});
}

TEST_CASE("a server books one after the other", "[server]") {
  engine::Server server;
  const auto first = server.book(ns(5), ns(10));
  const auto second = server.book(ns(7), ns(10));
  const auto third = server.book(ns(40), ns(1));
  CHECK(first.start == ns(5));
  CHECK(first.end == ns(15));
  CHECK(second.start == ns(15));
  CHECK(second.end == ns(25));
  CHECK(third.start == ns(40));
  CHECK(server.free_at() == ns(41));
  CHECK(server.usage().requests == 3);
  CHECK(server.usage().waited == 1);
  CHECK(server.usage().wait_total == ns(8));
  CHECK(server.usage().busy == ns(21));
}

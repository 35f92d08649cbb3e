// Do readers share a lock and writers have it alone, in order of arrival, and do its counts say who kept whom out?
#include "engine/read_write_lock.h"

#include <catch2/catch.hpp>
#include <vector>

#include "support/fresh_systemc.h"

using namespace mtsim;
using engine::Order;
using Mode = engine::ReadWriteLock::Mode;

namespace {

struct Bench {
  test::FreshSystemC context;
  engine::Scheduler scheduler{"scheduler"};
  engine::ReadWriteLock lock{scheduler};
  std::vector<std::pair<int, Time>> got;
  std::uint32_t readers_most = 0;
  bool alone = true;

  engine::Flow hold(int who, Mode mode, Time from, Time span) {
    co_await engine::Until(scheduler, from, Order(static_cast<std::uint64_t>(who)));
    co_await lock.take(mode);
    got.emplace_back(who, scheduler.now());
    readers_most = std::max(readers_most, lock.readers());
    alone &= !(lock.has_writer() && lock.readers() != 0) && lock.has_writer() == (mode == Mode::write);
    co_await engine::Until(scheduler, scheduler.now() + span, Order(static_cast<std::uint64_t>(who)));
    lock.give(mode);
  }
  engine::Flow unmap(int who, Time from, Time writing, Time reading) {
    co_await engine::Until(scheduler, from, Order(static_cast<std::uint64_t>(who)));
    co_await lock.take(Mode::write);
    got.emplace_back(who, scheduler.now());
    co_await engine::Until(scheduler, scheduler.now() + writing, Order(static_cast<std::uint64_t>(who)));
    lock.downgrade();
    co_await engine::Until(scheduler, scheduler.now() + reading, Order(static_cast<std::uint64_t>(who)));
    lock.give(Mode::read);
  }
};

}  // namespace

TEST_CASE("readers share the lock, and nobody waits for them but a writer", "[read_write_lock]") {
  Bench b;
  for (int who = 0; who < 3; ++who) b.scheduler.spawn(b.hold(who, Mode::read, ns(10 * who), ns(100)));
  sc_core::sc_start();
  CHECK(b.got == std::vector<std::pair<int, Time>>{{0, ns(0)}, {1, ns(10)}, {2, ns(20)}});
  CHECK(b.readers_most == 3);
  const engine::Usage usage = b.lock.usage();
  CHECK(usage.requests == 3);
  CHECK(usage.waited == 0);
  CHECK(usage.busy == Time());
}

TEST_CASE("a writer has the lock alone; a reader who comes after a waiting writer waits behind it", "[read_write_lock]") {
  Bench b;
  b.scheduler.spawn(b.hold(0, Mode::read, ns(0), ns(100)));
  b.scheduler.spawn(b.hold(1, Mode::write, ns(10), ns(50)));  // waits for the reader
  b.scheduler.spawn(b.hold(2, Mode::read, ns(20), ns(30)));   // could share with the first, but the writer came before
  b.scheduler.spawn(b.hold(3, Mode::read, ns(30), ns(40)));   // goes with the one before
  b.scheduler.spawn(b.hold(4, Mode::write, ns(40), ns(5)));
  b.scheduler.spawn(b.hold(5, Mode::read, ns(50), ns(5)));  // may not go with the readers before the writer
  sc_core::sc_start();
  CHECK(b.got == std::vector<std::pair<int, Time>>{{0, ns(0)}, {1, ns(100)}, {2, ns(150)}, {3, ns(150)}, {4, ns(190)}, {5, ns(195)}});
  CHECK(b.alone);
  const engine::Usage usage = b.lock.usage();
  CHECK(usage.waited == 5);
  CHECK(usage.wait_total == ns(90 + 130 + 120 + 150 + 145));
  CHECK(usage.wait_longest == ns(150));
  // From the first writer's asking to the end of the second.
  CHECK(usage.busy == ns(195 - 10));
}

TEST_CASE("a writer that goes on as a reader lets other readers in, and no writer", "[read_write_lock]") {
  Bench b;
  b.scheduler.spawn(b.unmap(0, ns(0), ns(20), ns(80)));
  b.scheduler.spawn(b.hold(1, Mode::read, ns(5), ns(10)));
  b.scheduler.spawn(b.hold(2, Mode::write, ns(6), ns(10)));
  sc_core::sc_start();
  CHECK(b.got == std::vector<std::pair<int, Time>>{{0, ns(0)}, {1, ns(20)}, {2, ns(100)}});
  CHECK(b.alone);
  CHECK(b.lock.usage().busy == ns(110));
}

TEST_CASE("who asks in the picosecond of a release comes after those who wait", "[read_write_lock]") {
  Bench b;
  b.scheduler.spawn(b.hold(1, Mode::write, ns(0), ns(100)));
  b.scheduler.spawn(b.hold(5, Mode::write, ns(50), ns(100)));
  b.scheduler.spawn(b.hold(2, Mode::read, ns(100), ns(100)));
  sc_core::sc_start();
  CHECK(b.got == std::vector<std::pair<int, Time>>{{1, ns(0)}, {5, ns(100)}, {2, ns(200)}});
}

// Do threads share CPUs as they should, and is every picosecond of every CPU accounted for?
#include "host/cpu.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

#include "support/fresh_systemc.h"

using namespace mtsim;
using ports::Work;

namespace {

struct Bench {
  test::FreshSystemC context;
  engine::Scheduler scheduler{"scheduler"};
  host::Cpus cpus;
  std::vector<Time> ended;

  Bench(std::uint32_t n, std::uint32_t threads, Time quantum = us(10))
      : cpus("cpus", scheduler, host::CpuParams{quantum}, n, threads, 0), ended(threads) {}

  /// `calls` calls of `span` each, one after the other.
  engine::Flow calls(verbs::Thread thread, int count, Time span) {
    for (int i = 0; i < count; ++i) {
      cpus.boundary(thread);
      co_await cpus.run(thread, Work::user, span);
    }
    ended[thread] = scheduler.now();
    cpus.block(thread);
  }
  engine::Flow poller(verbs::Thread thread, Time turn) {
    co_await cpus.spin(thread, turn);
    co_await cpus.run(thread, Work::user, ns(7));
    ended[thread] = scheduler.now();
    cpus.block(thread);
  }
  engine::Flow at(Time when, verbs::Thread noticed) {
    co_await engine::Until(scheduler, when, engine::Order(1));
    cpus.notice(noticed);
  }
  engine::Flow late(Time when, verbs::Thread thread, Time span) {
    co_await engine::Until(scheduler, when, engine::Order(2));
    co_await cpus.run(thread, Work::syscall, span);
    ended[thread] = scheduler.now();
    cpus.block(thread);
  }
  void run() { sc_core::sc_start(); }

  /// Runs a nanosecond longer than the last work, and checks that the parts add up.
  void check_times() {
    const ports::CpuTimes times = cpus.times();
    const Time sum = std::accumulate(times.spent.begin(), times.spent.end(), times.idle);
    REQUIRE(sum == scheduler.now() * std::int64_t(cpus.cpus()));
    REQUIRE(times.idle.raw >= 0);
  }
};

}  // namespace

TEST_CASE("a thread with a CPU of its own works without waiting, one timed event a run", "[cpu]") {
  Bench bench(2, 2);
  bench.scheduler.spawn(bench.calls(0, 3, ns(100)));
  bench.scheduler.spawn(bench.calls(1, 1, ns(250)));
  bench.run();
  REQUIRE(bench.ended == std::vector<Time>{ns(300), ns(250)});
  REQUIRE(bench.scheduler.timed_events() == 4);
  REQUIRE(bench.cpus.times()[Work::user] == ns(550));
  REQUIRE(bench.cpus.times().idle == ns(50));
  REQUIRE(bench.cpus.usage().waited == 0);
  bench.check_times();
}

TEST_CASE("threads without a CPU queue in order of arrival", "[cpu]") {
  Bench bench(1, 3);
  bench.scheduler.spawn(bench.calls(2, 1, ns(100)));
  bench.scheduler.spawn(bench.late(ns(20), 1, ns(10)));
  bench.scheduler.spawn(bench.late(ns(10), 0, ns(10)));
  bench.run();
  REQUIRE(bench.ended == std::vector<Time>{ns(110), ns(120), ns(100)});
  REQUIRE(bench.cpus.usage().waited == 2);
  REQUIRE(bench.cpus.usage().wait_longest == ns(90));
  bench.check_times();
}

TEST_CASE("of threads that arrive together the lower index goes first", "[cpu]") {
  Bench bench(1, 3);
  bench.scheduler.spawn(bench.calls(1, 1, ns(100)));
  bench.scheduler.spawn(bench.late(ns(10), 2, ns(10)));
  bench.scheduler.spawn(bench.late(ns(10), 0, ns(10)));
  bench.run();
  REQUIRE(bench.ended == std::vector<Time>{ns(110), ns(100), ns(120)});
}

TEST_CASE("a thread that has used up its quantum goes behind those who wait, at a call's start only", "[cpu]") {
  Bench bench(1, 2, ns(250));
  bench.scheduler.spawn(bench.calls(0, 5, ns(100)));
  bench.scheduler.spawn(bench.calls(1, 5, ns(100)));
  bench.run();
  // Three calls each before the first boundary past 250 ns.
  REQUIRE(bench.ended == std::vector<Time>{ns(800), ns(1000)});
  bench.check_times();
}

TEST_CASE("without anybody waiting a quantum does not matter", "[cpu]") {
  Bench bench(1, 1, ns(50));
  bench.scheduler.spawn(bench.calls(0, 5, ns(100)));
  bench.run();
  REQUIRE(bench.ended[0] == ns(500));
}

TEST_CASE("a poller notices at the end of its turn and all of its spinning is polling", "[cpu]") {
  Bench bench(1, 1);
  bench.scheduler.spawn(bench.poller(0, ns(15)));
  bench.scheduler.spawn(bench.at(ns(100), 0));
  bench.run();
  REQUIRE(bench.ended[0] == ns(105 + 7));
  REQUIRE(bench.cpus.times()[Work::polling] == ns(105));
  REQUIRE(bench.cpus.usage().busy == ns(7));
  bench.check_times();

  Bench exact(1, 1);
  exact.scheduler.spawn(exact.poller(0, ns(20)));
  exact.scheduler.spawn(exact.at(ns(100), 0));
  exact.run();
  REQUIRE(exact.ended[0] == ns(107));
}

TEST_CASE("a poller gives its CPU to a thread that wants to work, and wants one again when its completion is there", "[cpu]") {
  Bench bench(1, 2);
  bench.scheduler.spawn(bench.poller(0, ns(15)));
  bench.scheduler.spawn(bench.late(ns(52), 1, ns(100)));
  bench.scheduler.spawn(bench.at(ns(60), 0));
  bench.run();
  REQUIRE(bench.ended[1] == ns(152));           // at once
  REQUIRE(bench.ended[0] == ns(152 + 15 + 7));  // a turn of its loop, then what it found
  REQUIRE(bench.cpus.times()[Work::polling] == ns(52 + 15));
  bench.check_times();
}

TEST_CASE("a poller that finds others waiting does not spin at all", "[cpu]") {
  Bench bench(1, 3);
  bench.scheduler.spawn(bench.calls(1, 1, ns(50)));
  bench.scheduler.spawn(bench.calls(2, 1, ns(50)));
  bench.scheduler.spawn(bench.poller(0, ns(15)));
  bench.scheduler.spawn(bench.at(ns(300), 0));
  bench.run();
  REQUIRE(bench.ended == std::vector<Time>{ns(300 + 15 + 7), ns(50), ns(100)});
  REQUIRE(bench.cpus.times()[Work::polling] == ns(15));
  bench.check_times();
}

TEST_CASE("times add up while work is under way", "[cpu]") {
  Bench bench(3, 3);
  bench.scheduler.spawn(bench.calls(0, 10, ns(100)));
  bench.scheduler.spawn(bench.poller(1, ns(15)));
  bench.scheduler.spawn(bench.at(ns(5000), 1));
  for (const int stop : {33, 150, 999, 1001, 4990, 6000}) {
    bench.scheduler.set_end(ns(stop));
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_NS));
    bench.check_times();
  }
}

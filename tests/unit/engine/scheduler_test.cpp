// Does the model keep its order and its times, whether it runs ahead of the SystemC kernel or shares it with foreign processes?
#include "engine/scheduler.h"

#include <catch2/catch.hpp>
#include <vector>

#include "support/fresh_systemc.h"

using namespace mtsim;
using engine::Order;

namespace {

struct Bench : sc_core::sc_module {
  explicit Bench(engine::Scheduler& s) : sc_module(sc_core::sc_module_name("bench")), scheduler(s) {}

  engine::Flow at(Time when, int mark) {
    co_await engine::Until(scheduler, when, Order(1));
    note(mark);
  }
  /// A step every `period` until `end`.
  engine::Flow steps(Time period, Time end, int mark) {
    for (Time t = period; t <= end; t += period) {
      co_await engine::Until(scheduler, t, Order(static_cast<std::uint64_t>(mark)));
      note(mark);
    }
  }
  engine::Flow tell_kernel(Time when, Time after) {
    co_await engine::Until(scheduler, when, Order(1));
    told.notify(sc_core::sc_time::from_value(static_cast<std::uint64_t>((when + after).raw)) - sc_core::sc_time_stamp());
  }
  void note(int mark) { seen.emplace_back(scheduler.now(), mark); }

  engine::Scheduler& scheduler;
  sc_core::sc_event told;
  std::vector<std::pair<Time, int>> seen;
};

/// A process of the test's own that looks at the model every microsecond.
struct Watcher : sc_core::sc_module {
  SC_HAS_PROCESS(Watcher);
  Watcher(sc_core::sc_module_name name, engine::Scheduler& s, int turns) : sc_module(name), scheduler(s), left(turns) { SC_THREAD(watch); }
  void watch() {
    while (left-- > 0) {
      wait(1, sc_core::SC_US);
      scheduler.catch_up();
      seen.push_back(scheduler.now());
    }
  }
  engine::Scheduler& scheduler;
  int left;
  std::vector<Time> seen;
};

/// A process that, once told, has the model do something later.
struct Caller : sc_core::sc_module {
  SC_HAS_PROCESS(Caller);
  Caller(sc_core::sc_module_name name, Bench& b, Time when_done) : sc_module(name), bench(b), when(when_done) {
    SC_METHOD(call);
    sensitive << bench.told;
    dont_initialize();
  }
  void call() {
    bench.scheduler.catch_up();
    bench.note(100);
    bench.scheduler.spawn(bench.at(when, 101));
  }
  Bench& bench;
  Time when;
};

using Seen = std::vector<std::pair<Time, int>>;

}  // namespace

TEST_CASE("alone, the model runs in one go of the kernel", "[scheduler]") {
  test::FreshSystemC context;
  engine::Scheduler scheduler("scheduler");
  Bench bench(scheduler);
  scheduler.spawn(bench.steps(ns(300), us(30), 1));
  sc_core::sc_start();
  CHECK(bench.seen.size() == 100);
  CHECK(scheduler.now() == us(30));
  CHECK(scheduler.timed_events() == 100);
  CHECK(scheduler.kernel_events() <= 2);  // one when elaboration ends, one for all that is due
  CHECK(scheduler.idle());
}

TEST_CASE("nothing is simulated past the end", "[scheduler]") {
  test::FreshSystemC context;
  engine::Scheduler scheduler("scheduler");
  Bench bench(scheduler);
  scheduler.set_end(ns(900));
  scheduler.spawn(bench.steps(ns(300), us(30), 1));
  sc_core::sc_start();
  CHECK(bench.seen == Seen{{ns(300), 1}, {ns(600), 1}, {ns(900), 1}});
  CHECK_FALSE(scheduler.idle());
}

TEST_CASE("a stop is honoured at the next step", "[scheduler]") {
  test::FreshSystemC context;
  engine::Scheduler scheduler("scheduler");
  struct Stopper : Bench {
    using Bench::Bench;
    engine::Flow stop(Time when) {
      co_await engine::Until(scheduler, when, Order(0));
      scheduler.request_stop();
    }
  } bench(scheduler);
  scheduler.spawn(bench.steps(ns(300), us(30), 1));
  scheduler.spawn(bench.stop(ns(1000)));
  sc_core::sc_start();
  CHECK(bench.seen.size() == 3);
  CHECK(scheduler.now() == ns(1000));
}

TEST_CASE("a foreign process changes nothing in the model and sees its time", "[scheduler]") {
  const auto run = [](int turns, bool strict) {
    test::FreshSystemC context;
    engine::Scheduler scheduler("scheduler");
    Bench bench(scheduler);
    Watcher watcher("watcher", scheduler, turns);
    scheduler.set_strict(strict);
    scheduler.spawn(bench.steps(ns(300), us(30), 1));
    scheduler.spawn(bench.steps(ns(500), us(30), 0));
    scheduler.spawn(bench.steps(us(7), us(28), 2));  // beyond the wheel's horizon
    sc_core::sc_start();
    for (int i = 0; i < turns; ++i) REQUIRE(watcher.seen.at(static_cast<std::size_t>(i)) == us(i + 1));
    return bench.seen;
  };
  Seen expected;
  for (Time t = ns(100); t <= us(30); t += ns(100)) {
    if (t % ns(500) == Time{}) expected.emplace_back(t, 0);
    if (t % ns(300) == Time{}) expected.emplace_back(t, 1);
    if (t % us(7) == Time{}) expected.emplace_back(t, 2);
  }
  CHECK(run(0, false) == expected);
  CHECK(run(30, false) == expected);
  CHECK(run(0, true) == expected);
  CHECK(run(30, true) == expected);
}

TEST_CASE("strict: the kernel's time is the model's at every busy picosecond", "[scheduler]") {
  const auto lag = [](bool strict) {
    test::FreshSystemC context;
    engine::Scheduler scheduler("scheduler");
    struct Comparer : Bench {
      using Bench::Bench;
      engine::Flow compare(Time& longest) {
        for (Time t = ns(300); t <= us(3); t += ns(300)) {
          co_await engine::Until(scheduler, t, Order(0));
          longest = std::max(longest, scheduler.now() - Time(static_cast<std::int64_t>(sc_core::sc_time_stamp().value())));
        }
      }
    } bench(scheduler);
    scheduler.set_strict(strict);
    Time longest;
    Watcher watcher("watcher", scheduler, 0);
    scheduler.spawn(bench.compare(longest));
    sc_core::sc_start();
    return longest;
  };
  CHECK(lag(true) == ps(0));
  CHECK(lag(false) == us(3) - ns(300));
}

TEST_CASE("a process that the model wakes may put work before what the model was about to do", "[scheduler]") {
  test::FreshSystemC context;
  engine::Scheduler scheduler("scheduler");
  Bench bench(scheduler);
  Caller caller("caller", bench, us(4));
  scheduler.spawn(bench.tell_kernel(us(1), us(2)));  // the caller runs at 3 us and has work done at 4 us
  scheduler.spawn(bench.at(us(4) - ns(600), 1));
  scheduler.spawn(bench.at(us(10), 2));
  sc_core::sc_start();
  CHECK(bench.seen == Seen{{us(3), 100}, {us(4) - ns(600), 1}, {us(4), 101}, {us(10), 2}});
}

TEST_CASE("a process that the model wakes long before its next step", "[scheduler]") {
  test::FreshSystemC context;
  engine::Scheduler scheduler("scheduler");
  Bench bench(scheduler);
  Caller caller("caller", bench, us(4));
  scheduler.spawn(bench.tell_kernel(us(1), us(2)));
  scheduler.spawn(bench.at(us(5), 2));
  sc_core::sc_start();
  CHECK(bench.seen == Seen{{us(3), 100}, {us(4), 101}, {us(5), 2}});
}

TEST_CASE("samples are taken between steps at the times asked for, and make no run longer", "[scheduler]") {
  test::FreshSystemC context;
  engine::Scheduler scheduler("scheduler");
  Bench bench(scheduler);
  std::vector<std::int64_t> sampled;
  std::vector<std::size_t> seen;
  scheduler.set_sampler(ns(350), [&](Time now) {
    sampled.push_back(now.raw);
    seen.push_back(bench.seen.size());
    return now + ns(250);
  });
  scheduler.spawn(bench.steps(ns(300), ns(900), 1));
  // Never meant: nobody waits for it, and no sample is taken on the way there.
  engine::Deadline deadline;
  deadline.due = [](engine::Deadline&) { return engine::Deadline::never; };
  scheduler.watch(deadline, us(50));
  sc_core::sc_start();
  CHECK(bench.seen == Seen{{ns(300), 1}, {ns(600), 1}, {ns(900), 1}});
  REQUIRE(sampled == std::vector<std::int64_t>{350'000, 600'000, 850'000});
  // That of 600 comes after the step of the same time or before it, but not at another time.
  CHECK(seen[0] == 1);
  CHECK(seen[2] == 2);
  CHECK(scheduler.now() == ns(900));
  CHECK(scheduler.timed_events() == 3);
}

// Do timers leave the wheel in order of time, then order key, then arrival, wherever in the future they lie?
#include "engine/wheel.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <random>
#include <vector>

using namespace mtsim;
using engine::Order;
using engine::Timer;
using engine::Wheel;

namespace {

/// Timers by number, in the order in which they were pushed.
struct Pushed {
  Wheel wheel;
  std::deque<Timer> timers;

  void push(Time when, std::uint64_t order) {
    Timer& timer = timers.emplace_back();
    timer.when = when;
    timer.order = Order(order);
    wheel.push(timer);
  }
  std::size_t number(const Timer* timer) const {
    for (std::size_t i = 0; i < timers.size(); ++i)
      if (&timers[i] == timer) return i;
    FAIL("a timer that nobody pushed");
    return 0;
  }
  /// Numbers of all that are due by `limit`, as they leave.
  std::vector<std::size_t> drain(Time limit) {
    std::vector<std::size_t> out;
    while (const Timer* timer = wheel.take(limit)) out.push_back(number(timer));
    return out;
  }
};

}  // namespace

TEST_CASE("one picosecond: order key first, then arrival", "[wheel]") {
  Pushed p;
  for (const std::uint64_t order : {5, 1, 5, 0, 1}) p.push(ps(700), order);
  p.push(ps(699), 9);
  CHECK(p.drain(us(1)) == std::vector<std::size_t>{5, 3, 1, 4, 0, 2});
  CHECK(p.wheel.size() == 0);
}

TEST_CASE("timers beyond the horizon wait apart and come back in order", "[wheel]") {
  Pushed p;
  p.push(us(900), 1);  // far beyond what the slots span
  p.push(ps(10), 1);
  p.push(us(900), 0);
  p.push(us(5), 1);
  p.push(us(900) + ps(1), 0);
  CHECK(p.wheel.earliest() == ps(10));
  CHECK(p.drain(us(4)) == std::vector<std::size_t>{1});
  CHECK(p.wheel.earliest() == us(5));
  CHECK(p.drain(us(900)) == std::vector<std::size_t>{3, 2, 0});
  CHECK(p.drain(us(901)) == std::vector<std::size_t>{4});
}

TEST_CASE("a far timer that has come near goes before a nearer push of the same picosecond", "[wheel]") {
  Pushed p;
  p.push(us(10), 3);
  p.push(us(8), 3);
  CHECK(p.drain(us(8)) == std::vector<std::size_t>{1});
  p.push(us(10), 3);
  CHECK(p.drain(us(10)) == std::vector<std::size_t>{0, 2});
}

TEST_CASE("the limit is never overrun, to the picosecond, and earlier timers may still be pushed", "[wheel]") {
  Pushed p;
  p.push(ns(50), 0);
  CHECK(p.wheel.take(ns(50) - ps(1)) == nullptr);
  p.push(ns(50) - ps(1), 0);
  CHECK(p.drain(ns(50) - ps(2)).empty());
  CHECK(p.drain(ns(50) - ps(1)) == std::vector<std::size_t>{1});
  CHECK(p.drain(ns(50)) == std::vector<std::size_t>{0});
}

TEST_CASE("random pushes and limits against a sorted list", "[wheel]") {
  struct Entry {
    std::int64_t when;
    std::uint64_t order;
    std::size_t number;
  };
  for (const unsigned seed : {1u, 2u, 3u, 4u, 5u}) {
    std::mt19937_64 random(seed);
    Pushed p;
    std::vector<Entry> waiting;
    std::int64_t now = 0;
    // Spans from a few picoseconds to well past the horizon of about 4 us, so that slots wrap round many times.
    const std::int64_t spans[] = {4, 1'000, 30'000, 2'000'000, 4'194'304, 50'000'000};
    std::vector<std::size_t> got, expected;
    for (int step = 0; step < 1500; ++step) {
      for (std::uint64_t i = random() % 3; i != 0; --i) {
        const std::int64_t when = now + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(spans[random() % 6]));
        const std::uint64_t order = random() % 3;
        waiting.push_back({when, order, p.timers.size()});
        p.push(Time(when), order);
      }
      now += static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(spans[random() % 5]));
      std::stable_sort(waiting.begin(), waiting.end(),
                       [](const Entry& a, const Entry& b) { return a.when != b.when ? a.when < b.when : a.order < b.order; });
      std::size_t due = 0;
      for (; due < waiting.size() && waiting[due].when <= now; ++due) expected.push_back(waiting[due].number);
      waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(due));
      const auto left = p.drain(Time(now));
      got.insert(got.end(), left.begin(), left.end());
      REQUIRE(got == expected);
      REQUIRE(p.wheel.size() == waiting.size());
      if (!waiting.empty()) REQUIRE(p.wheel.earliest() == Time(waiting.front().when));
    }
    CHECK(expected.size() > 1000);
  }
}

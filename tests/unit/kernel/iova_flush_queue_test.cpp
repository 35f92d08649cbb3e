// When do unmapped I/O virtual addresses come back under lazy invalidation? After a flush that came later than they did, not before.
#include "kernel/iova_flush_queue.h"

#include <catch2/catch.hpp>

using namespace mtsim;
using kernel::IovaFlushQueue;

namespace {

Time ms(std::int64_t n) { return us(n * 1000); }

}  // namespace

TEST_CASE("a range queued comes back when the timer ends, 10 ms after the first one", "[iova_flush_queue]") {
  IovaFlushQueue queue(256, ms(10));
  std::vector<IovaFlushQueue::Freed> freed;
  REQUIRE_FALSE(queue.queue(2, {100, 4}, ms(1), freed));
  REQUIRE_FALSE(queue.queue(0, {200, 8}, ms(5), freed));
  queue.settle(ms(11) - ps(1), freed);
  REQUIRE(freed.empty());
  REQUIRE(queue.queued() == 2);
  queue.settle(ms(11), freed);
  REQUIRE(freed.size() == 2);
  // By the hand of the CPU that armed the timer.
  for (const auto& free : freed) REQUIRE(free.cpu == 2);
  REQUIRE(freed[0].range.page + freed[1].range.page == 300);
  REQUIRE(queue.queued() == 0);
  // The next one arms it again.
  freed.clear();
  queue.queue(1, {1, 1}, ms(30), freed);
  queue.settle(ms(39), freed);
  REQUIRE(freed.empty());
  queue.settle(ms(41), freed);
  REQUIRE(freed.size() == 1);
}

TEST_CASE("255 ranges fit the ring of a CPU; the next call flushes all CPUs' at once", "[iova_flush_queue]") {
  IovaFlushQueue queue(256, ms(10));
  std::vector<IovaFlushQueue::Freed> freed;
  queue.queue(1, {7, 1}, ms(0), freed);
  for (std::uint64_t i = 0; i < 255; ++i) REQUIRE_FALSE(queue.queue(0, {1000 + i, 1}, ms(0), freed));
  REQUIRE(freed.empty());
  REQUIRE(queue.queue(0, {5000, 1}, ms(0), freed));
  REQUIRE(freed.size() == 255);
  REQUIRE(freed.front().range.page == 1000);
  REQUIRE(queue.queued() == 2);
  // The other CPU's range was flushed too, and comes back the next time that this CPU queues one.
  freed.clear();
  REQUIRE_FALSE(queue.queue(1, {8, 1}, ms(0), freed));
  REQUIRE(freed.size() == 1);
  REQUIRE(freed[0].range.page == 7);
  REQUIRE(freed[0].cpu == 1);
}

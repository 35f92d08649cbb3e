// Do threads of one process wait for what they share, for as long as it takes and no longer, and do their steps say so?
#include <catch2/catch.hpp>
#include <numeric>

#include "kernel/cache_line.h"
#include "support/host_rig.h"

using namespace mtsim;
using test::HostRig;
using test::HostSettings;
using test::Waiter;
using verbs::Access;
using Step = ports::RegistrationStep;

namespace {

/// A fault of 4 KiB takes 1200 ns and its page is cleared in 409.6 ns; of this 500 ns are everybody's.
HostSettings settings(std::uint32_t threads = 2) {
  HostSettings s;
  s.kernel.fault_shared = ns(500);
  s.kernel.line_transfer = Time();
  s.kernel.mmap = us(30);
  s.kernel.munmap = us(2);
  s.kernel.unmap_page = us(10);
  s.kernel.mprotect = us(40);
  s.kernel.madvise = us(40);
  s.kernel.touch_page = Time();
  s.threads = s.cpus = threads;
  return s;
}
constexpr Time fault = ps(1'609'600), shared = ns(500);

Time step(const ports::RegistrationRecord& record, Step which) { return record.cost.steps[unsigned(which)]; }

void check_sums(const HostRig& rig) {
  for (const ports::RegistrationRecord& r : rig.records)
    REQUIRE(std::accumulate(r.cost.steps.begin(), r.cost.steps.end(), Time()) == r.end - r.begin);
  const ports::CpuTimes times = rig.cpus.times();
  REQUIRE(std::accumulate(times.spent.begin(), times.spent.end(), times.idle) == rig.scheduler.now() * std::int64_t(rig.cpus.cpus()));
}

/// Calls of several threads that all begin now; run() sees them through.
class Together {
 public:
  explicit Together(HostRig& rig) : rig_(rig), begin_(rig.scheduler.now()) {}
  template <class Call>
  Together& call(Call call) {
    waiters_.push_back(std::make_unique<Waiter>(rig_.scheduler));
    Waiter& waiter = *waiters_.back();
    call(waiter.reply, waiter);
    return *this;
  }
  void run() {
    rig_.run();
    for (const auto& waiter : waiters_) {
      REQUIRE(waiter->done);
      REQUIRE(waiter->reply.error == 0);
    }
    check_sums(rig_);
  }
  /// When the i-th call ended, from the start of all.
  Time end(std::size_t i) const { return waiters_[i]->at - begin_; }

 private:
  HostRig& rig_;
  Time begin_;
  std::vector<std::unique_ptr<Waiter>> waiters_;
};

verbs::RegMrRequest request(verbs::Handle pd, Va at, Bytes length) { return {pd, at, length, Access::local_write, Iova(at.raw)}; }

}  // namespace

TEST_CASE("a line moves to whoever changes it: free for the one that has it, one transfer after the other for others", "[contention]") {
  kernel::CacheLine line;
  CHECK(line.change(0, ns(0), ns(50)) == Time());
  CHECK(line.change(0, ns(1), ns(50)) == Time());
  CHECK(line.change(1, ns(10), ns(50)) == ns(50));
  CHECK(line.change(2, ns(20), ns(50)) == ns(40 + 50));
  CHECK(line.change(0, ns(110), ns(50), 2) == ns(100));
  CHECK(line.change(0, ns(300), ns(50), 2) == Time());
  CHECK(line.usage(ns(300)).busy == ns(200));
  CHECK(line.usage(ns(300)).requests == 6);
  CHECK(line.usage(ns(300)).wait_total == ns(40));
  // What is still under way counts up to now alone.
  line.change(1, ns(400), ns(50));
  CHECK(line.usage(ns(410)).busy == ns(210));
}

TEST_CASE("two threads that fault in their first pages in reg_mr pass the page allocator one after the other", "[contention]") {
  HostRig rig(settings());
  const auto pd = rig.pd();
  const Va a = rig.mmap(KiB(64), verbs::PageKind::base_4k, false), b = rig.mmap(KiB(64), verbs::PageKind::base_4k, false);
  Together both(rig);
  both.call([&](auto& r, auto& c) { rig.device.reg_mr(0, request(pd, a, KiB(64)), r, c); });
  both.call([&](auto& r, auto& c) { rig.device.reg_mr(1, request(pd, b, KiB(64)), r, c); });
  both.run();
  REQUIRE(rig.records.size() == 2);
  // Both share the mmap lock: neither waits for it. The second finds the allocator taken for the 16 pages of the first.
  CHECK(step(rig.records[0], Step::lock) == Time());
  CHECK(step(rig.records[1], Step::lock) == Time());
  CHECK(step(rig.records[0], Step::fault) == fault * 16);
  CHECK(step(rig.records[1], Step::fault) == fault * 16 + shared * 16);
  CHECK(rig.records[0].cost.queued == Time());
  CHECK(rig.records[1].cost.queued == shared * 16);
  const engine::Server& allocator = rig.kernel.processes().page_allocator;
  CHECK(allocator.usage().busy == shared * 32);
  CHECK(allocator.usage().wait_total == shared * 16);
}

TEST_CASE("alone, a thread takes as long for its faults however they are cut", "[contention]") {
  for (const std::uint32_t threads : {1u, 2u}) {
    HostRig rig(settings(threads));
    const auto pd = rig.pd();
    const Va buffer = rig.mmap(MiB(5) + KiB(12), verbs::PageKind::base_4k, false);
    REQUIRE(rig.reg_mr(pd, buffer + KiB(4), MiB(5)).error == 0);
    CHECK(rig.step(Step::fault) == fault * (5 * 256));
    CHECK(rig.step(Step::lock) == Time());
    // Three batches where others could come between, and nothing to cut where there is nobody.
    CHECK(rig.kernel.processes().of(0).shared.mmap_lock.usage().requests == (threads == 1 ? 1u : 3u) + 1);
  }
}

TEST_CASE("present pages are pinned without the mmap lock: only batches with absent ones take it", "[contention]") {
  HostRig rig(settings());
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(MiB(8));
  const auto before = rig.kernel.processes().of(0).shared.mmap_lock.usage().requests;
  REQUIRE(rig.reg_mr(pd, buffer, MiB(8)).error == 0);
  CHECK(rig.kernel.processes().of(0).shared.mmap_lock.usage().requests == before);
  // Pages 100 and 101 of batch 0, and 1000 of batch 1: two batches of four.
  for (const std::uint64_t page : {100u, 101u, 1000u})
    REQUIRE(rig.madvise(buffer + page_bytes * page, KiB(4), verbs::Advice::dontneed) == 0);
  const auto dropped = rig.kernel.processes().of(0).shared.mmap_lock.usage().requests;
  REQUIRE(rig.reg_mr(pd, buffer, MiB(8)).error == 0);
  CHECK(rig.records.back().cost.faults == 3);
  CHECK(rig.kernel.processes().of(0).shared.mmap_lock.usage().requests == dropped + 2);
}

TEST_CASE("a registration that must fault waits for the writer that has the mmap lock, asleep", "[contention]") {
  for (const std::uint32_t cpus : {2u, 1u}) {
    CAPTURE(cpus);
    HostSettings s = settings();
    s.cpus = cpus;
    HostRig rig(s);
    const auto pd = rig.pd();
    const Va absent = rig.mmap(KiB(64), verbs::PageKind::base_4k, false), other = rig.mmap(KiB(64));
    Together both(rig);
    // mprotect: 1 us to enter, then 40 us under the lock and 16 pages of 20 ns; the registration asks 21 us after its start.
    both.call([&](auto& r, auto& c) { rig.device.mprotect(0, other, KiB(64), true, false, r, c); });
    both.call([&](auto& r, auto& c) { rig.device.reg_mr(1, request(pd, absent, KiB(64)), r, c); });
    both.run();
    const Time held = us(1 + 40) + s.kernel.protect_page * 16;
    if (cpus == 2) {
      CHECK(step(rig.records[0], Step::lock) == held - us(21));
      CHECK(rig.kernel.processes().of(0).shared.mmap_lock.usage().wait_total == held - us(21));
      // Readers by themselves keep nobody out.
      CHECK(rig.kernel.processes().of(0).shared.mmap_lock.usage().busy == us(30) * 2 + us(40) + s.kernel.protect_page * 16);
    }
    CHECK(step(rig.records[0], Step::fault) == fault * 16);
    CHECK(rig.records[0].cost.queued == step(rig.records[0], Step::lock));
  }
}

TEST_CASE("a thread that sleeps for the mmap lock leaves its CPU to others", "[contention]") {
  HostSettings s = settings(3);
  s.cpus = 2;
  s.kernel.syscall = Time();
  HostRig rig(s);
  const Va one = rig.mmap(KiB(64)), two = rig.mmap(KiB(64)), three = rig.mmap(KiB(64));
  Together all(rig);
  all.call([&](auto& r, auto& c) { rig.device.mprotect(0, one, KiB(64), true, false, r, c); });
  all.call([&](auto& r, auto& c) { rig.device.mprotect(1, two, KiB(64), true, false, r, c); });
  all.call([&](auto& r, auto& c) { rig.device.touch(2, three, KiB(64), true, r, c); });
  all.run();
  const Time each = us(40) + s.kernel.protect_page * 16;
  CHECK(all.end(0) == each);
  CHECK(all.end(1) == each * 2);
  // The second has the second CPU for no time at all.
  CHECK(all.end(2) == Time());
}

TEST_CASE("munmap lets readers in while it frees pages, but no other writer", "[contention]") {
  HostSettings s = settings(3);
  s.kernel.syscall = Time();
  HostRig rig(s);
  const Va gone = rig.mmap(KiB(64)), dropped = rig.mmap(KiB(4)), other = rig.mmap(KiB(64));
  Together all(rig);
  all.call([&](auto& r, auto& c) { rig.device.munmap(0, gone, KiB(64), r, c); });
  all.call([&](auto& r, auto& c) { rig.device.madvise(1, dropped, KiB(4), verbs::Advice::dontneed, r, c); });
  all.call([&](auto& r, auto& c) { rig.device.madvise(2, other, KiB(64), verbs::Advice::dontfork, r, c); });
  all.run();
  CHECK(all.end(0) == us(2 + 160));
  CHECK(all.end(1) == us(2 + 40 + 10));
  CHECK(all.end(2) == us(2 + 160 + 40));
}

TEST_CASE("a CPU's faults meet writers of the mmap lock only where mappings have no locks of their own", "[contention]") {
  for (const auto lock : {kernel::FaultLock::vma, kernel::FaultLock::mmap}) {
    HostSettings s = settings();
    s.kernel.fault_lock = lock;
    s.kernel.syscall = Time();
    HostRig rig(s);
    const Va absent = rig.mmap(KiB(4), verbs::PageKind::base_4k, false), other = rig.mmap(KiB(64));
    Together both(rig);
    both.call([&](auto& r, auto& c) { rig.device.mprotect(0, other, KiB(64), true, false, r, c); });
    both.call([&](auto& r, auto& c) { rig.device.touch(1, absent, KiB(4), true, r, c); });
    both.run();
    const Time held = us(40) + s.kernel.protect_page * 16;
    CHECK(both.end(1) == (lock == kernel::FaultLock::vma ? Time() : held) + fault);
  }
}

TEST_CASE("two threads that touch fresh memory are slowed down by what their faults share", "[contention]") {
  HostRig rig(settings());
  const Va a = rig.mmap(MiB(8), verbs::PageKind::base_4k, false), b = rig.mmap(MiB(8), verbs::PageKind::base_4k, false);
  Together both(rig);
  both.call([&](auto& r, auto& c) { rig.device.touch(0, a, MiB(8), true, r, c); });
  both.call([&](auto& r, auto& c) { rig.device.touch(1, b, MiB(8), true, r, c); });
  both.run();
  // 500 ns of 1609.6 is less than half: the second waits for the first's first batch, and then they fit between each other.
  CHECK(both.end(0) == fault * 2048);
  CHECK(both.end(1) == fault * 2048 + shared * 512);
}

TEST_CASE("registrations of two threads change the process's counters in turn, and each pays for the line's way to it", "[contention]") {
  HostSettings s = settings();
  s.kernel.line_transfer = ns(70);
  HostRig rig(s);
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(KiB(8));
  Together both(rig);
  both.call([&](auto& r, auto& c) { rig.device.reg_mr(0, request(pd, buffer, KiB(4)), r, c); });
  both.call([&](auto& r, auto& c) { rig.device.reg_mr(1, request(pd, buffer + KiB(4), KiB(4)), r, c); });
  both.run();
  // mm_count and pinned_vm.
  CHECK(step(rig.records[0], Step::syscall) == us(1 + 20));
  CHECK(step(rig.records[1], Step::syscall) == us(1 + 20) + ns(2 * 70));
  // The same thread again: the lines are the other's now, until it has got them.
  REQUIRE(rig.reg_mr(pd, buffer, KiB(4)).error == 0);
  CHECK(rig.step(Step::syscall) == us(1 + 20) + ns(2 * 70));
  REQUIRE(rig.reg_mr(pd, buffer, KiB(4)).error == 0);
  CHECK(rig.step(Step::syscall) == us(1 + 20));
  CHECK(rig.kernel.processes().of(0).shared.pinned_vm.usage(rig.scheduler.now()).busy == ns(2 * 70));
}

// When memory runs short: what is swapped out, what stays, and when is the process killed?
#include <catch2/catch.hpp>

#include "support/host_rig.h"

using namespace mtsim;
using test::HostRig;
using test::HostSettings;
using verbs::Advice;

namespace {

HostSettings small(Bytes swap) {
  HostSettings settings;
  settings.memory = MiB(64);
  settings.swap = swap;
  settings.kernel.swap_out = us(5);
  settings.kernel.swap_in = us(20);
  settings.kernel.migrate_page = us(1);
  return settings;
}

verbs::Reply touch(HostRig& rig, Va at, Bytes length) {
  return rig.ask([&](auto& r, auto& c) { return rig.device.touch(0, at, length, true, r, c); });
}

}  // namespace

TEST_CASE("pages that nobody pins make room for others, at the price of writing and reading them back", "[pressure]") {
  HostRig rig(small(MiB(64)));
  const Va old = rig.mmap(MiB(48)), fresh = rig.mmap(MiB(32), verbs::PageKind::base_4k, false);
  REQUIRE(touch(rig, fresh, MiB(32)).error == 0);
  const ports::MemoryUse& use = rig.kernel.memory_use();
  REQUIRE(use.swapped_out >= MiB(32 + 48 - 64) / page_bytes);
  REQUIRE(use.swapped_in == 0);
  REQUIRE_FALSE(use.killed);
  const Time before = rig.scheduler.now();
  REQUIRE(touch(rig, old, KiB(4)).error == 0);
  REQUIRE(use.swapped_in == 1);
  REQUIRE(rig.scheduler.now() - before >= us(20));
}

TEST_CASE("pinned pages do not move: not to swap, not to other frames", "[pressure]") {
  HostRig rig(small(MiB(64)));
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(KiB(64));
  const auto mr = rig.reg_mr(pd, buffer + KiB(16), KiB(16));
  REQUIRE(rig.madvise(buffer, KiB(64), Advice::pageout) == 0);
  REQUIRE(rig.kernel.memory_use().swapped_out == 12);
  REQUIRE(rig.madvise(buffer, KiB(64), Advice::migrate) == 0);
  REQUIRE(rig.kernel.memory_use().migrated == 0);
  REQUIRE(rig.dereg_mr(mr.handle).error == 0);
  REQUIRE(rig.madvise(buffer, KiB(64), Advice::migrate) == 0);
  REQUIRE(rig.kernel.memory_use().migrated == 4);
  REQUIRE(rig.madvise(buffer, KiB(64), Advice::pageout) == 0);
  REQUIRE(rig.kernel.memory_use().swapped_out == 16);
  // Registering brings them back.
  REQUIRE(rig.reg_mr(pd, buffer, KiB(64)).error == 0);
  REQUIRE(rig.kernel.memory_use().swapped_in == 16);
  REQUIRE(rig.step(ports::RegistrationStep::fault) == (us(20) + ns(1200)) * 16);
}

TEST_CASE("when all is pinned and there is no frame left, the process is killed", "[pressure]") {
  HostRig rig(small(GiB(1)));
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(MiB(40), verbs::PageKind::base_4k, false), more = rig.mmap(MiB(40), verbs::PageKind::base_4k, false);
  REQUIRE(rig.reg_mr(pd, buffer, MiB(40)).error == 0);
  test::Waiter waiter(rig.scheduler);
  rig.device.reg_mr(0, {pd, more, MiB(40), verbs::Access::local_write, Iova(more.raw)}, waiter.reply, waiter);
  rig.run();
  const auto& killed = rig.kernel.memory_use().killed;
  REQUIRE(killed);
  REQUIRE(rig.scheduler.stopped());
  REQUIRE(killed->pinned == Pages(40 * 256));
  REQUIRE(killed->regions == 1);
  REQUIRE(killed->size == Pages(64 * 256));
  REQUIRE(killed->resident > Pages(40 * 256));
}

TEST_CASE("when swap is full the process is killed, too", "[pressure]") {
  HostRig rig(small(MiB(8)));
  const Va buffer = rig.mmap(MiB(128), verbs::PageKind::base_4k, false);
  test::Waiter waiter(rig.scheduler);
  rig.device.touch(0, buffer, MiB(128), true, waiter.reply, waiter);
  rig.run();
  const auto& killed = rig.kernel.memory_use().killed;
  REQUIRE(killed);
  REQUIRE(killed->swapped == Pages(8 * 256));
  REQUIRE(killed->pinned == Pages(0));
}

// What ibv_fork_init adds to a registration: advice to the kernel, its errors, and what is undone.
#include <catch2/catch.hpp>

#include "support/host_rig.h"
#include "user/fork_ranges.h"

using namespace mtsim;
using test::HostRig;
using test::HostSettings;
using user::ForkRanges;

namespace {

HostSettings old_kernel() {
  HostSettings settings;
  settings.kernel.copy_on_fork = false;
  settings.kernel.madvise = us(2);
  settings.kernel.max_map_count = 8;
  settings.provider.find_page_size = us(5300);
  return settings;
}
int fork_init(HostRig& rig, bool huge_pages = false) {
  return rig.ask([&](auto& r, auto& c) { return rig.device.fork_init(0, huge_pages, r, c); }).error;
}

}  // namespace

TEST_CASE("ranges are advised with their first user and with their last", "[fork_init]") {
  ForkRanges ranges;
  const auto pages = [](std::uint64_t first, std::uint64_t n) { return ForkRanges::Range{Va(first * 4096), Bytes(n * 4096)}; };
  REQUIRE(ranges.unused(pages(10, 4)).size() == 1);
  ranges.add(pages(10, 4));
  const auto around = ranges.unused(pages(8, 8));
  REQUIRE(around.size() == 2);
  REQUIRE(around[0].start == Va(8 * 4096));
  REQUIRE(around[0].length == Bytes(2 * 4096));
  REQUIRE(around[1].start == Va(14 * 4096));
  ranges.add(pages(8, 8));
  REQUIRE(ranges.used_once(pages(10, 4)).empty());
  REQUIRE(ranges.used_once(pages(8, 8)).size() == 2);
  ranges.remove(pages(10, 4));
  REQUIRE(ranges.unused(pages(10, 4)).empty());
  ranges.remove(pages(8, 8));
  REQUIRE(ranges.unused(pages(8, 8)).size() == 1);
  const auto rounded = ForkRanges::pages_of(Va(4097), Bytes(4096), KiB(4));
  REQUIRE(rounded.start == Va(4096));
  REQUIRE(rounded.length == KiB(8));
}

TEST_CASE("row 2: an unmapped range is ENOMEM with fork-init and EFAULT without, before any system call of verbs", "[fork_init]") {
  for (const bool initialized : {true, false}) {
    HostRig rig(old_kernel());
    const auto pd = rig.pd();
    const Va buffer = rig.mmap(KiB(64));
    if (initialized) REQUIRE(fork_init(rig) == 0);
    REQUIRE(rig.reg_mr(pd, buffer + KiB(60), KiB(8)).error == (initialized ? ENOMEM : EFAULT));
    REQUIRE(rig.records.size() == (initialized ? 0u : 1u));
    // What was advised before the hole has been undone.
    REQUIRE(rig.reg_mr(pd, buffer, KiB(64)).error == 0);
    // Length 0 is passed over, and refused by the kernel.
    REQUIRE(rig.reg_mr(pd, buffer, Bytes(0)).error == EINVAL);
    // Refused by the kernel: undone as well.
    REQUIRE(rig.reg_mr(pd, buffer, KiB(4), verbs::Access::remote_write).error == EINVAL);
  }
}

TEST_CASE("a kernel that copies pinned pages at fork leaves nothing to do", "[fork_init]") {
  HostSettings settings = old_kernel();
  settings.kernel.copy_on_fork = true;
  HostRig rig(settings);
  const auto pd = rig.pd();
  REQUIRE(fork_init(rig) == 0);
  REQUIRE(rig.reg_mr(pd, rig.mmap(KiB(64)) + KiB(60), KiB(8)).error == EFAULT);
}

TEST_CASE("it is too late once memory has been registered", "[fork_init]") {
  HostRig rig(old_kernel());
  REQUIRE(rig.reg_mr(rig.pd(), rig.mmap(KiB(64)), KiB(64)).error == 0);
  REQUIRE(fork_init(rig) == EINVAL);
}

TEST_CASE("every second page registered splits the mapping until there are too many", "[fork_init]") {
  HostRig rig(old_kernel());
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(KiB(64));
  REQUIRE(fork_init(rig) == 0);
  std::vector<verbs::Handle> made;
  int error = 0;
  for (unsigned i = 1; error == 0 && i < 16; i += 2) {
    const auto mr = rig.reg_mr(pd, buffer + KiB(4) * i, KiB(4));
    error = mr.error;
    if (error == 0) made.push_back(mr.handle);
  }
  REQUIRE(error == ENOMEM);
  REQUIRE(made.size() == 3);  // 1, 3, 5, 7 mappings
  for (const auto mr : made) REQUIRE(rig.dereg_mr(mr).error == 0);
  // They have joined again.
  REQUIRE(rig.reg_mr(pd, buffer + KiB(20), KiB(4)).error == 0);
}

TEST_CASE("a range that ends within a huge page is EINVAL, unless the library finds out page sizes first", "[fork_init]") {
  for (const bool safe : {false, true}) {
    HostRig rig(old_kernel());
    const auto pd = rig.pd();
    const Va buffer = rig.mmap(MiB(4), verbs::PageKind::huge_2m);
    REQUIRE(fork_init(rig, safe) == 0);
    const Time before = rig.scheduler.now();
    REQUIRE(rig.reg_mr(pd, buffer, MiB(3)).error == (safe ? 0 : EINVAL));
    if (safe) REQUIRE(rig.scheduler.now() - before - rig.latency() == us(5300) + us(2) + us(1));
    REQUIRE(rig.reg_mr(pd, buffer, MiB(4)).error == 0);
  }
}

TEST_CASE("a child begins with what its parent's library knows, and each goes on by itself", "[fork_init]") {
  HostRig rig(old_kernel());
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(KiB(64));
  REQUIRE(fork_init(rig) == 0);
  REQUIRE(rig.reg_mr(pd, buffer, KiB(32)).error == 0);
  const std::vector<verbs::Thread> threads{1};
  const verbs::ForkRequest request{"kid", threads};
  REQUIRE(rig.ask([&](auto& r, auto& c) { return rig.device.fork(0, request, r, c); }).error == 0);
  const auto reg_mr = [&](Va at, Bytes length) {
    const verbs::RegMrRequest wanted{pd, at, length, verbs::Access::local_write, Iova(at.raw)};
    return rig.ask([&](auto& r, auto& c) { return rig.device.reg_mr(1, wanted, r, c); }).error;
  };
  // What is counted as kept from children already is not advised again: it is the kernel that finds the hole.
  REQUIRE(reg_mr(buffer, KiB(32)) == EFAULT);
  REQUIRE(reg_mr(buffer + KiB(60), KiB(8)) == ENOMEM);
  REQUIRE(reg_mr(buffer + KiB(32), KiB(32)) == 0);
  REQUIRE(rig.reg_mr(pd, buffer, KiB(64)).error == 0);
}

TEST_CASE("a queue takes two mappings, as does the page of its doorbell record; both go with the last queue", "[fork_init]") {
  HostRig rig(old_kernel());
  REQUIRE(fork_init(rig) == 0);
  const auto create = [&] { return rig.ask([&](auto& r, auto& c) { return rig.device.create_cq(0, 15, r, c); }); };
  const auto destroy = [&](verbs::Handle cq) {
    return rig.ask([&](auto& r, auto& c) { return rig.device.destroy_cq(0, cq, r, c); }).error;
  };
  // Room for 8: 4 with the first, then 2 each.
  std::vector<verbs::Handle> made;
  for (int i = 0; i < 3; ++i) {
    const verbs::Reply reply = create();
    REQUIRE(reply.error == 0);
    made.push_back(reply.handle);
  }
  const Time before = rig.scheduler.now();
  REQUIRE(create().error == ENOMEM);
  REQUIRE(rig.scheduler.now() - before < us(20));  // the kernel was not asked for a CQ
  for (const auto cq : made) REQUIRE(destroy(cq) == 0);
  for (int i = 0; i < 3; ++i) REQUIRE(create().error == 0);
}

TEST_CASE("it is too late once a queue has been made", "[fork_init]") {
  HostRig rig(old_kernel());
  REQUIRE(rig.ask([&](auto& r, auto& c) { return rig.device.create_cq(0, 15, r, c); }).error == 0);
  REQUIRE(fork_init(rig) == EINVAL);
}

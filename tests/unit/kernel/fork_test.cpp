// Processes of a host: what a fork costs, what a child may pin, whose pages a registration holds, whom the OOM killer takes.
#include <catch2/catch.hpp>

#include "support/host_rig.h"

using namespace mtsim;
using test::HostRig;
using test::HostSettings;

namespace {

HostSettings settings(bool copy_on_fork = true) {
  HostSettings s;
  s.threads = 4;
  s.cpus = 4;
  s.kernel.copy_on_fork = copy_on_fork;
  s.kernel.fork = us(61);
  s.kernel.fork_mapping = ns(701);
  s.kernel.fork_leaf = ns(37);
  s.kernel.fork_copy = ns(409);
  s.kernel.copy_rate = BitRate(64'000'000'000);
  s.kernel.fault_found = ns(523);
  s.kernel.touch_page = ns(5);
  return s;
}

int fork(HostRig& rig, verbs::Thread parent, const char* name, std::vector<verbs::Thread> threads) {
  const verbs::ForkRequest request{name, threads};
  return rig.ask([&](auto& r, auto& c) { return rig.device.fork(parent, request, r, c); }).error;
}
verbs::Reply touch(HostRig& rig, verbs::Thread t, Va at, Bytes length) {
  return rig.ask([&](auto& r, auto& c) { return rig.device.touch(t, at, length, true, r, c); });
}
verbs::Reply reg_mr(HostRig& rig, verbs::Thread t, verbs::Handle pd, Va at, Bytes length) {
  const verbs::RegMrRequest request{pd, at, length, verbs::Access::local_write, Iova(at.raw)};
  return rig.ask([&](auto& r, auto& c) { return rig.device.reg_mr(t, request, r, c); });
}
void limit(HostRig& rig, verbs::Thread t, Bytes bytes) {
  rig.ask([&](auto& r, auto& c) { return rig.device.set_cap_ipc_lock(t, false, r, c); });
  rig.ask([&](auto& r, auto& c) { return rig.device.set_memlock(t, bytes, r, c); });
}

}  // namespace

TEST_CASE("a fork costs its mappings, its page table entries and the pinned pages that it copies", "[fork]") {
  for (const bool copies : {true, false}) {
    HostRig rig(settings(copies));
    const auto pd = rig.pd();
    const Va small = rig.mmap(KiB(64));
    rig.mmap(MiB(4), verbs::PageKind::huge_2m);
    rig.mmap(KiB(64), verbs::PageKind::base_4k, false);
    REQUIRE(reg_mr(rig, 0, pd, small, KiB(16)).error == 0);
    const Time before = rig.scheduler.now();
    REQUIRE(fork(rig, 0, "kid", {1}) == 0);
    const Time copying = copies ? ns(409) * 4 + transfer_time(KiB(16), BitRate(64'000'000'000)) : Time();
    REQUIRE(rig.scheduler.now() - before == us(1) + us(61) + ns(701) * 3 + ns(37) * (16 + 2) + copying);
  }
}

TEST_CASE("a write to a shared page costs a fault and the copying, one that nobody else has any more a fault", "[fork]") {
  HostRig rig(settings());
  const Va va = rig.mmap(KiB(64));
  REQUIRE(fork(rig, 0, "kid", {1}) == 0);
  const Time start = rig.scheduler.now();
  REQUIRE(touch(rig, 1, va, KiB(16)).error == 0);
  const Time copied = rig.scheduler.now();
  REQUIRE(copied - start == (ns(5) + ns(1200)) * 4 + transfer_time(KiB(16), BitRate(64'000'000'000)));
  REQUIRE(touch(rig, 0, va, KiB(16)).error == 0);
  REQUIRE(rig.scheduler.now() - copied == (ns(5) + ns(523)) * 4);
}

TEST_CASE("a child has its parent's limit and has pinned nothing", "[fork]") {
  HostRig rig(settings());
  const auto pd = rig.pd();
  limit(rig, 0, KiB(64));
  const Va va = rig.mmap(KiB(64));
  const auto mine = reg_mr(rig, 0, pd, va, KiB(64));
  REQUIRE(mine.error == 0);
  REQUIRE(fork(rig, 0, "kid", {1, 2}) == 0);
  REQUIRE(reg_mr(rig, 0, pd, va, KiB(4)).error == ENOMEM);
  REQUIRE(reg_mr(rig, 1, pd, va, KiB(60)).error == 0);
  REQUIRE(reg_mr(rig, 2, pd, va, KiB(8)).error == ENOMEM);  // a thread of the same process
  REQUIRE(reg_mr(rig, 2, pd, va, KiB(4)).error == 0);
  // Whoever deregisters, it is the parent's account that the pages go back to.
  REQUIRE(rig.ask([&](auto& r, auto& c) { return rig.device.dereg_mr(1, mine.handle, r, c); }).error == 0);
  REQUIRE(reg_mr(rig, 1, pd, va, KiB(4)).error == ENOMEM);
  REQUIRE(reg_mr(rig, 0, pd, va, KiB(64)).error == 0);
  // A limit is changed for one of them.
  limit(rig, 1, KiB(128));
  REQUIRE(reg_mr(rig, 1, pd, va, KiB(64)).error == 0);
  REQUIRE(reg_mr(rig, 0, pd, va, KiB(4)).error == ENOMEM);
}

TEST_CASE("what a child registers are its own pages, and the parent's stay with the NIC as the kernel copies or not", "[fork]") {
  for (const bool copies : {true, false}) {
    HostRig rig(settings(copies));
    const auto pd = rig.pd();
    const Va va = rig.mmap(KiB(16));
    REQUIRE(reg_mr(rig, 0, pd, va, KiB(16)).error == 0);
    REQUIRE(fork(rig, 0, "kid", {1}) == 0);
    REQUIRE(touch(rig, 0, va, KiB(8)).error == 0);
    REQUIRE(rig.kernel.memory_use().left_pins == (copies ? 0 : 2));
    // The child's pin takes pages of its own where it still shares some.
    REQUIRE(reg_mr(rig, 1, pd, va, KiB(16)).error == 0);
    REQUIRE(rig.records.back().cost.faults == (copies ? 0 : 4));
    REQUIRE(rig.kernel.memory_use().left_pins == (copies ? 0 : 2));
    REQUIRE(touch(rig, 0, va, KiB(16)).error == 0);
    REQUIRE(rig.kernel.memory_use().left_pins == (copies ? 0 : 2));  // nobody else has the other two any more
  }
}

TEST_CASE("children fork, and memory that madvise keeps back is not there for them", "[fork]") {
  HostRig rig(settings());
  const Va va = rig.mmap(KiB(64)), apart = rig.mmap(KiB(64));
  REQUIRE(rig.madvise(apart, KiB(64), verbs::Advice::dontfork) == 0);
  REQUIRE(fork(rig, 0, "kid", {1}) == 0);
  REQUIRE(fork(rig, 1, "grandkid", {2}) == 0);
  for (const verbs::Thread t : {1u, 2u}) {
    REQUIRE(touch(rig, t, va, KiB(64)).error == 0);
    REQUIRE(touch(rig, t, apart, KiB(4)).error == EFAULT);
  }
  REQUIRE(touch(rig, 3, apart, KiB(4)).error == 0);  // a thread of the first process
}

TEST_CASE("queues are their process's: others neither post to them nor poll them", "[fork]") {
  HostRig rig(settings());
  const auto cq = rig.ask([&](auto& r, auto& c) { return rig.device.create_cq(0, 16, r, c); }).handle;
  REQUIRE(fork(rig, 0, "kid", {1}) == 0);
  verbs::Completion taken;
  const auto poll = [&](verbs::Thread t) {
    return rig.ask([&](auto& r, auto& c) { return rig.device.poll_after(t, cq, us(1), {&taken, 1}, r, c); }).error;
  };
  REQUIRE(poll(0) == 0);
  REQUIRE(poll(1) == EFAULT);
  REQUIRE(rig.ask([&](auto& r, auto& c) { return rig.device.destroy_cq(1, cq, r, c); }).error == 0);
}

TEST_CASE("queues count whole pages of their process, and one page of doorbell records for up to 64 of them", "[fork]") {
  HostSettings s = settings();
  for (const bool pins : {true, false}) {
    s.driver.pins_queues = pins;
    HostRig rig(s);
    limit(rig, 0, KiB(40));
    const auto pd = rig.pd();
    const Va va = rig.mmap(KiB(64));
    // How much may still be registered.
    const auto room = [&] {
      std::uint64_t pages = 10;
      for (; pages > 0; --pages) {
        const auto mr = reg_mr(rig, 0, pd, va, KiB(4) * pages);
        if (mr.error == 0) {
          REQUIRE(rig.dereg_mr(mr.handle).error == 0);
          break;
        }
      }
      return pages;
    };
    const auto cq = rig.ask([&](auto& r, auto& c) { return rig.device.create_cq(0, 127, r, c); });
    REQUIRE(cq.error == 0);
    REQUIRE(room() == (pins ? 10 - 2 - 1 : 10));  // 128 entries of 64 bytes
    verbs::CreateQpRequest request;
    request.pd = pd;
    request.send_cq = request.recv_cq = cq.handle;
    request.sq_depth = 32;
    request.send_sge = 1;
    request.rq_depth = 64;
    request.recv_sge = 4;
    const auto qp = rig.ask([&](auto& r, auto& c) { return rig.device.create_qp(0, request, r, c); });
    REQUIRE(qp.error == 0);
    // 64 receives of 4 x 16 bytes; 32 sends of up to 3 x 64 bytes, in a ring that is a power of two.
    REQUIRE(room() == (pins ? 10 - 3 - (1 + 2) : 10));
    REQUIRE(rig.ask([&](auto& r, auto& c) { return rig.device.destroy_qp(0, qp.handle, r, c); }).error == 0);
    REQUIRE(rig.ask([&](auto& r, auto& c) { return rig.device.destroy_cq(0, cq.handle, r, c); }).error == 0);
    REQUIRE(room() == 10);
  }
}

TEST_CASE("the OOM killer takes the largest process, whoever asked for the memory", "[fork]") {
  for (const bool child_is_larger : {true, false}) {
    HostSettings s = settings();
    s.memory = MiB(64);
    HostRig rig(s);
    REQUIRE(fork(rig, 0, "kid", {1}) == 0);
    const auto map = [&](verbs::Thread t, Bytes length) {
      verbs::MmapRequest request;
      request.length = length;
      return Va(rig.ask([&](auto& r, auto& c) { return rig.device.mmap(t, request, r, c); }).value);
    };
    const auto pd = rig.pd();
    const verbs::Thread large = child_is_larger ? 1 : 0, small = 1 - large;
    REQUIRE(reg_mr(rig, large, pd, map(large, MiB(40)), MiB(40)).error == 0);
    REQUIRE(touch(rig, small, map(small, MiB(32)), MiB(32)).error == ENOMEM);
    const auto& killed = rig.kernel.memory_use().killed;
    REQUIRE(killed);
    REQUIRE(killed->process == (child_is_larger ? "kid" : ""));
    REQUIRE(killed->processes == 2);
    REQUIRE(killed->resident == Pages(10240));
    REQUIRE(killed->pinned == Pages(10240));
    REQUIRE(killed->regions == 1);
  }
}

// Does a registration take the time that its parts cost, step by step, and does it answer and count as the kernel does?
#include <catch2/catch.hpp>
#include <numeric>

#include "support/host_rig.h"

using namespace mtsim;
using test::HostRig;
using test::HostSettings;
using verbs::Access;
using Step = ports::RegistrationStep;

namespace {

Time sum(const ports::RegistrationCost& cost) { return std::accumulate(cost.steps.begin(), cost.steps.end(), Time()); }

void check_sums(const HostRig& rig) {
  for (const ports::RegistrationRecord& record : rig.records) REQUIRE(sum(record.cost) == record.end - record.begin);
  const ports::CpuTimes times = rig.cpus.times();
  REQUIRE(std::accumulate(times.spent.begin(), times.spent.end(), times.idle) == rig.scheduler.now() * std::int64_t(rig.cpus.cpus()));
}

}  // namespace

TEST_CASE("one touched page: every step by hand", "[reg_mr]") {
  HostRig rig;
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(KiB(4));
  const verbs::Reply mr = rig.reg_mr(pd, buffer, KiB(4));
  REQUIRE(mr.error == 0);
  REQUIRE(mr.lkey == mr.rkey);
  REQUIRE(mr.iova == Iova(buffer.raw));
  REQUIRE(rig.step(Step::syscall) == us(1) + us(20));
  REQUIRE(rig.step(Step::fault) == Time());
  REQUIRE(rig.step(Step::pin) == ns(150 + 3 + 110));
  REQUIRE(rig.step(Step::sg) == ns(2 * 1 + 15));
  REQUIRE(rig.step(Step::dma_map) == ns(12));
  REQUIRE(rig.step(Step::page_size) == ns(3));
  REQUIRE(rig.step(Step::key) == ns(300));
  REQUIRE(rig.step(Step::table_write) == ns(1500 + 2));
  REQUIRE(rig.step(Step::wait) == us(3));
  REQUIRE(rig.step(Step::wake_up) == us(4 + 7));
  REQUIRE(rig.latency() == us(1 + 20 + 3 + 4 + 7) + ns(150 + 3 + 110 + 2 + 15 + 12 + 3 + 300 + 1502));
  REQUIRE(rig.nic.umrs.size() == 1);
  REQUIRE(rig.nic.umrs[0].list_bytes == Bytes(64));
  REQUIRE(rig.nic.commands.empty());
  REQUIRE(rig.nic.grant(mr.lkey)->length == KiB(4));

  REQUIRE(rig.dereg_mr(mr.handle).error == 0);
  REQUIRE(rig.step(Step::syscall) == us(1) + us(10));
  REQUIRE(rig.step(Step::table_write) == ns(1500));
  REQUIRE(rig.step(Step::wait) == us(3));
  REQUIRE(rig.step(Step::wake_up) == us(11));
  REQUIRE(rig.step(Step::key) == ns(300));
  REQUIRE(rig.step(Step::dma_map) == ns(8));
  REQUIRE(rig.step(Step::unpin) == ns(60 + 1));
  REQUIRE_FALSE(rig.nic.grant(mr.lkey).has_value());
  REQUIRE(rig.dereg_mr(mr.handle).error == EINVAL);
  check_sums(rig);

  // The same key comes back.
  REQUIRE(rig.reg_mr(pd, buffer, KiB(4)).lkey == mr.lkey);
}

TEST_CASE("scattered 4 KiB pages: counts of the closed formulas", "[reg_mr]") {
  HostRig rig;
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(MiB(4));
  REQUIRE(rig.reg_mr(pd, buffer + Bytes(100), MiB(4) - Bytes(200)).error == 0);
  const ports::RegistrationCost& cost = rig.records.back().cost;
  REQUIRE(cost.pages == Pages(1024));
  REQUIRE(cost.batches == 2);
  REQUIRE(cost.grabs == 1024);
  REQUIRE(cost.sg_entries == 1024);
  REQUIRE(cost.table_entries == 1024);
  REQUIRE(cost.umr_requests == 1);
  REQUIRE(cost.list_bytes == Bytes(1024 * 8));
  REQUIRE(rig.step(Step::pin) == ns(2 * 150 + 1024 * (3 + 110)));
  REQUIRE(rig.step(Step::sg) == ns(1024 * (2 + 15)));
  REQUIRE(rig.kernel.registration().pinned_now == MiB(4));
}

TEST_CASE("huge pages keep the cost of each 4 KiB page's pointer, and only that", "[reg_mr]") {
  HostRig rig;
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(MiB(4), verbs::PageKind::huge_2m);
  REQUIRE(rig.reg_mr(pd, buffer, MiB(4)).error == 0);
  const ports::RegistrationCost& cost = rig.records.back().cost;
  REQUIRE(cost.grabs == 2);
  REQUIRE(cost.sg_entries == 2);
  REQUIRE(cost.table_entries == 2);
  REQUIRE(rig.step(Step::pin) == ns(2 * 150 + 1024 * 3 + 2 * 110));
}

TEST_CASE("a table longer than a UMR list takes several work requests, one after the other", "[reg_mr]") {
  HostSettings settings;
  settings.driver.umr_entries = 100;
  HostRig rig(settings);
  const auto pd = rig.pd();
  REQUIRE(rig.reg_mr(pd, rig.mmap(KiB(1000)), KiB(1000)).error == 0);
  REQUIRE(rig.nic.umrs.size() == 3);
  REQUIRE(rig.nic.umrs[0].list_bytes == Bytes(104 * 8));  // units of 64 bytes
  REQUIRE(rig.nic.umrs[0].writes == nullptr);
  REQUIRE(rig.nic.umrs[2].list_bytes == Bytes(56 * 8));
  REQUIRE(rig.nic.umrs[2].writes != nullptr);
  REQUIRE(rig.step(Step::wait) == us(9));
}

TEST_CASE("what is absent is faulted in while it is pinned", "[reg_mr]") {
  HostRig rig;
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(KiB(16), verbs::PageKind::base_4k, false);
  REQUIRE(rig.reg_mr(pd, buffer, KiB(16)).error == 0);
  REQUIRE(rig.records.back().cost.faults == 4);
  REQUIRE(rig.step(Step::fault) == ns(4 * 1200) + transfer_time(KiB(16), BitRate(80'000'000'000)));
  check_sums(rig);
}

TEST_CASE("checks fail in the kernel's order", "[reg_mr]") {
  HostSettings settings;
  settings.driver.on_demand = kernel::OnDemand::none;
  HostRig rig(settings);
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(KiB(64));
  const Va read_only = rig.mmap(KiB(4), verbs::PageKind::base_4k, true, false);
  const auto error = [&](verbs::Handle in, Va at, std::uint64_t length, Access access, std::uint64_t shift = 0) {
    verbs::RegMrRequest request{in, at, Bytes(length), access, Iova(at.raw + shift)};
    return rig.ask([&](auto& r, auto& c) { return rig.device.reg_mr(0, request, r, c); }).error;
  };
  REQUIRE(error(pd, buffer, 4096, Access::none, 1) == EINVAL);
  REQUIRE(error(pd, buffer, 4096, Access::remote_write) == EINVAL);
  REQUIRE(error(pd, buffer, 4096, Access::remote_atomic | Access::remote_read) == EINVAL);
  REQUIRE(error(pd, buffer, 4096, Access::on_demand) == EOPNOTSUPP);
  REQUIRE(error(pd + 1, buffer, 4096, Access::none) == EINVAL);
  REQUIRE(error(pd, Va(~std::uint64_t{0} - 4095), 8192, Access::none) == EINVAL);
  REQUIRE(error(pd, buffer, 0, Access::none) == EINVAL);
  REQUIRE(error(pd, buffer + Bytes(8), 0, Access::none) == EINVAL);
  REQUIRE(error(pd, read_only + KiB(4), 4096, Access::none) == EFAULT);
  REQUIRE(error(pd, read_only, 4096, Access::remote_read) == 0);
  REQUIRE(error(pd, read_only, 4096, Access::mw_bind) == EFAULT);
  // Flags are judged before memory.
  REQUIRE(error(pd, read_only + KiB(4), 4096, Access::on_demand) == EOPNOTSUPP);
  check_sums(rig);
  REQUIRE(rig.kernel.registration().pinned_now == KiB(4));
}

TEST_CASE("memlock: EPERM at no limit, ENOMEM beyond, whole pages, given back", "[reg_mr]") {
  HostRig rig;
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(KiB(64));
  rig.ask([&](auto& r, auto& c) { return rig.device.set_cap_ipc_lock(0, false, r, c); });
  rig.ask([&](auto& r, auto& c) { return rig.device.set_memlock(0, Bytes(0), r, c); });
  REQUIRE(rig.reg_mr(pd, buffer, KiB(4)).error == EPERM);
  rig.ask([&](auto& r, auto& c) { return rig.device.set_memlock(0, KiB(8), r, c); });
  const auto two = rig.reg_mr(pd, buffer + Bytes(4095), Bytes(2));
  REQUIRE(two.error == 0);
  REQUIRE(rig.reg_mr(pd, buffer, Bytes(1)).error == ENOMEM);
  REQUIRE(rig.dereg_mr(two.handle).error == 0);
  // A failing registration gives its charge back too.
  REQUIRE(rig.reg_mr(pd, buffer + KiB(60), KiB(8)).error == EFAULT);
  REQUIRE(rig.reg_mr(pd, buffer, KiB(8)).error == 0);
}

TEST_CASE("munmap leaves pins: the frames come back with dereg_mr", "[reg_mr]") {
  HostRig rig;
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(MiB(1));
  const auto mr = rig.reg_mr(pd, buffer, MiB(1));
  const Pages before = rig.root.frames().free();
  REQUIRE(rig.ask([&](auto& r, auto& c) { return rig.device.munmap(0, buffer, MiB(1), r, c); }).error == 0);
  REQUIRE(rig.root.frames().free() == before);
  REQUIRE(rig.nic.grant(mr.rkey).has_value());
  REQUIRE(rig.dereg_mr(mr.handle).error == 0);
  REQUIRE(rig.root.frames().free() == before + Pages(256));
  REQUIRE(rig.kernel.registration().pinned_now == Bytes(0));
  REQUIRE(rig.kernel.registration().pinned_most == MiB(1));
}

TEST_CASE("a PD with an MR stays", "[reg_mr]") {
  HostRig rig;
  const auto pd = rig.pd();
  const auto mr = rig.reg_mr(pd, rig.mmap(KiB(4)), KiB(4));
  const auto dealloc = [&] { return rig.ask([&](auto& r, auto& c) { return rig.device.dealloc_pd(0, pd, r, c); }).error; };
  REQUIRE(dealloc() == EBUSY);
  REQUIRE(rig.dereg_mr(mr.handle).error == 0);
  REQUIRE(dealloc() == 0);
  REQUIRE(dealloc() == EINVAL);
}

TEST_CASE("two threads post UMR work requests one after the other, and wait for the NIC together and without a CPU", "[reg_mr]") {
  for (const std::uint32_t cpus : {2u, 1u})
    for (const std::uint32_t places : {1u, 2u}) {
      CAPTURE(cpus, places);
      HostSettings settings;
      settings.cpus = cpus;
      settings.driver.umr_requests = places;
      HostRig rig(settings);
      const auto pd = rig.pd();
      const Va buffer = rig.mmap(KiB(8));
      test::Waiter first(rig.scheduler), second(rig.scheduler);
      verbs::RegMrRequest a{pd, buffer, KiB(4), Access::none, Iova(buffer.raw)};
      verbs::RegMrRequest b{pd, buffer + KiB(4), KiB(4), Access::none, Iova(buffer.raw + 4096)};
      rig.device.reg_mr(0, a, first.reply, first);
      rig.device.reg_mr(1, b, second.reply, second);
      rig.run();
      REQUIRE(first.done);
      REQUIRE(second.done);
      REQUIRE(first.reply.lkey != second.reply.lkey);
      check_sums(rig);
      REQUIRE(rig.nic.umrs_most <= places);
      if (cpus == 2) {
        REQUIRE(rig.records[0].cost.steps[unsigned(Step::wait)] == us(3));
        // Behind the other's posting, and with one place behind its time in the NIC and its waking up too.
        const Time behind = places == 1 ? ns(1502) + us(3) + us(11) : ns(1502);
        REQUIRE(rig.records[1].cost.steps[unsigned(Step::wait)] == behind + us(3));
      }
      REQUIRE(rig.cpus.times()[ports::Work::interrupt] == us(11) * 2);
    }
}

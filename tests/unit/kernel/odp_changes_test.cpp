// What brings pages of regions on demand to the device after the registration (advise_mr, hw/mlx5/odp.c, mlx5_ib_advise_mr_prefetch), and
// what takes them from it (mlx5_ib_invalidate_range)?
#include <catch2/catch.hpp>

#include "unit/kernel/odp_rig.h"

using namespace mtsim;
using kernel::OnDemand;
using test::HostSettings;
using test::Lists;
using test::OdpRig;
using translate::Fault;
using verbs::Access;
using verbs::Advice;
using verbs::PageKind;
using verbs::Prefetch;

namespace {

constexpr Access od = Access::on_demand, rw = Access::local_write | od;

}  // namespace

TEST_CASE("advise_mr: errors", "[odp]") {
  OdpRig rig;
  const Va buffer = rig.map(KiB(64)), read_only = rig.map(KiB(64), PageKind::base_4k, false);
  const auto mr = rig.reg(buffer, KiB(128)), reader = rig.reg(buffer, KiB(64), od), odd = rig.reg(read_only, KiB(64));
  const auto pinned = rig.reg(rig.mmap(KiB(4)), KiB(4), Access::local_write);
  for (const bool flush : {false, true}) {
    CAPTURE(flush);
    REQUIRE(rig.prefetch(Prefetch::read, pinned, buffer, 1, flush) == ENOENT);
    REQUIRE(rig.advise_mr(rig.domain, Prefetch::read, {{buffer.raw, 1, Key(mr.lkey.raw ^ 1)}}, flush) == ENOENT);
    REQUIRE(rig.advise_mr(rig.pd(), Prefetch::read, {{buffer.raw, 1, mr.lkey}}, flush) == EPERM);
    REQUIRE(rig.advise_mr(rig.domain + 99, Prefetch::read, {{buffer.raw, 1, mr.lkey}}, flush) == ENOENT);
    REQUIRE(rig.prefetch(Prefetch::write, reader, buffer, 1, flush) == EPERM);
    REQUIRE(rig.advise_mr(rig.domain, Prefetch::read, {}, flush) == 0);
    // What only the page fault finds out is told with flush alone.
    REQUIRE(rig.prefetch(Prefetch::read, mr, buffer - KiB(4), 1, flush) == (flush ? EFAULT : 0));
    REQUIRE(rig.prefetch(Prefetch::read, mr, buffer + KiB(128), 1, flush) == (flush ? EFAULT : 0));
    REQUIRE(rig.prefetch(Prefetch::read, mr, buffer + KiB(127), 2048, flush) == (flush ? EFAULT : 0));
    REQUIRE(rig.prefetch(Prefetch::write, odd, read_only, 1, flush) == (flush ? EPERM : 0));
    REQUIRE(rig.prefetch(Prefetch::no_fault, mr, buffer, 1, flush) == 0);
  }
  REQUIRE(rig.kernel.device(0).reg_path().on_demand().totals().failed_workers == 4);
  HostSettings without;
  without.driver.on_demand = OnDemand::none;
  OdpRig bare(without);
  REQUIRE(bare.advise_mr(bare.domain, Prefetch::read, {{buffer.raw, 1, mr.lkey}}) == EOPNOTSUPP);
  REQUIRE(bare.advise_mr(bare.domain, Prefetch::read, {}) == EOPNOTSUPP);
}

TEST_CASE("advise_mr: what each advice gives the device", "[odp]") {
  OdpRig rig;
  const Va buffer = rig.map(KiB(64));
  const auto mr = rig.reg(buffer, KiB(64));
  const std::size_t before = rig.nic.umrs.size();
  SECTION("prefetch brings pages in, for reading") {
    REQUIRE(rig.prefetch(Prefetch::read, mr, buffer + KiB(12), 4097) == 0);
    REQUIRE(rig.cost().faults == 2);
    REQUIRE(rig.lists(before) == Lists{64});
    REQUIRE(rig.present(mr, buffer + KiB(16)));
    REQUIRE(rig.walk(mr.lkey, buffer + KiB(16), true).reason == Fault::page_read_only);
    REQUIRE(rig.walk(mr.lkey, buffer + KiB(20)).reason == Fault::page_absent);
  }
  SECTION("prefetch_write for writing; a later prefetch takes that right again") {
    REQUIRE(rig.prefetch(Prefetch::write, mr, buffer, 16384) == 0);
    REQUIRE(rig.cost().dma_runs == 4);
    REQUIRE(rig.present(mr, buffer, true));
    REQUIRE(rig.prefetch(Prefetch::read, mr, buffer, 4096) == 0);
    REQUIRE(rig.cost().dma_runs == 0);  // mapped already
    REQUIRE_FALSE(rig.present(mr, buffer, true));
    REQUIRE(rig.present(mr, buffer + KiB(4), true));
  }
  SECTION("prefetch_no_fault what is there, with the rights that the process has") {
    REQUIRE(rig.touch(buffer + KiB(4), KiB(4)) == 0);
    REQUIRE(rig.prefetch(Prefetch::no_fault, mr, buffer, 16384) == 0);
    REQUIRE(rig.cost().faults == 0);
    REQUIRE(rig.present(mr, buffer + KiB(4), true));
    REQUIRE_FALSE(rig.present(mr, buffer));
  }
  SECTION("without flush a worker does it, and no CPU of the program's") {
    test::Waiter waiter(rig.scheduler);
    std::vector<verbs::Sge> sges{{buffer.raw, 65536, mr.lkey}};
    const verbs::AdviseMrRequest request{rig.domain, Prefetch::write, false, sges};
    REQUIRE(rig.device.advise_mr(0, request, waiter.reply, waiter) == verbs::Progress::pending);
    rig.run();
    REQUIRE(waiter.done);
    REQUIRE(rig.records.size() >= 2);
    REQUIRE(rig.records.back().call == ports::RegistrationRecord::Call::worker);
    REQUIRE(rig.records.back().cost.faults == 16);
    REQUIRE(waiter.at < rig.records.back().end);
    REQUIRE(rig.present(mr, buffer + KiB(60), true));
  }
}

TEST_CASE("dereg_mr waits for a prefetch that is under way", "[odp]") {
  OdpRig rig;
  const Va buffer = rig.map(MiB(1));
  const auto mr = rig.reg(buffer, MiB(1));
  std::vector<verbs::Sge> sges{{buffer.raw, 1 << 20, mr.lkey}};
  test::Waiter advised(rig.scheduler), gone(rig.scheduler);
  const verbs::AdviseMrRequest request{rig.domain, Prefetch::write, false, sges};
  REQUIRE(rig.device.advise_mr(0, request, advised.reply, advised) == verbs::Progress::pending);
  REQUIRE(rig.device.dereg_mr(1, mr.handle, gone.reply, gone) == verbs::Progress::pending);
  rig.run();
  REQUIRE(gone.done);
  REQUIRE(gone.reply.error == 0);
  Time worker;
  for (const auto& record : rig.records)
    if (record.call == ports::RegistrationRecord::Call::worker) worker = record.end;
  REQUIRE(worker > Time());
  REQUIRE(gone.at > worker);
}

TEST_CASE("the notifier: what takes pages from the device", "[odp]") {
  HostSettings settings;
  settings.swap = GiB(1);
  OdpRig rig(settings);
  const Va buffer = rig.mmap(KiB(256));
  const auto mr = rig.reg(buffer, KiB(256));
  const std::size_t before = rig.nic.umrs.size();
  SECTION("munmap waits for one work request for the whole run, then frames are free") {
    const Pages free = rig.root.frames().free();
    REQUIRE(rig.munmap(buffer + KiB(32), KiB(64)) == 0);
    REQUIRE(rig.lists(before) == Lists{128});
    REQUIRE(rig.root.frames().free() == free + Pages(16));
    REQUIRE_FALSE(rig.present(mr, buffer + KiB(32)));
    REQUIRE(rig.present(mr, buffer + KiB(28)));
    REQUIRE(rig.present(mr, buffer + KiB(96)));
    REQUIRE(rig.kernel.device(0).reg_path().on_demand().totals().invalidated == 16);
  }
  SECTION("a run that does not begin with a unit takes its neighbours of the unit along") {
    REQUIRE(rig.munmap(buffer + KiB(36), KiB(4)) == 0);
    REQUIRE(rig.lists(before) == Lists{64});
    REQUIRE_FALSE(rig.present(mr, buffer + KiB(32)));
    REQUIRE(rig.kernel.device(0).reg_path().on_demand().totals().invalidated == 1);
    // They are mapped still, and come back without a fault.
    REQUIRE(rig.prefetch(Prefetch::no_fault, mr, buffer + KiB(32), 4096) == 0);
    REQUIRE(rig.cost().dma_runs == 0);
    REQUIRE(rig.present(mr, buffer + KiB(44)));
  }
  SECTION("mprotect, of more rights too") {
    REQUIRE(rig.mprotect(buffer, KiB(32), true, false) == 0);
    REQUIRE(rig.lists(before) == Lists{64});
    REQUIRE(rig.mprotect(buffer, KiB(32), true, false) == 0);  // nothing changes
    REQUIRE(rig.lists(before) == Lists{64});
    REQUIRE(rig.prefetch(Prefetch::no_fault, mr, buffer, 32768) == 0);
    REQUIRE_FALSE(rig.present(mr, buffer, true));
    REQUIRE(rig.mprotect(buffer, KiB(32), true, true) == 0);
    REQUIRE_FALSE(rig.present(mr, buffer));
  }
  SECTION("madvise dontneed; a new touch does not bring the entries back") {
    REQUIRE(rig.madvise(buffer, KiB(32), Advice::dontneed) == 0);
    REQUIRE(rig.lists(before) == Lists{64});
    REQUIRE(rig.touch(buffer, KiB(32)) == 0);
    REQUIRE_FALSE(rig.present(mr, buffer));
  }
  SECTION("swapout, page by page") {
    REQUIRE(rig.madvise(buffer, KiB(32), Advice::pageout) == 0);
    REQUIRE(rig.lists(before) == Lists(8, 64));
    REQUIRE_FALSE(rig.present(mr, buffer));
    REQUIRE(rig.present(mr, buffer + KiB(32)));
  }
  SECTION("migration, page by page") {
    REQUIRE(rig.madvise(buffer, KiB(32), Advice::migrate) == 0);
    REQUIRE(rig.lists(before) == Lists(8, 64));
    REQUIRE_FALSE(rig.present(mr, buffer));
  }
  SECTION("what fails in munmap, or changes nothing, takes nothing") {
    REQUIRE(rig.munmap(buffer + Bytes(1), KiB(4)) == EINVAL);
    REQUIRE(rig.madvise(buffer, KiB(32), Advice::dontfork) == 0);
    REQUIRE(rig.nic.umrs.size() == before);
  }
}

TEST_CASE("the notifier: a hole ends a run only where a unit of 8 entries begins", "[odp]") {
  OdpRig rig;
  const Va buffer = rig.map(KiB(256));
  // Entries 1-3, 6, 20-23 and 40 are present.
  for (const auto& [first, n] : {std::pair{1, 3}, {6, 1}, {20, 4}, {40, 1}}) REQUIRE(rig.touch(buffer + KiB(4) * first, KiB(4) * n) == 0);
  REQUIRE(rig.reg(buffer, KiB(256)).error == 0);
  REQUIRE(rig.cost().dma_runs == 9);
  const std::size_t before = rig.nic.umrs.size();
  REQUIRE(rig.munmap(buffer, KiB(256)) == 0);
  // 1 to 8, 20 to 24, 40 to 48, in whole units.
  REQUIRE(rig.lists(before) == Lists{64, 64, 64});
  REQUIRE(rig.kernel.device(0).reg_path().on_demand().totals().zaps == 3);
}

TEST_CASE("reclaim takes pages of regions on demand, which pins would keep", "[odp]") {
  HostSettings settings;
  settings.memory = MiB(128);
  settings.swap = GiB(1);
  OdpRig rig(settings);
  const Va buffer = rig.mmap(MiB(32));
  const auto mr = rig.reg(buffer, MiB(32));
  REQUIRE(rig.kernel.device(0).reg_path().on_demand().totals().mapped == 8192);
  rig.mmap(MiB(112));
  REQUIRE(rig.kernel.device(0).reg_path().on_demand().totals().invalidated > 0);
  REQUIRE(rig.kernel.device(0).reg_path().on_demand().totals().zaps == rig.kernel.device(0).reg_path().on_demand().totals().invalidated);
  REQUIRE_FALSE(rig.present(mr, buffer));
  REQUIRE_FALSE(rig.kernel.memory_use().killed);
}

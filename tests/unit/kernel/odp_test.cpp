// Does registration on demand do what Linux 6.12 does for mlx5: what it checks, what it gives the device, and what changes of memory take
// from it again? Errors are those of ib_init_umem_odp, create_user_odp_mr and mlx5_ib_advise_mr_prefetch.
#include <catch2/catch.hpp>

#include "support/host_rig.h"

using namespace mtsim;
using kernel::OnDemand;
using test::HostRig;
using test::HostSettings;
using translate::Fault;
using verbs::Access;
using verbs::Advice;
using verbs::PageKind;
using verbs::Prefetch;
using Step = ports::RegistrationStep;

namespace {

constexpr std::uint64_t top = ~std::uint64_t{0};
constexpr Access od = Access::on_demand, rw = Access::local_write | od;

struct OdpRig : HostRig {
  explicit OdpRig(const HostSettings& settings = {}) : HostRig(settings), domain(pd()) {}

  Va map(Bytes length, PageKind page = PageKind::base_4k, bool writable = true) { return mmap(length, page, false, writable); }
  verbs::Reply reg(Va at, Bytes length, Access access = rw) { return reg_at(at, length, access, Iova(at.raw)); }
  verbs::Reply reg_at(Va at, Bytes length, Access access, Iova iova) {
    const verbs::RegMrRequest request{domain, at, length, access, iova};
    return ask([&](auto& r, auto& c) { return device.reg_mr(0, request, r, c); });
  }
  int prefetch(Prefetch advice, const verbs::Reply& mr, Va at, std::uint32_t length, bool flush = true) {
    return advise_mr(domain, advice, {{at.raw, length, mr.lkey}}, flush);
  }
  /// The last step of a walk with the key.
  translate::Step walk(Key key, Va address, bool writes = false) {
    translate::Walk at{key, Iova(address.raw), 0, 0, writes};
    translate::Step step;
    for (translate::Content content = 0;;) {
      nic.architecture().step(at, content, step);
      if (step.kind == translate::Step::Kind::done || step.kind == translate::Step::Kind::fault) return step;
      if (step.kind == translate::Step::Kind::read) content = nic.architecture().content(step.line_kind, step.tag);
    }
  }
  bool present(const verbs::Reply& mr, Va at, bool writes = false) { return walk(mr.lkey, at, writes).kind == translate::Step::Kind::done; }
  /// The bytes of the lists of UMR work requests since `from`.
  std::vector<std::uint64_t> lists(std::size_t from) const {
    std::vector<std::uint64_t> out;
    for (std::size_t i = from; i < nic.umrs.size(); ++i) out.push_back(nic.umrs[i].list_bytes.raw);
    return out;
  }
  const ports::RegistrationCost& cost() const { return records.back().cost; }

  verbs::Handle domain;
};

using Lists = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("explicit: nothing is pinned, charged or faulted in, and a hole is no error", "[odp]") {
  OdpRig rig;
  rig.ask([&](auto& r, auto& c) { return rig.device.set_cap_ipc_lock(0, false, r, c); });
  rig.ask([&](auto& r, auto& c) { return rig.device.set_memlock(0, Bytes(0), r, c); });
  const Va buffer = rig.map(KiB(64));
  REQUIRE(rig.touch(buffer, KiB(16)) == 0);
  const auto mr = rig.reg(buffer, MiB(1));  // most of it is not mapped
  REQUIRE(mr.error == 0);
  REQUIRE(rig.kernel.registration().pinned_now == Bytes(0));
  REQUIRE(rig.cost().pages == Pages(0));
  REQUIRE(rig.cost().faults == 0);
  REQUIRE(rig.cost().dma_runs == 4);
  REQUIRE(rig.cost().table_entries == 256);
  REQUIRE(rig.step(Step::pin) == Time());
  REQUIRE(rig.step(Step::dma_map) == ns(12) * 4);
  REQUIRE(rig.step(Step::fault) == ns(5) * 256);
  REQUIRE(rig.present(mr, buffer + KiB(12)));
  REQUIRE(rig.walk(mr.lkey, buffer + KiB(16)).reason == Fault::page_absent);
  REQUIRE(std::string(translate::explain(Fault::page_absent)) == "ODP page not present");
  REQUIRE(rig.walk(mr.lkey, buffer + KiB(500)).reason == Fault::page_absent);
  // A touch alone does not bring the page to the device.
  REQUIRE(rig.touch(buffer + KiB(16), KiB(4)) == 0);
  REQUIRE_FALSE(rig.present(mr, buffer + KiB(16)));
}

TEST_CASE("explicit: the first region of the host has the event queue made, others not", "[odp]") {
  OdpRig rig;
  const Va buffer = rig.map(KiB(64));
  REQUIRE(rig.reg(buffer, KiB(64)).error == 0);
  REQUIRE(rig.cost().commands == 1);
  REQUIRE(rig.cost().mailboxes == 3);
  REQUIRE(rig.reg(buffer, KiB(64)).error == 0);
  REQUIRE(rig.cost().commands == 0);
}

TEST_CASE("explicit: errors of ib_init_umem_odp", "[odp]") {
  OdpRig rig;
  const Va buffer = rig.map(KiB(64));
  SECTION("the range wraps, as it is or in whole pages: EOVERFLOW where pinned memory has EINVAL") {
    REQUIRE(rig.reg(Va(top - 4095), KiB(8)).error == EOVERFLOW);
    REQUIRE(rig.reg(Va(top - 100), Bytes(50)).error == EOVERFLOW);
  }
  SECTION("no page: EINVAL; an offset in the page makes one, and then there is no error") {
    REQUIRE(rig.reg(buffer, Bytes(0)).error == EINVAL);
    REQUIRE(rig.reg(buffer + Bytes(8), Bytes(0)).error == 0);
  }
  SECTION("lists of more than 2 GiB: ENOMEM") { REQUIRE(rig.reg(buffer, GiB(1024)).error == ENOMEM); }
  REQUIRE(rig.kernel.on_demand().regions <= 1);
}

TEST_CASE("explicit: pages that may not be written are given for reading", "[odp]") {
  OdpRig rig;
  const Va buffer = rig.mmap(KiB(64), PageKind::base_4k, true, false);
  const auto mr = rig.reg(buffer, KiB(64));  // EFAULT if it were pinned
  REQUIRE(mr.error == 0);
  REQUIRE(rig.present(mr, buffer));
  REQUIRE(rig.walk(mr.lkey, buffer, true).reason == Fault::page_read_only);
}

TEST_CASE("explicit: huge pages make the table small, and smaller pages are refused", "[odp]") {
  OdpRig rig;
  SECTION("2 MiB pages") {
    const Va buffer = rig.mmap(MiB(8), PageKind::huge_2m);
    const auto mr = rig.reg(buffer, MiB(8), rw | Access::huge_tlb);
    REQUIRE(mr.error == 0);
    REQUIRE(rig.cost().table_entries == 4);
    REQUIRE(rig.cost().dma_runs == 4);
    REQUIRE(rig.walk(mr.lkey, buffer + MiB(2) + KiB(4)).length == MiB(2) - KiB(4));
    REQUIRE(rig.madvise(buffer + MiB(2), MiB(2), Advice::dontneed) == 0);
    REQUIRE(rig.present(mr, buffer + MiB(4)) == false);  // the unit of 8 entries that the work request writes
  }
  SECTION("2 MiB pages without the flag are 4 KiB entries") {
    const Va buffer = rig.mmap(MiB(8), PageKind::huge_2m);
    REQUIRE(rig.reg(buffer, MiB(8)).error == 0);
    REQUIRE(rig.cost().table_entries == 2048);
  }
  SECTION("4 KiB pages that are present: EINVAL, and nothing is left") {
    const Va buffer = rig.mmap(MiB(4), PageKind::base_4k, true);
    REQUIRE(rig.reg(buffer, MiB(4), rw | Access::huge_tlb).error == EINVAL);
    REQUIRE(rig.madvise(buffer, MiB(4), Advice::dontneed) == 0);
    REQUIRE(rig.kernel.on_demand().zaps == 0);
  }
}

TEST_CASE("explicit: an unaligned range and an iova of its own", "[odp]") {
  OdpRig rig;
  const Va buffer = rig.mmap(KiB(64));
  const auto mr = rig.reg_at(buffer + Bytes(100), KiB(8), rw, Iova(0x5000 + 100));
  REQUIRE(mr.error == 0);
  REQUIRE(rig.cost().table_entries == 3);
  const auto other = rig.reg(buffer, KiB(64));
  REQUIRE(rig.walk(mr.lkey, Va(0x6004)).address == rig.walk(other.lkey, buffer + Bytes(0x1004)).address);
  REQUIRE(rig.advise_mr(rig.domain, Prefetch::read, {{0x4fff, 1, mr.lkey}}) == EFAULT);
}

TEST_CASE("dereg_mr: one revocation, pages unmapped, the same key for the next", "[odp]") {
  OdpRig rig;
  const Va buffer = rig.mmap(KiB(64));
  const auto mr = rig.reg(buffer, KiB(64));
  const std::size_t before = rig.nic.umrs.size();
  REQUIRE(rig.dereg_mr(mr.handle).error == 0);
  REQUIRE(rig.lists(before) == Lists{0});
  REQUIRE(rig.step(Step::dma_map) == ns(8) * 16);
  REQUIRE_FALSE(rig.nic.grant(mr.lkey));
  REQUIRE(rig.reg(buffer, KiB(64)).lkey == mr.lkey);
  // Nothing is told of changes to memory that is registered no more.
  REQUIRE(rig.dereg_mr(mr.handle).error == EINVAL);
}

TEST_CASE("implicit: the key of keys, and what is refused", "[odp]") {
  HostSettings settings;
  SECTION("3 UMR work requests of 65532 keys, 2 MiB in all") {
    OdpRig rig(settings);
    const std::size_t before = rig.nic.umrs.size();
    const auto mr = rig.reg(Va(0), Bytes(top));
    REQUIRE(mr.error == 0);
    REQUIRE(rig.lists(before) == Lists{1048512, 1048512, 128});
    REQUIRE(rig.cost().table_entries == 131072);
    REQUIRE(rig.cost().commands == 2);  // the event queue, and CREATE_MKEY: the class is never filled ahead
    REQUIRE(mr.lkey.variant() == 0);
    REQUIRE(rig.walk(mr.lkey, Va(0x7000'0000'0000)).reason == Fault::key_of_keys);
    REQUIRE(rig.dereg_mr(mr.handle).error == 0);
    REQUIRE(rig.reg(Va(0), Bytes(top)).lkey == mr.lkey);
    REQUIRE(rig.cost().commands == 0);
  }
  SECTION("an iova; huge pages: EINVAL") {
    OdpRig rig(settings);
    REQUIRE(rig.reg_at(Va(0), Bytes(top), rw, Iova(4096)).error == EINVAL);
    REQUIRE(rig.reg(Va(0), Bytes(top), rw | Access::huge_tlb).error == EINVAL);
  }
  SECTION("a device that has it for ranges only: EINVAL") {
    settings.driver.on_demand = OnDemand::explicit_only;
    OdpRig rig(settings);
    REQUIRE(rig.reg(Va(0), Bytes(top)).error == EINVAL);
    REQUIRE(rig.reg(rig.map(KiB(4)), KiB(4)).error == 0);
  }
}

TEST_CASE("implicit: a prefetch makes children of 1 GiB, and an empty one goes", "[odp]") {
  OdpRig rig;
  const Va buffer = rig.map(GiB(1) + KiB(8));
  const auto mr = rig.reg(Va(0), Bytes(top));
  const std::size_t before = rig.nic.umrs.size();
  REQUIRE(rig.prefetch(Prefetch::write, mr, buffer, 4096) == 0);
  // The child's 2^18 entries are zapped, the page's unit written, then the unit of 4 keys.
  REQUIRE(rig.lists(before) == Lists{1048512, 1048512, 128, 64, 64});
  REQUIRE(rig.kernel.on_demand().children == 1);
  REQUIRE(rig.prefetch(Prefetch::write, mr, buffer + KiB(4), 4096) == 0);
  REQUIRE(rig.kernel.on_demand().children == 1);
  const std::size_t then = rig.nic.umrs.size();
  REQUIRE(rig.munmap(buffer, KiB(8)) == 0);
  // The zap; then a worker takes the key out of its parent's table and revokes it.
  REQUIRE(rig.lists(then) == Lists{64, 64, 0});
  REQUIRE(rig.prefetch(Prefetch::write, mr, buffer + KiB(8), 4096) == 0);
  REQUIRE(rig.kernel.on_demand().children == 2);
  REQUIRE(rig.advise_mr(rig.domain, Prefetch::read, {{std::uint64_t{1} << 47, 1, mr.lkey}}) == EFAULT);
  const std::size_t last = rig.nic.umrs.size();
  REQUIRE(rig.dereg_mr(mr.handle).error == 0);
  REQUIRE(rig.lists(last) == Lists{0, 0});
}

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
  REQUIRE(rig.kernel.on_demand().failed_workers == 4);
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
    REQUIRE(rig.kernel.on_demand().invalidated == 16);
  }
  SECTION("a run that does not begin with a unit takes its neighbours of the unit along") {
    REQUIRE(rig.munmap(buffer + KiB(36), KiB(4)) == 0);
    REQUIRE(rig.lists(before) == Lists{64});
    REQUIRE_FALSE(rig.present(mr, buffer + KiB(32)));
    REQUIRE(rig.kernel.on_demand().invalidated == 1);
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
  REQUIRE(rig.kernel.on_demand().zaps == 3);
}

TEST_CASE("reclaim takes pages of regions on demand, which pins would keep", "[odp]") {
  HostSettings settings;
  settings.memory = MiB(128);
  settings.swap = GiB(1);
  OdpRig rig(settings);
  const Va buffer = rig.mmap(MiB(32));
  const auto mr = rig.reg(buffer, MiB(32));
  REQUIRE(rig.kernel.on_demand().mapped == 8192);
  rig.mmap(MiB(112));
  REQUIRE(rig.kernel.on_demand().invalidated > 0);
  REQUIRE(rig.kernel.on_demand().zaps == rig.kernel.on_demand().invalidated);
  REQUIRE_FALSE(rig.present(mr, buffer));
  REQUIRE_FALSE(rig.kernel.memory_use().killed);
}

TEST_CASE("rereg_mr of an MR on demand: rights in place, a range makes a new MR", "[odp]") {
  OdpRig rig;
  const Va buffer = rig.mmap(KiB(64));
  const auto mr = rig.reg(buffer, KiB(64));
  verbs::ReregMrRequest request;
  request.mr = mr.handle;
  request.change_access = true;
  request.access = rw | Access::remote_read;
  const std::size_t before = rig.nic.umrs.size();
  REQUIRE(rig.rereg_mr(request).lkey == mr.lkey);
  REQUIRE(rig.lists(before) == Lists{0});
  REQUIRE(rig.nic.grant(mr.lkey)->access == request.access);
  REQUIRE(rig.present(mr, buffer));
  request.access = rw | Access::remote_atomic;
  REQUIRE(rig.rereg_mr(request).error == EINVAL);
  request.change_access = false;
  request.access = Access::none;
  request.translation = true;
  request.address = buffer + KiB(16);
  request.length = KiB(16);
  const auto moved = rig.rereg_mr(request);
  REQUIRE(moved.error == 0);
  REQUIRE(moved.lkey != mr.lkey);
  REQUIRE_FALSE(rig.nic.grant(mr.lkey));
  REQUIRE(rig.nic.grant(moved.lkey)->length == KiB(16));
  // To pinned memory, and back.
  request.change_access = true;
  request.access = Access::local_write;
  REQUIRE(rig.rereg_mr(request).error == 0);
  REQUIRE(rig.kernel.registration().pinned_now == KiB(16));
  request.access = rw;
  REQUIRE(rig.rereg_mr(request).error == 0);
  REQUIRE(rig.kernel.registration().pinned_now == Bytes(0));
  REQUIRE(rig.dereg_mr(mr.handle).error == 0);
}

TEST_CASE("behind an IOMMU each page has an address of its own, and gives it back", "[odp]") {
  HostSettings settings;
  settings.iommu.mode = "translate";
  OdpRig rig(settings);
  const Va buffer = rig.mmap(MiB(1));
  const auto mr = rig.reg(buffer, MiB(1));
  REQUIRE(rig.cost().iopte == 256);
  REQUIRE(rig.cost().iova_rbtree == 256);  // the caches are empty
  REQUIRE(rig.step(Step::dma_map) == ns(307 + 19) * 256);
  const Pa device = rig.walk(mr.lkey, buffer + KiB(8)).address;
  REQUIRE(rig.kernel.dma_mapper().io_page_table()->translate(device));
  const std::size_t before = rig.nic.umrs.size();
  REQUIRE(rig.munmap(buffer, MiB(1)) == 0);
  REQUIRE(rig.lists(before) == Lists{2048});
  REQUIRE_FALSE(rig.kernel.dma_mapper().io_page_table()->translate(device));
  REQUIRE(rig.cost().iopte == 256);
  REQUIRE(rig.dereg_mr(mr.handle).error == 0);
}

TEST_CASE("ibv_fork_init leaves regions on demand alone", "[odp]") {
  HostSettings settings;
  settings.kernel.copy_on_fork = false;
  OdpRig rig(settings);
  rig.ask([&](auto& r, auto& c) { return rig.device.fork_init(0, false, r, c); });
  // A hole would be ENOMEM by madvise.
  REQUIRE(rig.reg(rig.map(KiB(4)), KiB(64)).error == 0);
}

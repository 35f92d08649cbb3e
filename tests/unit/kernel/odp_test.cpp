// Does registration on demand do what Linux 6.12 does for mlx5: what it checks, what it gives the device? Errors are those of
// ib_init_umem_odp and create_user_odp_mr.
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
using Step = ports::RegistrationStep;

namespace {

constexpr std::uint64_t top = ~std::uint64_t{0};
constexpr Access od = Access::on_demand, rw = Access::local_write | od;

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
  REQUIRE(rig.kernel.device(0).reg_path().on_demand().totals().regions <= 1);
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
    REQUIRE(rig.kernel.device(0).reg_path().on_demand().totals().zaps == 0);
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
  REQUIRE(rig.kernel.device(0).reg_path().on_demand().totals().children == 1);
  REQUIRE(rig.prefetch(Prefetch::write, mr, buffer + KiB(4), 4096) == 0);
  REQUIRE(rig.kernel.device(0).reg_path().on_demand().totals().children == 1);
  const std::size_t then = rig.nic.umrs.size();
  REQUIRE(rig.munmap(buffer, KiB(8)) == 0);
  // The zap; then a worker takes the key out of its parent's table and revokes it.
  REQUIRE(rig.lists(then) == Lists{64, 64, 0});
  REQUIRE(rig.prefetch(Prefetch::write, mr, buffer + KiB(8), 4096) == 0);
  REQUIRE(rig.kernel.device(0).reg_path().on_demand().totals().children == 2);
  REQUIRE(rig.advise_mr(rig.domain, Prefetch::read, {{std::uint64_t{1} << 47, 1, mr.lkey}}) == EFAULT);
  const std::size_t last = rig.nic.umrs.size();
  REQUIRE(rig.dereg_mr(mr.handle).error == 0);
  REQUIRE(rig.lists(last) == Lists{0, 0});
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
  REQUIRE(rig.kernel.device(0).dma_mapper().io_page_table()->translate(device));
  const std::size_t before = rig.nic.umrs.size();
  REQUIRE(rig.munmap(buffer, MiB(1)) == 0);
  REQUIRE(rig.lists(before) == Lists{2048});
  REQUIRE_FALSE(rig.kernel.device(0).dma_mapper().io_page_table()->translate(device));
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

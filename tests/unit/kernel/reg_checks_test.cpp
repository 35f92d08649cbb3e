// Does reg_mr check in the kernel's order, and does it undo everything when it fails? Rows are those of ib_uverbs_reg_mr, ib_umem_get and
// mlx5's create_real_mr, in the order in which Linux 6.12 comes to them; unless said, they hold for every driver.
#include <catch2/catch.hpp>

#include "kernel/access_check.h"
#include "support/host_rig.h"

using namespace mtsim;
using test::HostRig;
using test::HostSettings;
using verbs::Access;
using verbs::Backing;

namespace {

constexpr std::uint64_t top = ~std::uint64_t{0};

struct Bench {
  explicit Bench(const HostSettings& settings = {}) : rig(settings), pd(rig.pd()), buffer(rig.mmap(KiB(64))) {}

  int reg(verbs::Handle in, Va at, Bytes length, Access access, std::uint64_t shift = 0) {
    const verbs::RegMrRequest request{in, at, length, access, Iova(at.raw + shift)};
    return rig.ask([&](auto& r, auto& c) { return rig.device.reg_mr(0, request, r, c); }).error;
  }
  int reg(Va at, Bytes length, Access access, std::uint64_t shift = 0) { return reg(pd, at, length, access, shift); }
  Va map(Backing backing, bool shared, bool readable, bool writable, Bytes length = KiB(64)) {
    verbs::MmapRequest request;
    request.length = length;
    request.backing = backing;
    request.shared = shared;
    request.readable = readable;
    request.writable = writable;
    return Va(rig.ask([&](auto& r, auto& c) { return rig.device.mmap(0, request, r, c); }).value);
  }
  void limit(Bytes bytes) {
    rig.ask([&](auto& r, auto& c) { return rig.device.set_cap_ipc_lock(0, false, r, c); });
    rig.ask([&](auto& r, auto& c) { return rig.device.set_memlock(0, bytes, r, c); });
  }
  /// Nothing is pinned and nothing charged: the whole limit can be used.
  void check_nothing_is_left(Bytes whole) {
    REQUIRE(rig.kernel.registration().pinned_now == Bytes(0));
    const auto mr = rig.reg_mr(pd, buffer, whole);
    REQUIRE(mr.error == 0);
    REQUIRE(rig.dereg_mr(mr.handle).error == 0);
  }

  HostRig rig;
  verbs::Handle pd;
  Va buffer;
};

constexpr Access wrong_rights = Access::remote_write;
constexpr Access unknown_bit = Access(1 << 15);

}  // namespace

TEST_CASE("row 3: an implicit ODP region that does not start at 0 (libibverbs)", "[reg_checks]") {
  Bench b;
  REQUIRE(b.reg(b.buffer, Bytes(top), Access::on_demand | wrong_rights) == EINVAL);
  REQUIRE(b.rig.records.empty());  // no system call
}

TEST_CASE("row 4: the offsets in the page of address and iova differ", "[reg_checks]") {
  Bench b;
  REQUIRE(b.reg(b.buffer, KiB(4), Access::on_demand, 1) == EINVAL);  // before row 7
  REQUIRE(b.reg(b.buffer + Bytes(5), KiB(4), Access::none, 4096) == 0);
}

TEST_CASE("row 5: remote write or atomic without local write", "[reg_checks]") {
  Bench b;
  REQUIRE(b.reg(b.buffer, KiB(4), Access::remote_write | Access::on_demand) == EINVAL);
  REQUIRE(b.reg(b.buffer, KiB(4), Access::remote_atomic) == EINVAL);
  REQUIRE(b.reg(b.buffer, KiB(4), Access::remote_atomic | Access::remote_write | Access::local_write) == 0);
  for (const Access alone : {Access::none, Access::local_write, Access::remote_read, Access::mw_bind, Access::relaxed_ordering})
    REQUIRE(b.reg(b.buffer, KiB(4), alone) == 0);
}

TEST_CASE("row 6: an unknown flag", "[reg_checks]") {
  Bench b;
  REQUIRE(b.reg(b.buffer, KiB(4), unknown_bit | Access::on_demand) == EINVAL);  // before row 7
  REQUIRE(kernel::check_access(unknown_bit, 0, true) == EINVAL);
}

TEST_CASE("row 7: on demand on a device that has no on-demand paging", "[reg_checks]") {
  HostSettings without;
  SECTION("by its driver") { without.driver.on_demand = kernel::OnDemand::none; }
  SECTION("as nothing can change single entries of its tables") { without.driver.table_writer = "command"; }
  const bool linux_6_1 = GENERATE(false, true);
  if (linux_6_1) without.kernel.without_on_demand = kernel::WithoutOnDemand::einval;
  Bench b(without);
  b.limit(Bytes(0));
  const int error = linux_6_1 ? EINVAL : EOPNOTSUPP;
  REQUIRE(b.reg(b.pd + 7, b.buffer, KiB(4), Access::on_demand) == error);  // before row 9
  REQUIRE(b.reg(b.buffer, KiB(4), Access::on_demand) == error);            // before row 12
}

TEST_CASE("row 8: FLUSH on a device that does not carry it out; where it does, memory must be persistent for one of its kinds",
          "[reg_checks]") {
  const Access flush = GENERATE(Access::flush_global, Access::flush_persistent);
  {
    Bench b;
    REQUIRE(b.reg(b.pd + 7, b.buffer, KiB(4), flush) == EOPNOTSUPP);  // before row 9
    REQUIRE(b.reg(b.buffer, KiB(4), flush | wrong_rights) == EINVAL);
  }
  HostSettings settings;
  settings.driver.flush = true;
  Bench b(settings);
  b.limit(KiB(64));
  REQUIRE(b.reg(b.buffer, KiB(64), flush) == (flush == Access::flush_global ? 0 : EINVAL));
  // rxe finds out page by page, after they have been pinned.
  REQUIRE(b.rig.records.back().cost.pages == Pages(16));
  if (flush == Access::flush_persistent) b.check_nothing_is_left(KiB(64));
}

TEST_CASE("row 9: no such PD", "[reg_checks]") {
  Bench b;
  REQUIRE(b.reg(b.pd + 7, Va(top - 4095), KiB(8), Access::none) == EINVAL);
  b.limit(Bytes(0));
  REQUIRE(b.reg(b.pd + 7, b.buffer, KiB(4), Access::none) == EINVAL);  // before row 12
}

TEST_CASE("row 10: what the driver itself refuses, after the PD and before the memory", "[reg_checks]") {
  HostSettings settings;
  SECTION("rxe, Linux 6.12: flags beyond RXE_ACCESS_SUPPORTED_MR") {
    settings.driver.refused_access = "zb  ht";
    Bench b(settings);
    b.limit(Bytes(0));
    for (const Access access : {Access::zero_based, Access::huge_tlb}) {
      REQUIRE(b.reg(b.pd + 7, b.buffer, KiB(4), access) == EINVAL);
      REQUIRE(b.reg(b.buffer, KiB(4), access) == EOPNOTSUPP);  // before row 12
      REQUIRE(b.reg(b.buffer, KiB(4), access | wrong_rights) == EINVAL);
    }
    REQUIRE(b.reg(b.buffer, KiB(4), Access::relaxed_ordering) == EPERM);
  }
  SECTION("siw: a length of 0") {
    settings.driver.refuses_empty = true;
    Bench b(settings);
    b.limit(Bytes(0));
    REQUIRE(b.reg(b.buffer + Bytes(8), Bytes(0), Access::none) == EINVAL);  // before row 12
  }
  SECTION("siw: too many MRs; irdma: too long a one, before anything is pinned") {
    settings.driver.keys = "bitmap";
    settings.driver.most_keys = 2;
    settings.driver.largest_mr = KiB(32);
    Bench b(settings);
    b.limit(Bytes(0));
    REQUIRE(b.reg(b.buffer, KiB(33), Access::none) == EINVAL);
    REQUIRE(b.reg(b.buffer, KiB(32), Access::none) == EPERM);
  }
}

TEST_CASE("rows 12 and 15 under a driver with an account of its own (siw before Linux 6.10): nobody is exempt", "[reg_checks]") {
  HostSettings settings;
  settings.driver.own_memlock = true;
  Bench b(settings);
  const auto limit = [&](Bytes bytes) { return b.rig.ask([&](auto& r, auto& c) { return b.rig.device.set_memlock(0, bytes, r, c); }); };
  limit(KiB(8));
  REQUIRE(b.reg(b.buffer, KiB(8) + Bytes(1), Access::none) == ENOMEM);
  REQUIRE(b.reg(b.buffer, KiB(8), Access::none) == 0);
  REQUIRE(b.reg(b.buffer, Bytes(1), Access::none) == ENOMEM);
  limit(Bytes(0));
  REQUIRE(b.reg(b.buffer, KiB(4), Access::none) == ENOMEM);
  limit(Memlock::unlimited);
  REQUIRE(b.reg(b.buffer, KiB(64), Access::none) == 0);
}

TEST_CASE("row 11: the range wraps, as it is or in whole pages", "[reg_checks]") {
  Bench b;
  b.limit(Bytes(0));
  REQUIRE(b.reg(Va(top - 4095), KiB(8), Access::none) == EINVAL);  // before row 12
  REQUIRE(b.reg(Va(top - 100), Bytes(50), Access::none) == EINVAL);
  REQUIRE(b.reg(Va(0), Bytes(top), Access::none) == EINVAL);
}

TEST_CASE("row 12: no memory may be locked at all", "[reg_checks]") {
  Bench b;
  b.limit(Bytes(0));
  REQUIRE(b.reg(b.buffer, Bytes(0), Access::none) == EPERM);  // before row 14
  b.rig.ask([&](auto& r, auto& c) { return b.rig.device.set_cap_ipc_lock(0, true, r, c); });
  REQUIRE(b.reg(b.buffer, KiB(4), Access::none) == 0);
}

TEST_CASE("row 14: no page, or more than 2^32-1", "[reg_checks]") {
  Bench b;
  b.limit(KiB(4));
  REQUIRE(b.reg(b.buffer, Bytes(0), Access::none) == EINVAL);
  REQUIRE(b.reg(b.buffer, GiB(16384), Access::none) == EINVAL);  // before row 15
  REQUIRE(b.reg(b.buffer, GiB(16384) - KiB(4), Access::none) == ENOMEM);
}

TEST_CASE("row 15: the limit on locked memory", "[reg_checks]") {
  Bench b;
  b.limit(KiB(8));
  const Va hole = b.buffer + GiB(1);
  REQUIRE(b.reg(hole, KiB(12), Access::none) == ENOMEM);  // before row 16
  REQUIRE(b.reg(hole, KiB(8), Access::none) == EFAULT);
  b.check_nothing_is_left(KiB(8));
}

TEST_CASE("row 16: what kinds of memory may be pinned, by Linux 6.12 and before 6.2", "[reg_checks]") {
  constexpr Access reading[] = {Access::none, Access::remote_read};
  constexpr Access writing[] = {Access::local_write, Access::local_write | Access::remote_write,
                                Access::local_write | Access::remote_atomic, Access::mw_bind};
  struct Row {
    const char* what;
    Backing backing;
    bool shared, readable, writable;
    int read, write;                ///< 6.12
    int forced_read, forced_write;  ///< before 6.2
  };
  const Row rows[] = {
      {"anonymous", Backing::anonymous, false, true, true, 0, 0, 0, 0},
      {"shared memory (tmpfs)", Backing::anonymous, true, true, true, 0, 0, 0, 0},
      {"read-only anonymous", Backing::anonymous, false, true, false, 0, EFAULT, 0, EFAULT},
      {"read-only private file", Backing::file, false, true, false, 0, EFAULT, 0, EFAULT},
      {"private file", Backing::file, false, true, true, 0, 0, 0, 0},
      {"read-only shared file", Backing::file, true, true, false, 0, EFAULT, EFAULT, EFAULT},
      {"shared file with dirty tracking", Backing::file, true, true, true, 0, EFAULT, 0, 0},
      {"no rights", Backing::anonymous, false, false, false, EFAULT, EFAULT, 0, EFAULT},
      {"device window", Backing::io, true, true, true, EFAULT, EFAULT, EFAULT, EFAULT},
  };
  for (const bool forced : {false, true}) {
    HostSettings settings;
    settings.kernel.pin_by_force = forced;
    Bench b(settings);
    for (const Row& row : rows) {
      CAPTURE(row.what, forced);
      const Va at = b.map(row.backing, row.shared, row.readable, row.writable);
      for (const Access access : reading) REQUIRE(b.reg(at, KiB(64), access) == (forced ? row.forced_read : row.read));
      for (const Access access : writing) REQUIRE(b.reg(at, KiB(64), access) == (forced ? row.forced_write : row.write));
      // Flags are judged before memory.
      REQUIRE(b.reg(at, KiB(64), wrong_rights) == EINVAL);
    }
    REQUIRE(b.reg(b.buffer + GiB(1), KiB(64), Access::none) == EFAULT);
    REQUIRE(b.reg(b.buffer + GiB(1), KiB(64), wrong_rights) == EINVAL);
  }
}

TEST_CASE("row 16: a part that may not be pinned fails the whole, and what was pinned before it is let go", "[reg_checks]") {
  Bench b;
  b.limit(KiB(64));
  const Pages before = b.rig.root.frames().free();
  REQUIRE(b.rig.mprotect(b.buffer + KiB(32), KiB(4), true, false) == 0);
  REQUIRE(b.reg(b.buffer, KiB(64), Access::local_write) == EFAULT);
  // Eight pages were taken and given back, in one batch.
  REQUIRE(b.rig.step(ports::RegistrationStep::pin) == ns(150 + 8 * (3 + 110)));
  REQUIRE(b.rig.step(ports::RegistrationStep::unpin) == ns(8));
  REQUIRE(b.rig.mprotect(b.buffer + KiB(32), KiB(4), true, true) == 0);
  REQUIRE(b.rig.root.frames().free() == before);
  b.check_nothing_is_left(KiB(64));
  const auto hole = b.rig.ask([&](auto& r, auto& c) { return b.rig.device.munmap(0, b.buffer + KiB(60), KiB(4), r, c); });
  REQUIRE(hole.error == 0);
  REQUIRE(b.reg(b.buffer, KiB(64), Access::none) == EFAULT);
  b.check_nothing_is_left(KiB(60));
}

TEST_CASE("row 16: movable memory is migrated first, which takes time; without room elsewhere it is ENOMEM", "[reg_checks]") {
  HostSettings settings;
  settings.movable = GiB(1);
  Bench b(settings);
  b.limit(GiB(4));
  const auto took = [&](int error) {
    REQUIRE(b.reg(b.buffer, KiB(64), Access::none) == error);
    return b.rig.step(ports::RegistrationStep::fault);
  };
  CHECK(took(0) == settings.kernel.migrate_page * 16);
  CHECK(b.rig.kernel.memory_use().migrated == 16);
  CHECK(took(0) == Time());
  const Va much = b.rig.mmap(GiB(1));
  const Bytes pinned = b.rig.kernel.registration().pinned_now;
  // Somebody has all the rest.
  while (!b.rig.root.frames().allocate(Leaf::page_4k, 4096, Zone::unmovable).empty()) continue;
  CHECK(b.reg(much, MiB(64), Access::none) == ENOMEM);
  CHECK(b.rig.kernel.registration().pinned_now == pinned);
}

TEST_CASE("row 17: the IOMMU has no addresses left", "[reg_checks]") {
  HostSettings settings;
  settings.iommu.mode = "translate";
  settings.iommu.address_bits = 20;  // 512 KiB to give away
  Bench b(settings);
  b.limit(GiB(1));
  const Va great = b.rig.mmap(MiB(1));
  REQUIRE(b.reg(great, MiB(1), Access::none) == ENOMEM);
  REQUIRE(b.rig.records.back().cost.pages == Pages(256));
  REQUIRE(b.rig.step(ports::RegistrationStep::unpin) != Time());
  REQUIRE(b.reg(great, KiB(512), Access::none) == 0);
  REQUIRE(b.reg(great, KiB(64), Access::none) == ENOMEM);
  REQUIRE(b.rig.kernel.registration().pinned_now == KiB(512));
}

TEST_CASE("row 18: no page size fits", "[reg_checks]") {
  Bench b;
  b.limit(KiB(64));
  // A length of 0 in the middle of a page counts one page, which is pinned, and then no page size maps nothing (mlx5).
  REQUIRE(b.reg(b.buffer + Bytes(8), Bytes(0), Access::none) == EINVAL);
  REQUIRE(b.rig.records.back().cost.pages == Pages(1));
  b.check_nothing_is_left(KiB(64));
  // Addresses as operations see them wrap, the pages do not.
  REQUIRE(b.reg(b.buffer, KiB(8), Access::none, top - b.buffer.raw - 4095) == EINVAL);
  b.check_nothing_is_left(KiB(64));
}

TEST_CASE("row 18 under a driver that does not search for a page size (rxe): an empty MR within a page is one", "[reg_checks]") {
  HostSettings settings;
  settings.driver.page_size = PageSizeChoice::none;
  Bench b(settings);
  REQUIRE(b.reg(b.buffer + Bytes(8), Bytes(0), Access::none) == 0);
  REQUIRE(b.rig.records.back().cost.pages == Pages(1));
  REQUIRE(b.reg(b.buffer, Bytes(0), Access::none) == EINVAL);  // row 14
}

TEST_CASE("row 19: no key is left", "[reg_checks]") {
  HostSettings settings;
  settings.driver.keys = "bitmap";
  settings.driver.most_keys = 2;
  Bench b(settings);
  b.limit(KiB(64));
  int error = 0;
  unsigned made = 0;
  for (; error == 0 && made < 4; ++made) error = b.reg(b.buffer, KiB(8), Access::none);
  REQUIRE(error == ENOMEM);
  // Those that succeeded stay pinned, the one that failed does not.
  REQUIRE(b.rig.kernel.registration().pinned_now == KiB(8) * (made - 1));
  REQUIRE(b.rig.records.back().cost.steps[unsigned(ports::RegistrationStep::unpin)] != Time());
}

TEST_CASE("lengths and addresses are exact to the byte, pins to the page", "[reg_checks]") {
  Bench b;
  REQUIRE(b.reg(b.buffer + Bytes(4095), Bytes(1), Access::none) == 0);
  REQUIRE(b.rig.records.back().cost.pages == Pages(1));
  REQUIRE(b.reg(b.buffer + Bytes(4095), Bytes(2), Access::none) == 0);
  REQUIRE(b.rig.records.back().cost.pages == Pages(2));
}

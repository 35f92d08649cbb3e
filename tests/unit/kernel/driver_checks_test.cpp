// Where do drivers answer in ways of their own? Rows are those of registration's flags, corner cases, rereg_mr and keys, with the driver
// that each belongs to.
#include <catch2/catch.hpp>

#include "support/host_rig.h"
#include "verbs/judge.h"

using namespace mtsim;
using test::HostRig;
using test::HostSettings;
using verbs::Access;
using verbs::Verdict;

namespace {

struct Bench {
  explicit Bench(const HostSettings& settings) : rig(settings), pd(rig.pd()), buffer(rig.mmap(KiB(64))) {}

  verbs::Reply reg(Va at, Bytes length, Access access, Iova iova) {
    const verbs::RegMrRequest request{pd, at, length, access, iova};
    return rig.ask([&](auto& r, auto& c) { return rig.device.reg_mr(0, request, r, c); });
  }
  verbs::Reply reg(Access access) { return reg(buffer, KiB(64), access, Iova(buffer.raw)); }
  /// What the NIC says to an operation of `length` bytes by that key.
  Verdict judge(Key lkey, Key used, Iova address, Bytes length, bool remote) {
    const std::optional<verbs::Grant> grant = rig.nic.grant(lkey);
    return verbs::judge(grant ? &*grant : nullptr, {used, pd, Access::none, address, length, remote});
  }

  HostRig rig;
  verbs::Handle pd;
  Va buffer;
};

}  // namespace

TEST_CASE("zero based: mlx5 ignores it, irdma's MR begins at 0, wherever its memory begins in a page", "[driver_checks]") {
  HostSettings settings;
  settings.driver.zero_based = GENERATE(false, true);
  Bench b(settings);
  const std::uint64_t into_page = GENERATE(0, 40);
  const Va at = b.buffer + Bytes(into_page);
  const auto mr = b.reg(at, KiB(8), Access::zero_based, Iova(at.raw));
  REQUIRE(mr.error == 0);
  const Iova start = settings.driver.zero_based ? Iova(0) : Iova(at.raw);
  CHECK(mr.iova == start);
  CHECK(b.judge(mr.lkey, mr.lkey, start, KiB(8), false) == Verdict::granted);
  CHECK(b.judge(mr.lkey, mr.lkey, Iova(start.raw + 1), KiB(8), false) == Verdict::out_of_range);
  CHECK((b.judge(mr.lkey, mr.lkey, Iova(at.raw), KiB(8), false) == Verdict::granted) != settings.driver.zero_based);
  // It leads to the same byte of memory as an MR that is not zero based.
  const auto plain = b.reg(at, KiB(8), Access::none, Iova(at.raw));
  for (const std::uint64_t byte : {0, 1, 4055, 4056, 4096, 8191})
    CHECK(b.rig.nic.translate(mr.lkey, Iova(start.raw + byte)) == b.rig.nic.translate(plain.lkey, Iova(at.raw + byte)));
}

TEST_CASE("iova other than the address: bounds are those of the iova; siw ignores it", "[driver_checks]") {
  HostSettings settings;
  const bool siw = GENERATE(false, true);
  settings.driver.mr_start = siw ? kernel::MrStart::address : kernel::MrStart::iova;
  Bench b(settings);
  const Iova iova(0x4000'0000);
  const auto mr = b.reg(b.buffer, KiB(64), Access::none, iova);
  REQUIRE(mr.error == 0);
  CHECK(mr.iova == iova);  // what the program believes
  CHECK(b.judge(mr.lkey, mr.lkey, iova, KiB(64), false) == (siw ? Verdict::out_of_range : Verdict::granted));
  CHECK(b.judge(mr.lkey, mr.lkey, Iova(b.buffer.raw), KiB(64), false) == (siw ? Verdict::granted : Verdict::out_of_range));
}

TEST_CASE("lkey and rkey: the same; two keys of one device (efa); none without a remote right (rxe, Linux 6.1)",
          "[driver_checks][rule:5.10]") {
  HostSettings settings;
  SECTION("the same") {
    Bench b(settings);
    const auto mr = b.reg(Access::none);
    CHECK(mr.lkey == mr.rkey);
    CHECK(b.judge(mr.lkey, mr.rkey, mr.iova, KiB(1), true) == Verdict::granted);
  }
  SECTION("efa: each is good in its place only") {
    settings.driver.rkey = kernel::Rkey::own;
    Bench b(settings);
    const auto mr = b.reg(Access::local_write | Access::remote_write);
    CHECK(mr.lkey != mr.rkey);
    CHECK(mr.lkey.index() == mr.rkey.index());
    CHECK(b.judge(mr.lkey, mr.lkey, mr.iova, KiB(1), false) == Verdict::granted);
    CHECK(b.judge(mr.lkey, mr.rkey, mr.iova, KiB(1), true) == Verdict::granted);
    CHECK(b.judge(mr.lkey, mr.lkey, mr.iova, KiB(1), true) == Verdict::wrong_variant);
    CHECK(b.judge(mr.lkey, mr.rkey, mr.iova, KiB(1), false) == Verdict::wrong_variant);
  }
  SECTION("rxe") {
    settings.driver.rkey = kernel::Rkey::lkey_if_remote;
    Bench b(settings);
    CHECK(b.reg(Access::local_write).rkey == Key());
    for (const Access right : {Access::remote_read, Access::remote_write, Access::remote_atomic}) {
      const auto mr = b.reg(Access::local_write | right);
      CHECK(mr.rkey == mr.lkey);
    }
  }
}

TEST_CASE("rereg_mr under rxe: PD and access only (Linux 6.12), or nothing at all (rdma-core 44)", "[driver_checks]") {
  HostSettings settings;
  settings.driver.rereg = GENERATE(kernel::Rereg::rights, kernel::Rereg::none);
  Bench b(settings);
  const auto mr = b.reg(Access::local_write);
  verbs::ReregMrRequest rights;
  rights.mr = mr.handle;
  rights.change_access = true;
  rights.access = Access::local_write | Access::remote_write;
  verbs::ReregMrRequest range = rights;
  range.translation = true;
  range.address = b.buffer;
  range.length = KiB(32);
  const bool none = settings.driver.rereg == kernel::Rereg::none;
  const auto refused = b.rig.rereg_mr(range);
  CHECK(refused.error == EOPNOTSUPP);
  CHECK(verbs::Rereg(refused.value) == verbs::Rereg::command);
  CHECK(b.rig.nic.grant(mr.lkey)->length == KiB(64));
  CHECK(b.rig.rereg_mr(rights).error == (none ? EOPNOTSUPP : 0));
  CHECK(b.rig.nic.grant(mr.lkey)->access == (none ? Access::local_write : rights.access));
}

TEST_CASE("flags that are not of the form are a user's mistake", "[driver_checks]") {
  HostSettings settings;
  settings.driver.refused_access = "zb hugetlb";
  CHECK_FALSE(settings.driver.refused_access_flags().has_value());
  settings.driver.refused_access = " zb  fp ";
  CHECK(settings.driver.refused_access_flags() == (Access::zero_based | Access::flush_persistent));
  settings.driver.refused_access = "";
  CHECK(settings.driver.refused_access_flags() == Access::none);
}

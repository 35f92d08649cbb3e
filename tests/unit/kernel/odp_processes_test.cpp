// Regions on demand of several processes and on several NICs: does each lose what its own process's memory loses, and nothing else?
#include <catch2/catch.hpp>

#include "unit/kernel/odp_rig.h"

using namespace mtsim;
using test::HostSettings;
using test::OdpRig;
using verbs::Access;
using verbs::Prefetch;

namespace {

HostSettings processes(std::uint32_t nics = 1) {
  HostSettings s;
  s.threads = 4;
  s.cpus = 4;
  s.nics = nics;
  s.swap = MiB(64);
  return s;
}

int fork(OdpRig& rig, const char* name, std::vector<verbs::Thread> threads) {
  const verbs::ForkRequest request{name, threads};
  return rig.ask([&](auto& r, auto& c) { return rig.device.fork(0, request, r, c); }).error;
}
int touch(OdpRig& rig, verbs::Thread t, Va at, Bytes length) {
  return rig.ask([&](auto& r, auto& c) { return rig.device.touch(t, at, length, true, r, c); }).error;
}
int munmap(OdpRig& rig, verbs::Thread t, Va at, Bytes length) {
  return rig.ask([&](auto& r, auto& c) { return rig.device.munmap(t, at, length, r, c); }).error;
}
verbs::Reply reg(OdpRig& rig, verbs::Thread t, verbs::Handle pd, Va at, Bytes length) {
  const verbs::RegMrRequest request{pd, at, length, Access::local_write | Access::on_demand, Iova(at.raw)};
  return rig.ask([&](auto& r, auto& c) { return rig.device.reg_mr(t, request, r, c); });
}
const kernel::OdpTotals& totals(OdpRig& rig, std::uint32_t nic = 0) { return rig.kernel.device(nic).reg_path().on_demand().totals(); }

}  // namespace

TEST_CASE("a fork protects private pages, so that the device loses them; a prefetch for writing copies what is shared", "[odp]") {
  OdpRig rig(processes());
  const Va buffer = rig.mmap(KiB(64));
  const auto mr = reg(rig, 0, rig.domain, buffer, KiB(64));
  REQUIRE(rig.present(mr, buffer));
  REQUIRE(fork(rig, "kid", {1}) == 0);
  CHECK_FALSE(rig.present(mr, buffer));
  CHECK(totals(rig).invalidated == 16);
  const Pages free = rig.root.frames().free();
  REQUIRE(rig.prefetch(Prefetch::read, mr, buffer, 8192) == 0);
  CHECK(rig.present(mr, buffer));
  CHECK(rig.walk(mr.lkey, buffer, true).reason == translate::Fault::page_read_only);
  CHECK(rig.root.frames().free() == free);
  REQUIRE(rig.prefetch(Prefetch::write, mr, buffer, 8192) == 0);
  CHECK(rig.walk(mr.lkey, buffer, true).kind == translate::Step::Kind::done);
  CHECK(rig.root.frames().free() + Pages(2) == free);
}

TEST_CASE("a write that copies a shared page takes it from the device, which must not go on reading the old one", "[odp]") {
  OdpRig rig(processes());
  const Va buffer = rig.mmap(KiB(64));
  const auto mr = reg(rig, 0, rig.domain, buffer, KiB(64));
  REQUIRE(fork(rig, "kid", {1}) == 0);
  REQUIRE(rig.prefetch(Prefetch::read, mr, buffer, 16384) == 0);
  REQUIRE(touch(rig, 1, buffer + KiB(4), KiB(4)) == 0);  // the child's copy: the device keeps what the parent has
  CHECK(rig.present(mr, buffer + KiB(4)));
  REQUIRE(touch(rig, 0, buffer, KiB(4)) == 0);
  CHECK_FALSE(rig.present(mr, buffer));
  CHECK(rig.kernel.memory_use().left_pins == 0);
}

TEST_CASE("a child's region has the child's pages, and neither loses what the other unmaps", "[odp]") {
  OdpRig rig(processes());
  const Va buffer = rig.mmap(KiB(64));
  REQUIRE(fork(rig, "kid", {1}) == 0);
  REQUIRE(touch(rig, 1, buffer, KiB(64)) == 0);
  const auto mine = reg(rig, 0, rig.domain, buffer, KiB(64)), its = reg(rig, 1, rig.domain, buffer, KiB(64));
  REQUIRE(mine.error == 0);
  REQUIRE(its.error == 0);
  REQUIRE(rig.present(mine, buffer));
  REQUIRE(rig.present(its, buffer));
  CHECK(*rig.nic.translate(mine.lkey, Iova(buffer.raw)) != *rig.nic.translate(its.lkey, Iova(buffer.raw)));
  REQUIRE(munmap(rig, 1, buffer, KiB(64)) == 0);
  CHECK(rig.present(mine, buffer));
  CHECK_FALSE(rig.present(its, buffer));
  REQUIRE(munmap(rig, 0, buffer, KiB(64)) == 0);
  CHECK_FALSE(rig.present(mine, buffer));
  CHECK(rig.dereg_mr(its.handle).error == 0);
  CHECK(rig.dereg_mr(mine.handle).error == 0);
}

TEST_CASE("what a process loses goes from every NIC that has it on demand", "[odp]") {
  OdpRig rig(processes(2));
  const Va buffer = rig.mmap(KiB(64));
  const verbs::Handle other = rig.pd(1);
  const auto first = reg(rig, 0, rig.domain, buffer, KiB(64)), second = reg(rig, 0, other, buffer, KiB(64));
  REQUIRE(first.error == 0);
  REQUIRE(second.error == 0);
  CHECK(totals(rig, 0).mapped == 16);
  CHECK(totals(rig, 1).mapped == 16);
  REQUIRE(munmap(rig, 0, buffer + KiB(32), KiB(32)) == 0);
  CHECK(totals(rig, 0).invalidated == 8);
  CHECK(totals(rig, 1).invalidated == 8);
  // Swapped out behind the program's back, too.
  REQUIRE(rig.madvise(buffer, KiB(16), verbs::Advice::pageout) == 0);
  CHECK(totals(rig, 0).invalidated == 12);
  CHECK(totals(rig, 1).invalidated == 12);
  CHECK(rig.dereg_mr(second.handle).error == 0);
  CHECK(rig.dereg_mr(first.handle).error == 0);
}

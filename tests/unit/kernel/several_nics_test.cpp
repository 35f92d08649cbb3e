// Several NICs on one host: has each its keys, tables and addresses, while the process's memory is one?
#include <catch2/catch.hpp>
#include <cerrno>

#include "support/host_rig.h"

using namespace mtsim;
using namespace mtsim::test;

namespace {

HostSettings with_nics(std::uint32_t nics) {
  HostSettings settings;
  settings.nics = nics;
  return settings;
}

/// The NIC of that number.
StubNic& stub(HostRig& rig, std::uint32_t number) { return number == 0 ? rig.nic : *rig.further_nics[number - 1]; }

/// Commands and UMR work requests that the NIC has had.
std::size_t requests(HostRig& rig, std::uint32_t number) { return stub(rig, number).commands.size() + stub(rig, number).umrs.size(); }

int dealloc_pd(HostRig& rig, verbs::Handle pd) {
  return rig.ask([&](auto& r, auto& c) { return rig.device.dealloc_pd(0, pd, r, c); }).error;
}

}  // namespace

TEST_CASE("Keys of two NICs may be equal, and each NIC knows its own") {
  HostRig rig(with_nics(2));
  const Va here = rig.mmap(MiB(1)), there = rig.mmap(MiB(1));
  const verbs::Handle pd0 = rig.pd(0), pd1 = rig.pd(1);
  const verbs::Reply first = rig.reg_mr(pd0, here, MiB(1));
  const verbs::Reply second = rig.reg_mr(pd1, there, MiB(1));
  REQUIRE(first.error == 0);
  REQUIRE(second.error == 0);
  REQUIRE(first.lkey == second.lkey);
  CHECK(first.handle != second.handle);
  REQUIRE(stub(rig, 0).grant(first.lkey));
  REQUIRE(stub(rig, 1).grant(first.lkey));
  CHECK(stub(rig, 0).grant(first.lkey)->pd == pd0);
  CHECK(stub(rig, 1).grant(first.lkey)->pd == pd1);
  CHECK(stub(rig, 0).grant(first.lkey)->start.raw == here.raw);
  CHECK(stub(rig, 1).grant(first.lkey)->start.raw == there.raw);
}

TEST_CASE("dereg_mr goes to the NIC that the MR was registered on") {
  HostRig rig(with_nics(3));
  const Va buffer = rig.mmap(MiB(1));
  std::vector<verbs::Handle> pds, mrs;
  for (std::uint32_t nic = 0; nic < 3; ++nic) {
    pds.push_back(rig.pd(nic));
    const verbs::Reply made = rig.reg_mr(pds.back(), buffer, MiB(1));
    REQUIRE(made.error == 0);
    mrs.push_back(made.handle);
    REQUIRE(stub(rig, nic).grant(made.lkey));
  }
  const Key key = rig.reg_mr(pds[1], buffer, KiB(4)).lkey;
  for (const std::uint32_t nic : {1u, 2u, 0u}) {
    std::vector<std::size_t> before;
    for (std::uint32_t n = 0; n < 3; ++n) before.push_back(requests(rig, n));
    REQUIRE(rig.dereg_mr(mrs[nic]).error == 0);
    for (std::uint32_t n = 0; n < 3; ++n) CHECK((requests(rig, n) > before[n]) == (n == nic));
    // Gone, and gone only once.
    CHECK(rig.dereg_mr(mrs[nic]).error == EINVAL);
  }
  // The last one of the second NIC is left.
  CHECK(stub(rig, 1).grant(key));
  CHECK(dealloc_pd(rig, pds[0]) == 0);
  CHECK(dealloc_pd(rig, pds[1]) == EBUSY);
  CHECK(dealloc_pd(rig, pds[2]) == 0);
}

TEST_CASE("Pages count for each registration, whatever NIC it is on") {
  HostRig rig(with_nics(2));
  const Va buffer = rig.mmap(MiB(1));
  REQUIRE(rig.ask([&](auto& r, auto& c) { return rig.device.set_cap_ipc_lock(0, false, r, c); }).error == 0);
  REQUIRE(rig.ask([&](auto& r, auto& c) { return rig.device.set_memlock(0, KiB(1536), r, c); }).error == 0);
  const verbs::Handle pd0 = rig.pd(0), pd1 = rig.pd(1);
  const verbs::Reply first = rig.reg_mr(pd0, buffer, MiB(1));
  REQUIRE(first.error == 0);
  CHECK(rig.reg_mr(pd1, buffer, MiB(1)).error == ENOMEM);
  const verbs::Reply half = rig.reg_mr(pd1, buffer, KiB(512));
  REQUIRE(half.error == 0);
  CHECK(rig.kernel.registration().pinned_now == KiB(1536));
  CHECK(rig.reg_mr(pd0, buffer, KiB(4)).error == ENOMEM);
  REQUIRE(rig.dereg_mr(first.handle).error == 0);
  CHECK(rig.reg_mr(pd1, buffer, MiB(1)).error == 0);
  CHECK(rig.kernel.registration().pinned_now == KiB(1536));
  // At most what both held at one time, not what each held at most.
  CHECK(rig.kernel.registration().pinned_most == KiB(1536));
}

TEST_CASE("A NIC without keys left does not touch the other") {
  HostSettings settings = with_nics(2);
  settings.driver.keys = "counter";
  settings.driver.table_writer = "command";
  settings.driver.most_keys = 2;
  HostRig rig(settings);
  const Va buffer = rig.mmap(MiB(1));
  const verbs::Handle pd0 = rig.pd(0), pd1 = rig.pd(1);
  std::vector<verbs::Handle> mrs;
  for (int i = 0; i < 2; ++i) {
    const verbs::Reply made = rig.reg_mr(pd0, buffer, KiB(4));
    REQUIRE(made.error == 0);
    mrs.push_back(made.handle);
  }
  CHECK(rig.reg_mr(pd0, buffer, KiB(4)).error == ENOMEM);
  CHECK(rig.reg_mr(pd1, buffer, KiB(4)).error == 0);
  CHECK(rig.reg_mr(pd1, buffer, KiB(4)).error == 0);
  CHECK(rig.reg_mr(pd1, buffer, KiB(4)).error == ENOMEM);
  REQUIRE(rig.dereg_mr(mrs[0]).error == 0);
  CHECK(rig.reg_mr(pd1, buffer, KiB(4)).error == ENOMEM);
  CHECK(rig.reg_mr(pd0, buffer, KiB(4)).error == 0);
}

TEST_CASE("A PD belongs to its NIC") {
  HostRig rig(with_nics(2));
  const Va buffer = rig.mmap(MiB(1));
  const verbs::Handle pd0 = rig.pd(0), pd1 = rig.pd(1), other1 = rig.pd(1);
  CHECK(rig.ask([&](auto& r, auto& c) { return rig.device.alloc_pd(0, 2, r, c); }).error == ENODEV);

  // An MR may change its PD on its NIC only, and stays as it was where that is refused.
  const verbs::Reply mr = rig.reg_mr(pd1, buffer, MiB(1));
  REQUIRE(mr.error == 0);
  verbs::ReregMrRequest change;
  change.mr = mr.handle;
  change.pd = pd0;
  CHECK(rig.rereg_mr(change).error == EINVAL);
  REQUIRE(stub(rig, 1).grant(mr.lkey));
  CHECK(stub(rig, 1).grant(mr.lkey)->pd == pd1);
  change.pd = other1;
  CHECK(rig.rereg_mr(change).error == 0);
  REQUIRE(stub(rig, 1).grant(mr.lkey));
  CHECK(stub(rig, 1).grant(mr.lkey)->pd == other1);
  CHECK(dealloc_pd(rig, pd1) == 0);
  CHECK(dealloc_pd(rig, other1) == EBUSY);

  // QPs and SRQs are the first NIC's.
  const verbs::CreateSrqRequest srq{other1, 16, 1};
  CHECK(rig.ask([&](auto& r, auto& c) { return rig.device.create_srq(0, srq, r, c); }).error == EINVAL);
  verbs::CreateQpRequest qp;
  qp.send_cq = qp.recv_cq = rig.ask([&](auto& r, auto& c) { return rig.device.create_cq(0, 16, r, c); }).handle;
  qp.pd = other1;
  CHECK(rig.ask([&](auto& r, auto& c) { return rig.device.create_qp(0, qp, r, c); }).error == EINVAL);
  qp.pd = pd0;
  CHECK(rig.ask([&](auto& r, auto& c) { return rig.device.create_qp(0, qp, r, c); }).error == 0);
}

TEST_CASE("Each NIC has I/O virtual addresses of its own") {
  HostSettings settings = with_nics(2);
  settings.iommu.mode = "translate";
  HostRig rig(settings);
  const Va here = rig.mmap(MiB(1)), there = rig.mmap(MiB(1));
  REQUIRE(rig.reg_mr(rig.pd(0), here, MiB(1)).error == 0);
  REQUIRE(rig.reg_mr(rig.pd(1), there, MiB(1)).error == 0);
  const auto& first = rig.kernel.device(0).dma_mapper();
  const auto& second = rig.kernel.device(1).dma_mapper();
  REQUIRE(first.io_page_table() != nullptr);
  REQUIRE(second.io_page_table() != nullptr);
  CHECK(first.io_page_table() != second.io_page_table());
  // Both trees hold one range, and nobody has waited for the other's lock.
  CHECK(first.rbtree_lock()->usage().requests == 1);
  CHECK(second.rbtree_lock()->usage().requests == 1);
}

TEST_CASE("Two threads that register on two NICs do not wait for each other's UMR queue pair") {
  const auto longest = [](std::uint32_t nics) {
    HostSettings settings = with_nics(nics);
    settings.driver.umr_requests = 1;
    HostRig rig(settings);
    const Va buffer = rig.mmap(MiB(1));
    std::vector<verbs::Handle> pds;
    for (std::uint32_t thread = 0; thread < 2; ++thread) pds.push_back(rig.pd(thread % nics));
    rig.records.clear();
    Waiter first(rig.scheduler), second(rig.scheduler);
    const auto request = [&](verbs::Handle pd) {
      return verbs::RegMrRequest{pd, buffer, MiB(1), verbs::Access::local_write, Iova(buffer.raw)};
    };
    rig.device.reg_mr(0, request(pds[0]), first.reply, first);
    rig.device.reg_mr(1, request(pds[1]), second.reply, second);
    rig.run();
    REQUIRE(first.done);
    REQUIRE(second.done);
    return std::max(rig.records[0].cost.steps[unsigned(ports::RegistrationStep::wait)],
                    rig.records[1].cost.steps[unsigned(ports::RegistrationStep::wait)]);
  };
  const Time umr = us(3);
  CHECK(longest(1) > umr);
  CHECK(longest(2) == umr);
}

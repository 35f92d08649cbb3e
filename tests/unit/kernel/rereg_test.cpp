// Does rereg_mr keep or change the key as mlx5 does, and what is left of the MR when it fails?
#include <catch2/catch.hpp>
#include <numeric>

#include "support/host_rig.h"

using namespace mtsim;
using test::HostRig;
using test::HostSettings;
using verbs::Access;
using verbs::Rereg;
using verbs::ReregMrRequest;
using Step = ports::RegistrationStep;

namespace {

ReregMrRequest rights(verbs::Handle mr, Access access) {
  ReregMrRequest request;
  request.mr = mr;
  request.change_access = true;
  request.access = access;
  return request;
}
ReregMrRequest range(verbs::Handle mr, Va address, Bytes length) {
  ReregMrRequest request;
  request.mr = mr;
  request.translation = true;
  request.address = address;
  request.length = length;
  return request;
}
ReregMrRequest domain(verbs::Handle mr, verbs::Handle pd) {
  ReregMrRequest request;
  request.mr = mr;
  request.pd = pd;
  return request;
}
Rereg failure(const verbs::Reply& reply) { return Rereg(reply.value); }

}  // namespace

TEST_CASE("rights and PD change in place: one UMR work request, no list, the same key", "[rereg_mr]") {
  HostRig rig;
  const auto pd = rig.pd(), other = rig.pd();
  const Va buffer = rig.mmap(KiB(64));
  const auto mr = rig.reg_mr(pd, buffer, KiB(64));
  const std::size_t before = rig.nic.umrs.size();
  const auto again = rig.rereg_mr(rights(mr.handle, Access::local_write | Access::remote_write));
  REQUIRE(again.error == 0);
  REQUIRE(again.lkey == mr.lkey);
  REQUIRE(rig.nic.umrs.size() == before + 1);
  REQUIRE(rig.nic.umrs.back().list_bytes == Bytes(0));
  REQUIRE(rig.nic.grant(mr.lkey)->access == (Access::local_write | Access::remote_write));
  REQUIRE(rig.step(Step::pin) == Time());
  REQUIRE(rig.step(Step::table_write) == ns(1500));
  const auto& steps = rig.records.back().cost.steps;
  REQUIRE(std::accumulate(steps.begin(), steps.end(), Time()) == rig.latency());

  REQUIRE(rig.rereg_mr(domain(mr.handle, other)).error == 0);
  REQUIRE(rig.nic.grant(mr.lkey)->pd == other);
  REQUIRE(rig.nic.grant(mr.lkey)->access == (Access::local_write | Access::remote_write));
  const auto dealloc = [&](verbs::Handle p) { return rig.ask([&](auto& r, auto& c) { return rig.device.dealloc_pd(0, p, r, c); }).error; };
  REQUIRE(dealloc(other) == EBUSY);
  REQUIRE(dealloc(pd) == 0);
  REQUIRE(rig.rereg_mr(domain(mr.handle, other)).error == 0);
  REQUIRE(rig.dereg_mr(mr.handle).error == 0);
  REQUIRE(dealloc(other) == 0);
}

TEST_CASE("without UMR the firmware takes the key back and is given it again", "[rereg_mr]") {
  HostSettings settings;
  settings.driver.table_writer = "store";
  settings.driver.keys = "bitmap";
  HostRig rig(settings);
  const auto pd = rig.pd();
  const auto mr = rig.reg_mr(pd, rig.mmap(KiB(64)), KiB(64));
  const std::size_t before = rig.nic.commands.size();
  REQUIRE(rig.rereg_mr(rights(mr.handle, Access::local_write | Access::remote_read)).error == 0);
  REQUIRE(rig.nic.commands.size() == before + 2);
  REQUIRE(rig.nic.grant(mr.lkey)->access == (Access::local_write | Access::remote_read));
}

TEST_CASE("a new range that fits the key's place keeps the key; a greater one brings a new key under the old handle", "[rereg_mr]") {
  HostRig rig;
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(KiB(256));
  const auto mr = rig.reg_mr(pd, buffer, KiB(12));
  const auto moved = rig.rereg_mr(range(mr.handle, buffer + KiB(64), KiB(16)));
  REQUIRE(moved.error == 0);
  REQUIRE(moved.lkey == mr.lkey);
  REQUIRE(moved.iova == Iova(buffer.raw + 65536));
  REQUIRE(rig.nic.grant(mr.lkey)->length == KiB(16));
  REQUIRE(rig.kernel.registration().pinned_now == KiB(16));

  const auto grown = rig.rereg_mr(range(mr.handle, buffer, KiB(256)));
  REQUIRE(grown.error == 0);
  REQUIRE(grown.lkey != mr.lkey);
  REQUIRE_FALSE(rig.nic.grant(mr.lkey).has_value());
  REQUIRE(rig.nic.grant(grown.lkey)->length == KiB(256));
  REQUIRE(rig.kernel.registration().pinned_now == KiB(256));
  // The old key went back to its class, and is handed out again.
  REQUIRE(rig.reg_mr(pd, buffer, KiB(4)).lkey == mr.lkey);
  REQUIRE(rig.dereg_mr(mr.handle).error == 0);
  REQUIRE(rig.kernel.registration().pinned_now == KiB(4));
}

TEST_CASE("what the library refuses never reaches the kernel, and the MR is as it was", "[rereg_mr]") {
  HostRig rig;
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(KiB(64));
  const auto mr = rig.reg_mr(pd, buffer, KiB(64));
  const std::size_t calls = rig.records.size();
  ReregMrRequest rights_unasked;
  rights_unasked.mr = mr.handle;
  rights_unasked.access = Access::local_write;
  for (const auto& request : {range(mr.handle, Va(0), KiB(4)), range(mr.handle, buffer, Bytes(0)), rights_unasked}) {
    const auto reply = rig.rereg_mr(request);
    REQUIRE(reply.error == EINVAL);
    REQUIRE(failure(reply) == Rereg::input);
  }
  REQUIRE(rig.records.size() == calls);
  REQUIRE(rig.nic.grant(mr.lkey)->length == KiB(64));
}

TEST_CASE("what the kernel refuses, in its order", "[rereg_mr]") {
  HostSettings settings;
  settings.driver.on_demand = kernel::OnDemand::none;
  HostRig rig(settings);
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(KiB(64));
  const Va read_only = rig.mmap(KiB(64), verbs::PageKind::base_4k, true, false);
  const auto mr = rig.reg_mr(pd, buffer, KiB(64), Access::none);
  const auto refused = [&](const ReregMrRequest& request, int error) {
    const auto reply = rig.rereg_mr(request);
    REQUIRE(reply.error == error);
    REQUIRE(failure(reply) == Rereg::command);
  };
  ReregMrRequest nothing;
  nothing.mr = mr.handle;
  refused(nothing, EINVAL);
  refused(rights(mr.handle + 9, Access::remote_write), EINVAL);
  refused(rights(mr.handle, Access::remote_write), EINVAL);
  refused(rights(mr.handle, Access::on_demand), EOPNOTSUPP);
  refused(domain(mr.handle, pd + 9), EINVAL);
  refused(rights(mr.handle, Access::local_write), EACCES);  // pinned for reading
  refused(range(mr.handle, buffer + GiB(1), KiB(4)), EFAULT);
  auto write_to_read_only = range(mr.handle, read_only, KiB(4));
  write_to_read_only.change_access = true;
  write_to_read_only.access = Access::local_write;
  refused(write_to_read_only, EFAULT);
  REQUIRE(rig.nic.grant(mr.lkey)->length == KiB(64));
  REQUIRE(rig.kernel.registration().pinned_now == KiB(64));

  // Memory that is pinned for writing stays so, whatever rights are left for a while.
  const auto wide = rig.reg_mr(pd, buffer, KiB(64));
  REQUIRE(rig.rereg_mr(rights(wide.handle, Access::none)).error == 0);
  REQUIRE(rig.rereg_mr(rights(wide.handle, Access::local_write)).error == 0);
}

TEST_CASE("both the old and the new pages count against the limit while the range changes", "[rereg_mr]") {
  HostRig rig;
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(KiB(64));
  rig.ask([&](auto& r, auto& c) { return rig.device.set_cap_ipc_lock(0, false, r, c); });
  rig.ask([&](auto& r, auto& c) { return rig.device.set_memlock(0, KiB(12), r, c); });
  const auto mr = rig.reg_mr(pd, buffer, KiB(8));
  REQUIRE(rig.rereg_mr(range(mr.handle, buffer, KiB(8))).error == ENOMEM);
  REQUIRE(rig.rereg_mr(range(mr.handle, buffer + KiB(8), KiB(4))).error == 0);
  REQUIRE(rig.rereg_mr(range(mr.handle, buffer, KiB(8))).error == 0);
  REQUIRE(rig.dereg_mr(mr.handle).error == 0);
  REQUIRE(rig.reg_mr(pd, buffer, KiB(12)).error == 0);
}

TEST_CASE("the handle is locked while a rereg_mr is under way", "[rereg_mr]") {
  HostRig rig;
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(KiB(64));
  const auto mr = rig.reg_mr(pd, buffer, KiB(64));
  test::Waiter first(rig.scheduler), second(rig.scheduler);
  rig.device.rereg_mr(0, range(mr.handle, buffer, KiB(32)), first.reply, first);
  rig.device.dereg_mr(1, mr.handle, second.reply, second);
  rig.run();
  REQUIRE(first.reply.error == 0);
  REQUIRE(second.reply.error == EBUSY);
}

TEST_CASE("rights that the device cannot change in a key bring a new key under the old handle, on the same pages", "[rereg_mr]") {
  HostSettings settings;
  settings.driver.own_key_access = "ra";
  HostRig rig(settings);
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(KiB(64));
  const auto mr = rig.reg_mr(pd, buffer, KiB(64));
  const Access atomic = Access::local_write | Access::remote_atomic;
  const auto same = rig.rereg_mr(rights(mr.handle, Access::local_write | Access::remote_read));
  REQUIRE(same.lkey == mr.lkey);
  const auto other = rig.rereg_mr(rights(mr.handle, atomic));
  REQUIRE(other.error == 0);
  REQUIRE(other.lkey != mr.lkey);
  REQUIRE(rig.nic.grant(other.lkey)->access == atomic);
  REQUIRE_FALSE(rig.nic.grant(mr.lkey).has_value());
  REQUIRE(rig.step(Step::pin) == Time());
  REQUIRE(rig.kernel.registration().pinned_now == KiB(64));
  const auto back = rig.rereg_mr(rights(mr.handle, Access::local_write));
  REQUIRE(back.error == 0);
  REQUIRE(rig.dereg_mr(mr.handle).error == 0);
  REQUIRE(rig.kernel.registration().pinned_now == Bytes(0));
}

TEST_CASE("no key for rights that need one of their own: the MR is revoked, and can only be deregistered", "[rereg_mr]") {
  HostSettings settings;
  settings.driver.own_key_access = "ra";
  settings.driver.cache_limits = "";
  settings.driver.most_keys = 1;
  HostRig rig(settings);
  const auto pd = rig.pd();
  const auto mr = rig.reg_mr(pd, rig.mmap(KiB(64)), KiB(64));
  REQUIRE(mr.error == 0);
  const auto refused = rig.rereg_mr(rights(mr.handle, Access::local_write | Access::remote_atomic));
  REQUIRE(refused.error == ENOMEM);
  REQUIRE(failure(refused) == Rereg::command);
  REQUIRE_FALSE(rig.nic.grant(mr.lkey).has_value());
  REQUIRE(rig.rereg_mr(rights(mr.handle, Access::local_write)).error == EINVAL);
  REQUIRE(rig.dereg_mr(mr.handle).error == 0);
  REQUIRE(rig.kernel.registration().pinned_now == Bytes(0));
  REQUIRE(rig.reg_mr(pd, rig.mmap(KiB(64)), KiB(64)).error == 0);
}

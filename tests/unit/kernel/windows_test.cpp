// Are memory windows keys of the device, made and removed as drivers do, and are registrations told apart?
#include <catch2/catch.hpp>
#include <cerrno>
#include <set>
#include <string>

#include "support/host_rig.h"

using namespace mtsim;
using test::HostRig;
using test::HostSettings;
using verbs::Access;
using verbs::KeyKind;

namespace {

HostSettings under(const std::string& rules) {
  HostSettings settings;
  settings.driver.rules = settings.provider.rules = verbs::RuleSets::make(rules);
  return settings;
}

/// Those of one alloc_mw or dealloc_mw.
struct Work {
  std::size_t commands, umrs;
};

}  // namespace

TEST_CASE("a new window is a key that opens nothing: type 1 is valid, type 2 free", "[windows][rule:10.1]") {
  const auto type = GENERATE(std::uint8_t{1}, std::uint8_t{2});
  const std::string writer = GENERATE(as<std::string>(), "umr", "command", "store", "push", "software");
  CAPTURE(writer);
  HostSettings settings;
  settings.driver.table_writer = writer;
  HostRig rig(settings);
  const auto pd = rig.pd();
  const auto window = rig.alloc_mw(pd, type);
  REQUIRE(window.error == 0);
  CHECK(window.handle != 0);
  CHECK(window.rkey.index() != 0);
  const auto grant = rig.nic.context(window.rkey);
  REQUIRE(grant.has_value());
  CHECK(grant->key == window.rkey);
  CHECK(grant->kind == (type == 1 ? KeyKind::window_1 : KeyKind::window_2));
  CHECK(grant->valid == (type == 1));
  CHECK(grant->pd == pd);
  CHECK(grant->access == Access::none);
  CHECK(grant->length == Bytes(0));
  CHECK(rig.dealloc_mw(window.handle) == 0);
  CHECK_FALSE(rig.nic.grant(window.rkey).has_value());
  CHECK(rig.dealloc_mw(window.handle) == EINVAL);
  // Neither is a registration.
  CHECK(rig.records.empty());
}

TEST_CASE("the commands of a window, by driver", "[windows]") {
  struct Row {
    const char* writer;
    Work made, removed;
  };
  const Row row = GENERATE(Row{"umr", {1, 0}, {1, 0}}, Row{"command", {1, 0}, {1, 0}}, Row{"store", {1, 0}, {1, 0}},
                           Row{"push", {1, 0}, {1, 0}}, Row{"software", {0, 0}, {0, 0}});
  CAPTURE(row.writer);
  HostSettings settings;
  settings.driver.table_writer = row.writer;
  HostRig rig(settings);
  const auto pd = rig.pd();
  const auto work = [&](auto call) {
    const std::size_t commands = rig.nic.commands.size(), umrs = rig.nic.umrs.size();
    call();
    return Work{rig.nic.commands.size() - commands, rig.nic.umrs.size() - umrs};
  };
  verbs::Handle window = 0;
  const Work made = work([&] { window = rig.alloc_mw(pd, 2).handle; });
  CHECK(made.commands == row.made.commands);
  CHECK(made.umrs == row.made.umrs);
  const Work removed = work([&] { rig.dealloc_mw(window); });
  CHECK(removed.commands == row.removed.commands);
  CHECK(removed.umrs == row.removed.umrs);
}

TEST_CASE("making a window takes its system call, its key and its command", "[windows]") {
  HostSettings settings;
  settings.kernel.mw = us(3);
  HostRig rig(settings);
  const auto pd = rig.pd();
  const Time begin = rig.scheduler.now();
  REQUIRE(rig.alloc_mw(pd, 2).error == 0);
  // Entry 1 us; key 300 ns; a command of one mailbox posted in 1.7 us + 150 ns, 2 us of the stub, 150 us + 50 us of firmware; 4 us + 7 us
  // until the thread runs again.
  CHECK(rig.scheduler.now() - begin == us(1 + 3) + ns(300) + ns(1700 + 150) + us(2 + 150 + 50) + us(4 + 7));
}

TEST_CASE("what cannot be made: a type that there is none of, a PD that is gone, a device without windows", "[windows]") {
  HostRig rig;
  const auto pd = rig.pd();
  CHECK(rig.alloc_mw(pd, 3).error == EINVAL);
  CHECK(rig.alloc_mw(pd, 0).error == EINVAL);
  CHECK(rig.alloc_mw(77, 1).error == EINVAL);
}

TEST_CASE("siw has no windows", "[windows]") {
  HostRig rig(under("siw"));
  CHECK(rig.alloc_mw(rig.pd(), 1).error == EOPNOTSUPP);
  CHECK(rig.nic.commands.empty());
}

TEST_CASE("a PD with windows stays", "[windows]") {
  HostRig rig;
  const auto pd = rig.pd();
  const auto window = rig.alloc_mw(pd, 1);
  CHECK(rig.dealloc_pd(pd) == EBUSY);
  CHECK(rig.dealloc_mw(window.handle) == 0);
  CHECK(rig.dealloc_pd(pd) == 0);
}

TEST_CASE("windows take keys of their own, which come back, and ENOMEM is told when there is none", "[windows][rule:5.15]") {
  const std::string keys = GENERATE(as<std::string>(), "cache", "counter", "cyclic", "bitmap", "lowest", "device", "random_start");
  CAPTURE(keys);
  HostSettings settings;
  settings.driver.table_writer = "command";
  settings.driver.keys = keys;
  settings.driver.cache_prefill = false;
  settings.driver.most_keys = 8;
  settings.driver.cache_limits = "";
  HostRig rig(settings);
  const auto pd = rig.pd();
  for (int round = 0; round < 3; ++round) {
    std::set<std::uint32_t> indices;
    std::vector<verbs::Handle> made;
    for (;;) {
      const auto window = rig.alloc_mw(pd, 2);
      if (window.error != 0) {
        CHECK(window.error == ENOMEM);
        break;
      }
      CHECK(indices.insert(window.rkey.index()).second);
      made.push_back(window.handle);
      REQUIRE(made.size() <= 8);
    }
    CHECK(made.size() >= 7);
    for (const verbs::Handle window : made) CHECK(rig.dealloc_mw(window) == 0);
  }
  CHECK(rig.dealloc_pd(pd) == 0);
}

TEST_CASE("mlx5: a window's key comes from the firmware, not from the cache of keys, and its variant rises", "[windows][rule:5.2]") {
  HostRig rig;
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(KiB(4));
  const auto mr = rig.reg_mr(pd, buffer, KiB(4));
  REQUIRE(rig.dereg_mr(mr.handle).error == 0);  // its key is parked
  const auto first = rig.alloc_mw(pd, 1), second = rig.alloc_mw(pd, 1);
  CHECK(first.rkey != mr.lkey);
  CHECK(first.rkey.index() != second.rkey.index());
  CHECK((second.rkey.raw & 0xff) == ((first.rkey.raw + 1) & 0xff));
  CHECK(rig.reg_mr(pd, buffer, KiB(4)).lkey == mr.lkey);
}

TEST_CASE("dereg_mr while windows are bound to the MR, by rule set", "[windows][rule:4.2]") {
  const auto [rules, error] = GENERATE(table<std::string, int>({{"ib", EBUSY}, {"mlx5", 0}, {"rxe-6.1", EINVAL}, {"rxe-6.12", EINVAL}}));
  CAPTURE(rules);
  HostRig rig(under(rules));
  const auto pd = rig.pd();
  const auto mr = rig.reg_mr(pd, rig.mmap(KiB(4)), KiB(4), Access::mw_bind);
  const auto other = rig.reg_mr(pd, rig.mmap(KiB(4)), KiB(4), Access::mw_bind);
  rig.nic.bound_to = mr.lkey;
  rig.nic.windows_bound = 2;
  CHECK(rig.dereg_mr(other.handle).error == 0);
  CHECK(rig.dereg_mr(mr.handle).error == error);
  CHECK(rig.nic.grant(mr.lkey).has_value() == (error != 0));
  rig.nic.windows_bound = 0;
  CHECK(rig.dereg_mr(mr.handle).error == (error == 0 ? EINVAL : 0));
}

TEST_CASE("each registration has a number of its own, which its key's context has and the call tells", "[windows]") {
  HostRig rig;
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(KiB(64));
  std::set<std::uint64_t> seen{0};
  for (int i = 0; i < 4; ++i) {
    const auto mr = rig.reg_mr(pd, buffer, KiB(4), i % 2 == 0 ? Access::local_write : Access::on_demand);
    REQUIRE(mr.error == 0);
    CHECK(seen.insert(mr.identity).second);
    CHECK(rig.nic.grant(mr.lkey)->identity == mr.identity);
    // The key may well be the same as before: the number is not.
    REQUIRE(rig.dereg_mr(mr.handle).error == 0);
  }
}

TEST_CASE("rereg_mr keeps the registration's number as long as its key stays", "[windows]") {
  HostRig rig;
  const auto pd = rig.pd(), other = rig.pd();
  const Va buffer = rig.mmap(MiB(4));
  const auto mr = rig.reg_mr(pd, buffer, KiB(4));
  verbs::ReregMrRequest request;
  request.mr = mr.handle;
  request.pd = other;
  CHECK(rig.rereg_mr(request).identity == mr.identity);
  CHECK(rig.nic.grant(mr.lkey)->identity == mr.identity);
  request = {};
  request.mr = mr.handle;
  request.translation = true;
  request.address = buffer + KiB(4);
  request.length = KiB(8);
  const auto moved = rig.rereg_mr(request);
  CHECK(moved.lkey == mr.lkey);
  CHECK(moved.identity == mr.identity);
  request.length = MiB(2);
  const auto grown = rig.rereg_mr(request);
  REQUIRE(grown.error == 0);
  CHECK(grown.lkey != mr.lkey);
  CHECK(grown.identity != mr.identity);
  CHECK(rig.nic.grant(grown.lkey)->identity == grown.identity);
}

// What does each way to write a table ask of the NIC, and how long does it take?
#include <catch2/catch.hpp>

#include "base/error.h"
#include "support/host_rig.h"

using namespace mtsim;
using test::HostRig;
using test::HostSettings;
using Step = ports::RegistrationStep;

namespace {

HostSettings with(const std::string& writer, const std::string& keys) {
  HostSettings settings;
  settings.driver.table_writer = writer;
  settings.driver.keys = keys;
  return settings;
}

}  // namespace

TEST_CASE("UMR without a key cache: a command creates the key, another destroys it", "[writer]") {
  HostRig rig(with("umr", "counter"));
  const auto pd = rig.pd();
  const auto mr = rig.reg_mr(pd, rig.mmap(KiB(4)), KiB(4));
  REQUIRE(rig.nic.commands.size() == 1);
  REQUIRE(rig.nic.commands[0].input == Bytes(256));
  REQUIRE(rig.nic.umrs.size() == 1);
  REQUIRE(rig.step(Step::wait) == us(2 + 200) + us(3));
  REQUIRE(rig.step(Step::wake_up) == us(11) * 2);
  REQUIRE(rig.step(Step::table_write) == ns(1700 + 150) + ns(1502));
  REQUIRE(rig.records.back().cost.mailboxes == 1);
  REQUIRE(rig.dereg_mr(mr.handle).error == 0);
  REQUIRE(rig.nic.commands.size() == 2);
  REQUIRE(rig.nic.commands[1].input == Bytes(0));
  REQUIRE(rig.nic.umrs.size() == 1);
  REQUIRE(rig.step(Step::wait) == us(2 + 100));
  REQUIRE_FALSE(rig.nic.grant(mr.lkey).has_value());
}

TEST_CASE("the command writer's input holds the whole list", "[writer]") {
  const auto [entries, mailboxes] = GENERATE(std::make_pair(1, 1), std::make_pair(512, 9), std::make_pair(4096, 65));
  HostRig rig(with("command", "counter"));
  const auto pd = rig.pd();
  const Bytes length(std::uint64_t(entries) * 4096);
  const auto mr = rig.reg_mr(pd, rig.mmap(length), length);
  REQUIRE(mr.error == 0);
  REQUIRE(rig.records.back().cost.mailboxes == std::uint64_t(mailboxes));
  REQUIRE(rig.records.back().cost.commands == 1);
  REQUIRE(rig.nic.commands[0].input == Bytes(256 + round_up(std::uint64_t(entries), 2) * 8));
  REQUIRE(rig.nic.umrs.empty());
  REQUIRE(rig.step(Step::table_write) == ns(1700) + ns(150) * mailboxes + ns(2) * entries);
  REQUIRE(rig.nic.grant(mr.lkey).has_value());
  REQUIRE(rig.dereg_mr(mr.handle).error == 0);
  REQUIRE_FALSE(rig.nic.grant(mr.lkey).has_value());
}

TEST_CASE("commands that create keys with a list go one by one", "[writer]") {
  HostRig rig(with("command", "counter"));
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(KiB(8));
  test::Waiter first(rig.scheduler), second(rig.scheduler);
  verbs::RegMrRequest a{pd, buffer, KiB(4), verbs::Access::none, Iova(buffer.raw)};
  rig.device.reg_mr(0, a, first.reply, first);
  rig.device.reg_mr(1, a, second.reply, second);
  rig.run();
  // The mutex is held until the first has woken up.
  REQUIRE(rig.records[1].cost.steps[unsigned(Step::wait)] == ns(1700 + 150 + 2) + us(202 + 11) + us(202));
}

TEST_CASE("stores by the CPU, then a command", "[writer]") {
  HostRig rig(with("store", "bitmap"));
  const auto pd = rig.pd();
  const auto mr = rig.reg_mr(pd, rig.mmap(KiB(64)), KiB(64));
  REQUIRE(rig.nic.umrs.empty());
  REQUIRE(rig.nic.commands.size() == 1);
  REQUIRE(rig.nic.commands[0].input == Bytes(64));
  REQUIRE(rig.step(Step::table_write) == ns(16 * 10) + ns(1700 + 150));
  REQUIRE(rig.records.back().cost.list_bytes == Bytes(16 * 8));
  REQUIRE(rig.nic.grant(mr.lkey).has_value());
  REQUIRE(rig.dereg_mr(mr.handle).error == 0);
  REQUIRE(rig.nic.commands.size() == 2);
  REQUIRE_FALSE(rig.nic.grant(mr.lkey).has_value());
  REQUIRE(rig.reg_mr(pd, rig.mmap(KiB(4)), KiB(4)).lkey != mr.lkey);
}

TEST_CASE("a new chunk of the table costs a command, and another when its last entry goes, unless chunks are kept", "[writer]") {
  const bool keep = GENERATE(false, true);
  HostSettings settings = with("store", "bitmap");
  settings.driver.table_chunk = KiB(4);
  settings.driver.keep_chunks = keep;
  settings.driver.map_chunk = us(20);
  HostRig rig(settings);
  const auto pd = rig.pd();
  const auto commands = [&](auto act) {
    const std::size_t before = rig.nic.commands.size();
    act();
    return rig.nic.commands.size() - before;
  };
  verbs::Reply a, b, c;
  // 512 entries fill the chunk that is there from the start, and 512 more the next.
  CHECK(commands([&] { a = rig.reg_mr(pd, rig.mmap(MiB(2)), MiB(2)); }) == 1);
  CHECK(commands([&] { b = rig.reg_mr(pd, rig.mmap(MiB(1)), MiB(1)); }) == 2);
  CHECK(rig.step(Step::wait) == us(2 + 20) + us(2 + 200));
  CHECK(commands([&] { c = rig.reg_mr(pd, rig.mmap(MiB(1)), MiB(1)); }) == 1);
  CHECK(commands([&] { rig.dereg_mr(b.handle); }) == 1);
  CHECK(commands([&] { rig.dereg_mr(c.handle); }) == (keep ? 1 : 2));
  CHECK(commands([&] { rig.dereg_mr(a.handle); }) == 1);
  CHECK(commands([&] { a = rig.reg_mr(pd, rig.mmap(MiB(4)), MiB(4)); }) == (keep ? 1 : 2));
}

TEST_CASE("pushed: messages of so many entries each, the first of which makes the key", "[writer]") {
  HostSettings settings = with("push", "device");
  settings.driver.push_entries = 10;
  settings.driver.push_message = us(5);
  HostRig rig(settings);
  const auto pd = rig.pd();
  const auto mr = rig.reg_mr(pd, rig.mmap(KiB(100)), KiB(100));
  REQUIRE(rig.nic.commands.size() == 3);
  REQUIRE(rig.nic.commands[0].input == Bytes(64 + 80));
  REQUIRE(rig.nic.commands[2].input == Bytes(64 + 40));
  REQUIRE(rig.nic.commands[1].writes == nullptr);
  REQUIRE(rig.nic.commands[2].writes != nullptr);
  REQUIRE(rig.step(Step::wait) == us(2 + 200) + us(2 + 5) * 2);
  REQUIRE(rig.records.back().cost.list_bytes == Bytes(200));
  REQUIRE(rig.records.back().cost.table_entries == 25);
  REQUIRE(rig.nic.grant(mr.lkey).has_value());
  REQUIRE(rig.dereg_mr(mr.handle).error == 0);
  REQUIRE(rig.nic.commands.size() == 4);
  REQUIRE_FALSE(rig.nic.grant(mr.lkey).has_value());
}

TEST_CASE("in software nothing is asked of a device", "[writer]") {
  HostRig rig(with("software", "cyclic"));
  const auto pd = rig.pd();
  const auto mr = rig.reg_mr(pd, rig.mmap(KiB(64)), KiB(64));
  REQUIRE(rig.step(Step::table_write) == ns(160));
  REQUIRE(rig.step(Step::wait) == Time());
  REQUIRE(rig.step(Step::wake_up) == Time());
  REQUIRE(rig.nic.grant(mr.lkey).has_value());
  REQUIRE(rig.dereg_mr(mr.handle).error == 0);
  REQUIRE_FALSE(rig.nic.grant(mr.lkey).has_value());
  REQUIRE(rig.nic.commands.empty());
  REQUIRE(rig.nic.umrs.empty());
}

TEST_CASE("sizes without a class have their keys created one by one", "[writer]") {
  HostSettings settings = with("umr", "cache");
  settings.driver.cache_limits = "";
  HostRig rig(settings);
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(KiB(8));
  test::Waiter first(rig.scheduler), second(rig.scheduler);
  verbs::RegMrRequest a{pd, buffer, KiB(4), verbs::Access::none, Iova(buffer.raw)};
  rig.device.reg_mr(0, a, first.reply, first);
  rig.device.reg_mr(1, a, second.reply, second);
  rig.run();
  REQUIRE(rig.nic.commands.size() == 2);
  // The second waits for the mutex, then for its own command and its UMR.
  REQUIRE(rig.records[1].cost.steps[unsigned(Step::wait)] == ns(1700 + 150) + us(202 + 11) + us(202) + us(3));
}

TEST_CASE("a driver that names no component is the user's error, with what there is", "[writer]") {
  try {
    HostRig rig(with("umrr", "cach"));
    FAIL("no error");
  } catch (const UserError& error) {
    REQUIRE(error.messages() ==
            std::vector<std::string>{"driver.table_writer: 'umrr' is not one of: command, push, software, store, umr; did you mean 'umr'?",
                                     "driver.keys: 'cach' is not one of: bitmap, cache, counter, cyclic, device, generation, lowest, "
                                     "random_bits, random_start, sequential; did you mean 'cache'?"});
  }
}

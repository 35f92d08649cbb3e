// Does each shipped driver overlay do what its driver does: whose keys, how many commands, which table, what a registration takes?
#include <catch2/catch.hpp>

#include "base/config.h"
#include "nic/params.h"
#include "support/host_rig.h"
#include "support/temp_folder.h"

using namespace mtsim;
using test::HostRig;
using test::HostSettings;
using Step = ports::RegistrationStep;
using kernel::Rkey;

namespace {

struct Driver {
  HostSettings host;
  nic::NicParams nic;
};

Driver overlay(const std::string& name) {
  const test::TempFolder folder;
  const std::string root = MTSIM_SOURCE_DIR "/configs/";
  const Config config = Config::load(folder.write("a.yaml", "extends: [" + root + "base.yaml, " + root + "drivers/" + name + ".yaml]\n"));
  Driver driver;
  driver.host.driver = config.read<kernel::DriverParams>();
  driver.host.kernel = config.read<kernel::KernelParams>();
  driver.nic = config.read<nic::NicParams>();
  return driver;
}

struct Expected {
  const char* name;
  const char* translation;
  std::size_t commands, umrs;  ///< of one reg_mr and dereg_mr of 64 KiB
  bool same_key;               ///< registering again gives the same key
  bool same_index;
  Rkey rkey;  ///< of an MR without remote rights
};

}  // namespace

TEST_CASE("drivers: commands, UMRs and keys of registering, deregistering and registering again", "[drivers]") {
  const Expected expected = GENERATE(
      Expected{"mlx5", "flat_mtt", 0, 2, true, true, Rkey::lkey}, Expected{"mlx4", "flat_mtt", 2, 0, false, false, Rkey::lkey},
      Expected{"irdma", "pble", 2, 0, false, false, Rkey::lkey}, Expected{"hns", "radix", 2, 0, true, true, Rkey::lkey},
      Expected{"efa", "device", 2, 0, true, true, Rkey::own}, Expected{"rxe", "flat_mtt", 0, 0, false, false, Rkey::lkey_if_remote},
      Expected{"siw", "flat_mtt", 0, 0, false, false, Rkey::lkey});
  CAPTURE(expected.name);
  const Driver driver = overlay(expected.name);
  CHECK(driver.nic.translation == expected.translation);
  CHECK(driver.host.driver.most_keys <= driver.nic.contexts);
  HostRig rig(driver.host);
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(KiB(64));
  const auto first = rig.reg_mr(pd, buffer, KiB(64));
  REQUIRE(first.error == 0);
  CHECK(first.rkey == (expected.rkey == Rkey::lkey ? first.lkey : expected.rkey == Rkey::own ? Key(first.lkey.raw ^ 0x80) : Key()));
  CHECK(rig.records.back().cost.table_entries == 16);
  REQUIRE(rig.dereg_mr(first.handle).error == 0);
  CHECK(rig.nic.commands.size() == expected.commands);
  CHECK(rig.nic.umrs.size() == expected.umrs);
  const auto second = rig.reg_mr(pd, buffer, KiB(64));
  CHECK((second.lkey == first.lkey) == expected.same_key);
  CHECK((second.lkey.index() == first.lkey.index()) == expected.same_index);
  CHECK(rig.nic.grant(second.lkey).has_value());
  if (!expected.same_key) CHECK_FALSE(rig.nic.grant(first.lkey).has_value());
}

TEST_CASE("rxe and siw: about 28 us and 0.18 us a touched page, whatever the number of CPUs", "[drivers]") {
  const std::string name = GENERATE("rxe", "siw");
  HostRig rig(overlay(name).host);
  const auto pd = rig.pd();
  const auto took = [&](Bytes length) {
    const auto mr = rig.reg_mr(pd, rig.mmap(length), length);
    const double us_taken = static_cast<double>(rig.latency().raw) / 1e6;
    REQUIRE(rig.dereg_mr(mr.handle).error == 0);
    return us_taken;
  };
  const double one = took(KiB(4)), many = took(MiB(16));
  CHECK(one == Approx(28).margin(3));
  CHECK((many - one) / 4095 == Approx(0.2).margin(0.05));
}

TEST_CASE("a driver's own limit of the size comes before pinning, with the errno that it says", "[drivers]") {
  HostSettings settings;
  settings.driver.largest_mr = KiB(64);
  const auto [error, answer] = GENERATE(std::pair{kernel::SizeRefusal::einval, EINVAL}, std::pair{kernel::SizeRefusal::enomem, ENOMEM});
  settings.driver.largest_mr_error = error;
  HostRig rig(settings);
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(KiB(128));
  CHECK(rig.reg_mr(pd, buffer, KiB(64)).error == 0);
  CHECK(rig.reg_mr(pd, buffer, KiB(64) + Bytes(1)).error == answer);
  CHECK(rig.step(Step::pin) == Time());
}

TEST_CASE("registration 2,049 on a device of 2,048 keys fails with ENOMEM, and one place free lets one in", "[drivers]") {
  HostSettings settings;
  settings.driver.keys = "lowest";
  settings.driver.table_writer = "store";
  settings.driver.most_keys = 2048;
  HostRig rig(settings);
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(KiB(4));
  verbs::Reply last;
  for (int i = 0; i < 2048; ++i) {
    last = rig.reg_mr(pd, buffer, KiB(4));
    REQUIRE(last.error == 0);
  }
  CHECK(rig.reg_mr(pd, buffer, KiB(4)).error == ENOMEM);
  CHECK(rig.dereg_mr(last.handle).error == 0);
  CHECK(rig.reg_mr(pd, buffer, KiB(4)).error == 0);
}

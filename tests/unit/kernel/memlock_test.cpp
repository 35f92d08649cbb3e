// Does the account of locked memory answer in the kernel's order and count whole pages?
#include <catch2/catch.hpp>
#include <cerrno>

#include "kernel/memlock.h"

using namespace mtsim;

TEST_CASE("a limit counts whole pages and is freed again", "[memlock]") {
  Memlock account;
  account.set_capable(false);
  account.set_limit(Bytes(3 * 4096 + 4095));
  REQUIRE(admit_pinning(account, Va(4096), Bytes(1)) == 0);
  REQUIRE(admit_pinning(account, Va(2 * 4096 - 1), Bytes(2)) == 0);
  REQUIRE(account.pinned() == Pages(3));
  REQUIRE(admit_pinning(account, Va(4096), Bytes(1)) == ENOMEM);
  REQUIRE(account.pinned() == Pages(3));
  account.uncharge(Pages(2));
  REQUIRE(admit_pinning(account, Va(4096), Bytes(4096)) == 0);
}

TEST_CASE("a limit of nothing refuses with EPERM, a small one with ENOMEM, and the capability passes both", "[memlock]") {
  Memlock account;
  account.set_capable(false);
  account.set_limit(Bytes(0));
  REQUIRE(admit_pinning(account, Va(4096), Bytes(1)) == EPERM);
  account.set_limit(Bytes(100));
  REQUIRE(admit_pinning(account, Va(4096), Bytes(1)) == ENOMEM);
  account.set_capable(true);
  account.set_limit(Bytes(0));
  REQUIRE(admit_pinning(account, Va(4096), MiB(1)) == 0);
  REQUIRE(account.pinned() == Pages(256));
  account.set_capable(false);
  account.set_limit(Memlock::unlimited);
  REQUIRE(admit_pinning(account, Va(4096), GiB(64)) == 0);
}

TEST_CASE("checks come in the kernel's order", "[memlock]") {
  Memlock account;
  account.set_capable(false);
  account.set_limit(Bytes(0));
  REQUIRE(admit_pinning(account, Va(~std::uint64_t{0} - 100), Bytes(200)) == EINVAL);  // wraps
  REQUIRE(admit_pinning(account, Va(~std::uint64_t{0} - 100), Bytes(50)) == EINVAL);   // wraps when rounded up to pages
  REQUIRE(admit_pinning(account, Va(4096), Bytes(0)) == EPERM);
  account.set_limit(KiB(4));
  REQUIRE(admit_pinning(account, Va(4096), Bytes(0)) == EINVAL);
  REQUIRE(admit_pinning(account, Va(4097), Bytes(0)) == 0);  // counts as one page; no page size will fit it
  REQUIRE(admit_pinning(account, Va(4096), GiB(16384)) == EINVAL);
}

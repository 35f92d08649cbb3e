// What do REG_MR and LOCAL_INV ask of a region for fast registration, and what does it grant between them?
#include "verbs/fast_registration.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <random>

using namespace mtsim;
using namespace mtsim::verbs;

TEST_CASE("REG_MR needs a region that is free, of the QP's PD, and changes the low byte of its key only", "[rule:11.1]") {
  std::mt19937_64 random(5);
  unsigned allowed = 0;
  for (int round = 0; round < 20'000; ++round) {
    Grant region = unregistered(Key(0x500), std::uint32_t(random() % 4 == 0));
    REQUIRE_FALSE(region.valid);
    if (random() % 4 == 0) region.kind = KeyKind(random() % 3);
    region.valid = random() % 4 == 0;
    FastRegister request{Key(random() % 8 ? 0x500 : 0x501), Key(0x500 + std::uint32_t(random() % 0x120)), Iova(64), Bytes(100),
                         Access::remote_read};
    const bool known = random() % 8 != 0;
    const FastCheck got = check_register(request, known ? &region : nullptr, 0);
    const FastCheck expected = !known || region.kind != KeyKind::fast_region || request.key.raw != 0x500 ? FastCheck::kind
                               : region.valid                                                            ? FastCheck::state
                               : region.pd != 0                                                          ? FastCheck::pd
                               : request.new_key.raw > 0x5ff                                             ? FastCheck::key
                                                                                                         : FastCheck::none;
    if (got != expected) FAIL("round " << round << ": " << explain(got) << " instead of " << explain(expected));
    if (got != FastCheck::none) continue;
    ++allowed;
    const Grant after = registered(request, region);
    REQUIRE(judge(&after, {request.new_key, 0, Access::remote_read, Iova(64), Bytes(100), true, 0}) == Verdict::granted);
    REQUIRE(judge(&after, {request.new_key, 0, Access::remote_read, Iova(63), Bytes(1), true, 0}) == Verdict::out_of_range);
    REQUIRE(judge(&after, {request.new_key, 0, Access::remote_write, Iova(64), Bytes(1), true, 0}) == Verdict::no_access);
    REQUIRE(check_register(request, &after, 0) != FastCheck::none);
  }
  CHECK(allowed > 1000);
}

TEST_CASE("an invalidation needs the region's key, and nothing bound to it; twice is no error",
          "[rule:11.2][rule:11.3][rule:11.4][rule:11.6]") {
  const Grant free = unregistered(Key(0x500), 0);
  const Grant open = registered({free.key, Key(0x501), Iova(), Bytes(100), Access::remote_write | Access::local_write}, free);
  CHECK(check_fast_invalidate(&open, Key(0x501), 0, false, 0) == FastCheck::none);
  CHECK(check_fast_invalidate(&open, Key(0x501), 0, true, 0) == FastCheck::none);
  CHECK(check_fast_invalidate(&open, Key(0x500), 0, false, 0) == FastCheck::key);
  CHECK(check_fast_invalidate(&open, Key(0x501), 1, false, 0) == FastCheck::pd);
  CHECK(check_fast_invalidate(&open, Key(0x501), 0, false, 1) == FastCheck::windows);
  CHECK(check_fast_invalidate(nullptr, Key(0x501), 0, false, 0) == FastCheck::kind);
  const Grant closed = freed(open);
  CHECK(judge(&closed, {Key(0x501), 0, Access::remote_write, Iova(), Bytes(1), true, 0}) == Verdict::not_valid);
  CHECK(judge(&closed, {Key(0x501), 0, Access::none, Iova(), Bytes(1), false, 0}) == Verdict::not_valid);
  CHECK(check_fast_invalidate(&closed, Key(0x501), 0, false, 0) == FastCheck::none);
  CHECK(check_register({Key(0x501), Key(0x502), Iova(), Bytes(1), Access::none}, &closed, 0) == FastCheck::none);
  // A peer cannot end what was never opened to peers.
  const Grant local = registered({free.key, Key(0x501), Iova(), Bytes(100), Access::local_write}, free);
  CHECK(check_fast_invalidate(&local, Key(0x501), 0, true, 0) == FastCheck::key);
  CHECK(check_fast_invalidate(&local, Key(0x501), 0, false, 0) == FastCheck::none);
}

TEST_CASE("an invalidation goes by what the key is of: windows, regions for fast registration, and nothing else",
          "[rule:10.18][rule:11.2]") {
  const Grant fast = registered({Key(0x500), Key(0x501), Iova(), Bytes(1), Access::remote_read}, unregistered(Key(0x500), 0));
  CHECK_FALSE(refuses_invalidation(&fast, Key(0x501), 0, 7, true, 0));
  CHECK(refuses_invalidation(&fast, Key(0x501), 0, 7, true, 1));
  Grant window = unbound(Key(0x600), 0, 2);
  window.valid = true;
  window.qpn = 7;
  CHECK_FALSE(refuses_invalidation(&window, Key(0x600), 0, 7, true, 0));
  CHECK(refuses_invalidation(&window, Key(0x600), 0, 8, true, 0));
  Grant user;
  user.key = Key(0x700);
  user.valid = true;
  CHECK(refuses_invalidation(&user, Key(0x700), 0, 7, false, 0));
  CHECK(refuses_invalidation(nullptr, Key(0x700), 0, 7, false, 0));
}

TEST_CASE("drivers in software refuse another PD with EACCES and all else with EINVAL", "[rule:11.5]") {
  Grant region = unregistered(Key(7, 1), 1);
  region.valid = true;
  CHECK(errno_of(check_fast_invalidate(&region, region.key, 2, false, 0)) == EACCES);
  CHECK(errno_of(check_fast_invalidate(&region, Key(7, 2), 1, false, 0)) == EINVAL);
  CHECK(errno_of(check_fast_invalidate(nullptr, region.key, 1, false, 0)) == EINVAL);
  CHECK(errno_of(check_fast_invalidate(&region, region.key, 1, false, 0)) == 0);
}

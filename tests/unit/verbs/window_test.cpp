// Do binds, invalidations and what windows grant follow the specification's list of rules? Compared on random windows, MRs and requests
// with that list, rule by rule; and what a bound window opens with the bytes that it was asked to open.
#include "verbs/window.h"

#include <catch2/catch.hpp>
#include <optional>
#include <random>
#include <set>
#include <vector>

using namespace mtsim;
using namespace mtsim::verbs;

namespace {

using Wide = unsigned __int128;

struct Case {
  Bind bind;
  Grant window, region;
  bool window_known = true, region_known = true;
  std::uint32_t qp_pd = 0;
};

Case random_case(std::mt19937_64& random) {
  const auto rarely = [&] { return random() % 12 == 0; };
  Case c;
  c.window.kind = rarely() ? KeyKind::region : random() % 2 ? KeyKind::window_1 : KeyKind::window_2;
  c.window.key = Key(0x500 + std::uint32_t(random() % 2));
  c.window.pd = rarely() ? 1 : 0;
  c.window.valid = c.window.kind == KeyKind::window_1 || rarely();
  c.window_known = !rarely();
  c.region.kind = rarely() ? KeyKind::window_1 : KeyKind::region;
  c.region.key = Key(0x700 + std::uint32_t(random() % 2));
  c.region.pd = rarely() ? 1 : 0;
  c.region.valid = !rarely();
  c.region.start = Iova(0x10000);
  c.region.length = Bytes(0x4000);
  c.region.access = (random() % 4 ? Access::mw_bind : Access::none) | (random() % 4 ? Access::local_write : Access::none) |
                    (rarely() ? Access::zero_based : Access::none);
  c.region_known = !rarely();
  c.bind.window = rarely() ? Key(c.window.key.raw ^ 1) : c.window.key;
  c.bind.new_key = Key(0x900 + std::uint32_t(random() % 256));
  c.bind.region = rarely() ? Key(0) : rarely() ? Key(c.region.key.raw ^ 1) : c.region.key;
  c.bind.address = rarely() ? Iova(~0ull - random() % 4) : Iova(0x10000 - 2 + random() % 0x4004);
  c.bind.length = rarely() ? Bytes() : rarely() ? Bytes(~0ull) : Bytes(1 + random() % 0x2000);
  c.bind.access =
      Access(random() % 8 << 1) | (rarely() ? Access::zero_based : Access::none) | (rarely() ? Access::local_write : Access::none);
  c.bind.by_call = rarely() ? random() % 2 != 0 : c.window.kind == KeyKind::window_1;
  c.qp_pd = rarely() ? 1 : 0;
  return c;
}

bool flag(Access access, Access one) { return (unsigned(access) & unsigned(one)) != 0; }

/// Every rule of the specification that the bind breaks.
std::set<BindCheck> broken(const Case& c) {
  std::set<BindCheck> out;
  if (!c.window_known || c.window.kind == KeyKind::region || c.window.key.raw != c.bind.window.raw) return {BindCheck::window_key};
  const bool second = c.window.kind == KeyKind::window_2;
  if (second == c.bind.by_call) out.insert(BindCheck::window_type);
  if (c.window.pd != c.qp_pd) out.insert(BindCheck::window_pd);
  const bool nothing = c.bind.region.raw == 0 || c.bind.length.raw == 0;
  if (second && c.window.valid) out.insert(BindCheck::window_bound);
  if (second && nothing) out.insert(BindCheck::window_empty);
  if (!second && flag(c.bind.access, Access::zero_based)) out.insert(BindCheck::zero_based);
  const unsigned rights = 2 | 4 | 8 | 32;
  if ((unsigned(c.bind.access) & ~rights) != 0) out.insert(BindCheck::access);
  if (nothing) return out;
  if (!c.region_known || c.region.kind != KeyKind::region || !c.region.valid || c.region.key.raw != c.bind.region.raw) {
    out.insert(BindCheck::region_key);
    return out;
  }
  if (c.region.pd != c.qp_pd) out.insert(BindCheck::region_pd);
  if (!flag(c.region.access, Access::mw_bind)) out.insert(BindCheck::region_bind);
  const bool changes = flag(c.bind.access, Access::remote_write) || flag(c.bind.access, Access::remote_atomic);
  if (changes && !flag(c.region.access, Access::local_write)) out.insert(BindCheck::region_write);
  if (flag(c.region.access, Access::zero_based)) out.insert(BindCheck::region_zero_based);
  const Wide begin = c.bind.address.raw, end = begin + c.bind.length.raw;
  if (begin < 0x10000 || end > 0x14000) out.insert(BindCheck::range);
  return out;
}

BindCheck check(const Case& c) {
  return check_bind(c.bind, c.window_known ? &c.window : nullptr, c.region_known ? &c.region : nullptr, c.qp_pd, ib_rules());
}

}  // namespace

TEST_CASE("a bind is refused for the first rule that it breaks, and allowed when it breaks none",
          "[rule:10.3][rule:10.4][rule:10.5][rule:10.6][rule:10.7][rule:10.8][rule:10.9]"
          "[rule:10.10][rule:10.11][rule:10.12][rule:10.13][rule:10.2]") {
  std::mt19937_64 random(1);
  std::vector<unsigned> seen(unsigned(BindCheck::range) + 1);
  for (int round = 0; round < 300'000; ++round) {
    const Case c = random_case(random);
    const std::set<BindCheck> why = broken(c);
    const BindCheck got = check(c), expected = why.empty() ? BindCheck::none : *why.begin();
    if (got != expected) FAIL("round " << round << ": " << explain(got) << " instead of " << explain(expected));
    ++seen[unsigned(got)];
  }
  for (const unsigned count : seen) CHECK(count > 100);
}

TEST_CASE("a bound window opens its bytes, with its rights, to those whom its type allows",
          "[rule:5.14][rule:10.14][rule:10.15][rule:10.11]") {
  const bool bounds = GENERATE(true, false);
  Rules rules = ib_rules();
  rules.windows.bounds = bounds;
  std::mt19937_64 random(2);
  unsigned granted = 0, refused = 0;
  for (int round = 0; round < 200'000; ++round) {
    const Case c = random_case(random);
    if (check(c) != BindCheck::none) continue;
    const Grant window = bound(c.bind, c.window, &c.region, 77, rules);
    REQUIRE(window.key.raw == (c.window.key.raw & ~0xffu) + c.bind.new_key.raw % 256);
    REQUIRE(window.pd == c.window.pd);
    REQUIRE(window.kind == c.window.kind);
    const bool zero_based = flag(c.bind.access, Access::zero_based);
    const bool empty = c.bind.region.raw == 0 || c.bind.length.raw == 0;
    const std::uint64_t origin = zero_based ? c.bind.address.raw : 0;
    const std::uint32_t qpn = random() % 4 ? 77 : 78;
    const auto right = Access(2u << random() % 3);
    // The bytes in memory that the peer means, from a little before the window to a little behind it.
    const std::uint64_t meant = c.bind.address.raw - 3 + random() % (c.bind.length.raw % 0x4000 + 6), length = 1 + random() % 4;
    const Wish wish{window.key, c.window.pd, right, Iova(meant - origin), Bytes(length), true, qpn};
    const Verdict first = judge(&window, wish);
    const bool got = first == Verdict::granted &&
                     judge(&c.region, through_window(window.region, window.region_pd, window.shift, wish)) == Verdict::granted;
    const Wide low = bounds ? c.bind.address.raw : 0x10000, high = bounds ? low + c.bind.length.raw : 0x14000;
    bool expected = !empty && flag(c.bind.access, right) && meant >= low && Wide(meant) + length <= high;
    if (c.window.kind == KeyKind::window_2 && qpn != 77) expected = false;
    // An address that wraps within the access is refused even where the window's bounds do not count.
    if (Wide(wish.address.raw) + length > ~0ull) expected = false;
    if (got != expected) FAIL("round " << round << ": " << explain(first));
    ++(got ? granted : refused);
  }
  CHECK(granted > 3000);
  CHECK(refused > 3000);
}

TEST_CASE("a new window opens nothing, and an unbound one nothing more", "[rule:10.1][rule:10.4]") {
  const Rules rules = ib_rules();
  const std::uint8_t type = GENERATE(1, 2);
  Grant window = unbound(Key(0x500), 3, type);
  CHECK(window.valid == (type == 1));
  CHECK(window.pd == 3);
  const auto opens = [&](std::uint64_t length) {
    for (const Access right : {Access::remote_read, Access::remote_write, Access::remote_atomic})
      if (judge(&window, {window.key, 3, right, Iova(), Bytes(length), true, 0}) == Verdict::granted) return true;
    return false;
  };
  CHECK_FALSE(opens(1));
  CHECK_FALSE(opens(0));
  if (type == 2) return;
  Grant region;
  region.key = Key(0x700);
  region.pd = 3;
  region.valid = true;
  region.access = Access::mw_bind | Access::local_write;
  region.length = Bytes(100);
  Bind bind{Key(0x500), Key(0x501), Key(0x700), Iova(), Bytes(10), Access::remote_write, true};
  REQUIRE(check_bind(bind, &window, &region, 3, rules) == BindCheck::none);
  window = bound(bind, window, &region, 0, rules);
  CHECK(opens(1));
  // Bound anew, to nothing: an unbinding. Neither the old key nor the new one opens anything.
  const Grant before = window;
  bind = {Key(0x501), Key(0x502), Key(0), Iova(), Bytes(), Access::none, true};
  REQUIRE(check_bind(bind, &window, nullptr, 3, rules) == BindCheck::none);
  window = bound(bind, window, nullptr, 0, rules);
  CHECK_FALSE(opens(1));
  CHECK(judge(&window, {before.key, 3, Access::remote_write, Iova(), Bytes(1), true, 0}) == Verdict::wrong_variant);
}

TEST_CASE("only windows of type 2 can be invalidated, by the QP that they are bound to, and are free then",
          "[rule:10.16][rule:10.17][rule:10.18][rule:10.3]") {
  std::mt19937_64 random(4);
  unsigned allowed = 0;
  for (int round = 0; round < 20'000; ++round) {
    Grant grant;
    grant.kind = random() % 2 ? KeyKind::window_2 : KeyKind(random() % 4);
    grant.key = Key(0x500);
    grant.pd = std::uint32_t(random() % 4 == 0);
    grant.valid = random() % 3 != 0;
    grant.qpn = 5;
    grant.access = Access::remote_write;
    grant.region = Key(0x700);
    grant.length = Bytes(10);
    const bool known = random() % 8 != 0;
    const Key key(random() % 8 ? 0x500 : 0x501);
    const std::uint32_t qpn = random() % 4 ? 5 : 6;
    const InvalidateCheck got = check_invalidate(known ? &grant : nullptr, key, 0, qpn, ib_rules());
    const InvalidateCheck expected = !known || key.raw != 0x500        ? InvalidateCheck::key
                                     : grant.kind != KeyKind::window_2 ? InvalidateCheck::kind
                                     : grant.pd != 0                   ? InvalidateCheck::pd
                                     : grant.valid && qpn != 5         ? InvalidateCheck::qp
                                                                       : InvalidateCheck::none;
    if (got != expected) FAIL("round " << round << ": " << explain(got) << " instead of " << explain(expected));
    if (got != InvalidateCheck::none) continue;
    ++allowed;
    const Grant after = invalidated(grant);
    REQUIRE(after.key == grant.key);
    REQUIRE_FALSE(after.valid);
    REQUIRE(judge(&after, {after.key, 0, Access::remote_write, Iova(), Bytes(1), true, 5}) == Verdict::not_valid);
    // It may be bound again, and by any QP of its PD.
    Grant region;
    region.key = Key(0x700);
    region.valid = true;
    region.access = Access::mw_bind | Access::local_write;
    region.length = Bytes(100);
    REQUIRE(check_bind({after.key, Key(0x502), region.key, Iova(), Bytes(5), Access::remote_write}, &after, &region, 0, ib_rules()) ==
            BindCheck::none);
  }
  CHECK(allowed > 1000);
}

TEST_CASE("a window whose MR is gone, or whose MR has another key by now, opens nothing", "[rule:4.2][rule:10.21]") {
  Grant region;
  region.key = Key(0x700);
  region.valid = true;
  region.access = Access::mw_bind;
  region.length = Bytes(100);
  const Bind bind{Key(0x500), Key(0x501), region.key, Iova(), Bytes(10), Access::remote_read, true};
  const Grant window = bound(bind, unbound(Key(0x500), 0, 1), &region, 0, ib_rules());
  const Wish wish{Key(0x501), 0, Access::remote_read, Iova(2), Bytes(8), true, 0};
  REQUIRE(judge(&window, wish) == Verdict::granted);
  const Wish through = through_window(window.region, window.region_pd, window.shift, wish);
  CHECK(judge(&region, through) == Verdict::granted);
  CHECK(judge(nullptr, through) == Verdict::no_such_key);
  region.valid = false;
  CHECK(judge(&region, through) == Verdict::not_valid);
  region.valid = true;
  region.key = Key(0x701);
  CHECK(judge(&region, through) == Verdict::wrong_variant);
}

TEST_CASE("an MR without any remote right of its own can be opened by a window", "[rule:10.8][rule:10.9]") {
  Grant region;
  region.key = Key(0x700);
  region.valid = true;
  region.length = Bytes(100);
  const Grant window = unbound(Key(0x500), 0, 1);
  const auto allows = [&](Access mr, Access mw) {
    region.access = mr;
    return check_bind({window.key, Key(0x501), region.key, Iova(), Bytes(10), mw, true}, &window, &region, 0, ib_rules());
  };
  CHECK(allows(Access::mw_bind, Access::remote_read) == BindCheck::none);
  CHECK(allows(Access::mw_bind, Access::remote_write) == BindCheck::region_write);
  CHECK(allows(Access::mw_bind, Access::remote_atomic) == BindCheck::region_write);
  CHECK(allows(Access::mw_bind | Access::local_write, Access::remote_write | Access::remote_atomic) == BindCheck::none);
  CHECK(allows(Access::local_write | Access::remote_write, Access::remote_write) == BindCheck::region_bind);
}

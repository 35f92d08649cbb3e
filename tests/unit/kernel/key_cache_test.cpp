// Does the mkey cache find, miss, fill, age and run out as mlx5's does (Linux 6.12 hw/mlx5/mr.c)?
#include <catch2/catch.hpp>
#include <set>
#include <vector>

#include "kernel/driver_params.h"
#include "support/host_rig.h"

using namespace mtsim;
using kernel::KeyChore;
using kernel::KeyGrant;
using kernel::KeyPolicies;
using Step = ports::RegistrationStep;

namespace {

constexpr Time second = us(1'000'000);

kernel::KeyPolicyOptions options(std::vector<std::uint32_t> limits, std::uint64_t most = 1u << 20) {
  kernel::KeyPolicyOptions o = defaults<kernel::DriverParams>().key_options();
  o.most_keys = most;
  o.cache.limits = std::move(limits);
  return o;
}

std::uint64_t count(const kernel::KeyPolicy& keys, const std::string& name) {
  for (const auto& c : keys.counts())
    if (c.name == name) return c.value;
  FAIL("no count " << name);
  return 0;
}

/// Begins whatever the policy asks for.
std::vector<KeyChore> chores(kernel::KeyPolicy& keys, Time now) {
  std::vector<KeyChore> out;
  while (const auto chore = keys.next_chore(now)) out.push_back(*chore);
  return out;
}

KeyGrant known(KeyGrant grant) {
  grant.created = true;
  return grant;
}

}  // namespace

TEST_CASE("the declared limits are those of the driver's default profile", "[key_cache]") {
  const auto limits = *defaults<kernel::DriverParams>().cache_limit_list();
  CHECK(limits == std::vector<std::uint32_t>{250, 250, 250, 250, 250, 250, 250, 250, 250, 250, 250, 250, 32, 16, 8, 4, 0, 0, 0, 0, 0});
  kernel::DriverParams p = defaults<kernel::DriverParams>();
  for (const char* wrong : {"12y", "x3", "70000", "5x41", "3 3,3", "4x"}) {
    p.cache_limits = wrong;
    CHECK_FALSE(p.cache_limit_list().has_value());
  }
  p.cache_limits = "";
  CHECK(p.cache_limit_list()->empty());
}

TEST_CASE("REMOTE_ATOMIC, RELAXED_ORDERING: keys with flags that the device cannot change stand in for nobody else", "[key_cache]") {
  using verbs::Access;
  const auto keys = KeyPolicies::make("cache", options({250, 250}));
  const Access fixed = GENERATE(Access::remote_atomic, Access::relaxed_ordering);
  // None of them is made ahead: created in the call, by one at a time, then parked in a class of its own.
  const KeyGrant first = *keys->take({4, fixed}, Time());
  CHECK_FALSE(first.created);
  CHECK(first.alone);
  keys->give_back(known(first), Time());
  CHECK(keys->take({4}, Time())->key != first.key);
  CHECK_FALSE(keys->take({4, Access::remote_atomic | Access::relaxed_ordering}, Time())->created);
  const KeyGrant again = *keys->take({4, fixed}, Time());
  CHECK(again.created);
  CHECK(again.key == first.key);
}

TEST_CASE("a cached key comes back unchanged, the one parked last first", "[key_cache][rule:5.1]") {
  const auto keys = KeyPolicies::make("cache", options({250, 250}));
  const KeyGrant a = *keys->take({1}, Time()), b = *keys->take({1}, Time());
  CHECK(a.created);
  CHECK(b.created);
  CHECK(a.key.index() != b.key.index());
  CHECK(keys->keeps(a));
  keys->give_back(b, Time());
  keys->give_back(a, Time());
  CHECK(keys->take({4}, Time())->key == a.key);  // up to 4 entries are one class
  CHECK(keys->take({2}, Time())->key == b.key);
  CHECK(count(*keys, "hits") == 4);
}

TEST_CASE("a class holds twice its limit, and then a key must be created, with variant 0", "[key_cache][rule:5.1]") {
  const auto keys = KeyPolicies::make("cache", options({250, 250, 250}));
  std::set<std::uint32_t> indices;
  for (int i = 0; i < 500; ++i) {
    const KeyGrant grant = *keys->take({5}, Time());
    REQUIRE(grant.created);
    indices.insert(grant.key.index());
  }
  CHECK(indices.size() == 500);
  const KeyGrant missed = *keys->take({8}, Time());
  CHECK_FALSE(missed.created);
  CHECK_FALSE(missed.alone);
  CHECK(missed.key.variant() == 0);
  CHECK(indices.count(missed.key.index()) == 0);
  CHECK(keys->take({9}, Time())->created);  // the next class is full
  // What was created is parked too.
  keys->give_back(known(missed), Time());
  const KeyGrant again = *keys->take({8}, Time());
  CHECK(again.created);
  CHECK(again.key == missed.key);
}

TEST_CASE("a class is filled again from its limit on, one creation for each call and each end of one, eight at once", "[key_cache]") {
  const auto keys = KeyPolicies::make("cache", options({10}));
  for (int i = 0; i < 10; ++i) REQUIRE(keys->take({1}, Time())->created);
  CHECK(chores(*keys, Time()).empty());  // ten are left
  std::vector<KeyChore> under_way;
  for (int i = 0; i < 10; ++i) {
    REQUIRE(keys->take({1}, Time())->created);
    const auto begun = chores(*keys, Time());
    CHECK(begun.size() == (i < 8 ? 1 : 0));
    under_way.insert(under_way.end(), begun.begin(), begun.end());
  }
  CHECK_FALSE(keys->take({1}, Time())->created);
  CHECK(chores(*keys, Time()).empty());
  // Each that ends starts another, up to twice the limit.
  std::size_t ended = 0;
  for (; ended < under_way.size(); ++ended) {
    CHECK(under_way[ended].key.variant() != 0);
    keys->done(under_way[ended], us(5));
    const auto begun = chores(*keys, us(5));
    under_way.insert(under_way.end(), begun.begin(), begun.end());
  }
  CHECK(ended == 20);
  CHECK(count(*keys, "parked") == 20);
  CHECK(count(*keys, "refills") == 20);
  CHECK(count(*keys, "misses") == 1);
  // The key made last is at hand first.
  CHECK(keys->take({1}, us(5))->key == under_way.back().key);
}

TEST_CASE("filling goes on to twice the limit though creations under way already cover it and keys are taken meanwhile", "[key_cache]") {
  const auto keys = KeyPolicies::make("cache", options({4}));
  std::vector<KeyChore> under_way;
  const auto take = [&] {
    REQUIRE(keys->take({1}, Time())->created);
    for (const KeyChore& chore : chores(*keys, Time())) under_way.push_back(chore);
  };
  for (int i = 0; i < 8; ++i) take();
  CHECK(under_way.size() == 4);  // begun at 3, 2, 1 and 0 left
  // Each end starts one more until parked and under way are eight together; then a key is taken, and one more follows.
  for (std::size_t i = 0; i < 6; ++i) {
    keys->done(under_way[i], Time());
    for (const KeyChore& chore : chores(*keys, Time())) under_way.push_back(chore);
  }
  CHECK(under_way.size() == 8);
  take();
  CHECK(under_way.size() == 9);
}

TEST_CASE("keys beyond twice the limit go 300 s after the last creation, unless a class is short", "[key_cache]") {
  const bool short_of = GENERATE(false, true);
  const auto keys = KeyPolicies::make("cache", options({2, 1}));
  std::vector<KeyGrant> held;
  for (int i = 0; i < 10; ++i) held.push_back(known(*keys->take({4}, Time())));
  if (short_of)
    for (int i = 0; i < 2; ++i) REQUIRE(keys->take({8}, Time()).has_value());
  for (const KeyGrant& grant : held) keys->give_back(grant, second);
  (void)keys->next_chore(second);                     // has the class of 8 filled, which never ends here
  keys->give_back(*keys->take({4}, second), second);  // storing looks at nothing, taking does
  CHECK(count(*keys, "parked") == (short_of ? 10 : 12));
  (void)chores(*keys, second * 299);
  CHECK(count(*keys, "removed") == 0);
  std::uint64_t commands = 0;
  for (auto next = chores(*keys, second * 302); !next.empty(); next = chores(*keys, second * 302)) {
    commands += next.size();
    CHECK(next.size() == 1);
    keys->done(next.front(), second * 302);
  }
  CHECK(commands == (short_of ? 0 : 6));
  CHECK(count(*keys, "parked") == (short_of ? 10 : 6));
}

TEST_CASE("a size without a class gets one of its own for 30 s", "[key_cache]") {
  const auto keys = KeyPolicies::make("cache", options({0, 0}));
  const KeyGrant first = *keys->take({100}, Time());
  CHECK_FALSE(first.created);
  CHECK(first.alone);
  CHECK(first.key.variant() != 0);
  CHECK(keys->keeps(first));
  keys->give_back(known(first), second);
  // Sizes down to half of it find the class, smaller and larger ones do not.
  for (const auto& [entries, hit] : {std::pair{100, true}, std::pair{50, true}, std::pair{49, false}, std::pair{101, false}}) {
    const KeyGrant grant = *keys->take({std::uint64_t(entries)}, second * 2);
    CHECK(grant.created == hit);
    if (!hit) {
      keys->give_back(grant, second * 2);
      continue;
    }
    CHECK(grant.key == first.key);
    // Empty now: the next of that size is created in the call, but not alone.
    const KeyGrant miss = *keys->take({100}, second * 2);
    CHECK_FALSE(miss.created);
    CHECK_FALSE(miss.alone);
    CHECK(miss.key.variant() == 0);
    keys->give_back(miss, second * 2);
    keys->give_back(grant, second * 2);
  }
  CHECK(count(*keys, "parked") == 1);
  const auto destroyed = chores(*keys, second * 31);
  REQUIRE(destroyed.size() == 1);
  CHECK(destroyed[0].kind == KeyChore::Kind::destroy);
  CHECK(destroyed[0].key == first.key);
  CHECK(count(*keys, "parked") == 0);
}

TEST_CASE("parked keys count for the device's limit, and filling stops for a second when it is reached", "[key_cache]") {
  const auto keys = KeyPolicies::make("cache", options({2, 2}, 10));
  CHECK(count(*keys, "parked") == 8);
  std::vector<KeyGrant> held;
  while (const auto grant = keys->take({4}, Time())) held.push_back(*grant);
  CHECK(held.size() == 6);
  CHECK(chores(*keys, Time()).empty());
  keys->give_back(held.back(), Time());  // not created: its index is free at once
  CHECK(keys->take({4}, Time()).has_value());
  keys->give_back(held[4], Time());
  CHECK(chores(*keys, us(999'999)).empty());
  CHECK(keys->take({4}, second)->key.index() == held[4].key.index());
}

TEST_CASE("creations on the side take command time, beside those of calls", "[key_cache]") {
  test::HostSettings settings;
  settings.driver.cache_limits = "2";
  test::HostRig rig(settings);
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(KiB(4));
  std::vector<verbs::Reply> mrs;
  for (int i = 0; i < 2; ++i) mrs.push_back(rig.reg_mr(pd, buffer, KiB(4)));
  CHECK(rig.nic.commands.empty());
  // The third leaves one parked, below the limit: keys are made until there are four.
  mrs.push_back(rig.reg_mr(pd, buffer, KiB(4)));
  CHECK(rig.nic.commands.size() == 3);
  CHECK(rig.nic.commands[0].input == Bytes(256));
  CHECK(rig.step(Step::wait) == us(3));
  for (int i = 0; i < 10; ++i) {
    mrs.push_back(rig.reg_mr(pd, buffer, KiB(4)));
    REQUIRE(mrs.back().error == 0);
  }
  for (const auto& mr : mrs) REQUIRE(rig.dereg_mr(mr.handle).error == 0);
}

TEST_CASE("when keys have run out reg_mr fails with ENOMEM, gives its pages back, and MRs from before stay", "[key_cache]") {
  test::HostSettings settings;
  settings.driver.cache_limits = "2 2";
  settings.driver.most_keys = 10;
  test::HostRig rig(settings);
  const auto pd = rig.pd();
  const Va buffer = rig.mmap(KiB(4));
  std::vector<verbs::Reply> mrs;
  for (;;) {
    const auto mr = rig.reg_mr(pd, buffer, KiB(4));
    if (mr.error != 0) {
      CHECK(mr.error == ENOMEM);
      break;
    }
    mrs.push_back(mr);
  }
  // Two were created by commands, and so was to be the one that was refused.
  CHECK(rig.records.back().cost.commands == 1);
  CHECK(rig.nic.commands.size() == 3);
  // Four are parked in the other class.
  CHECK(mrs.size() == 6);
  CHECK(rig.kernel.registration().pinned_now == KiB(4) * 6);
  CHECK(rig.nic.grant(mrs[0].lkey).has_value());
  CHECK(rig.dereg_mr(mrs[0].handle).error == 0);
  CHECK(rig.reg_mr(pd, buffer, KiB(4)).error == 0);
}

TEST_CASE("classes that begin empty are filled one key at a time from the start of the run", "[key_cache]") {
  test::HostSettings settings;
  settings.driver.cache_limits = "3 1";
  settings.driver.cache_prefill = false;
  test::HostRig rig(settings);
  rig.run();
  CHECK(rig.nic.commands.size() == 8);
  const auto pd = rig.pd();
  CHECK(rig.reg_mr(pd, rig.mmap(KiB(4)), KiB(4)).error == 0);
  CHECK(rig.step(Step::wait) == us(3));
}

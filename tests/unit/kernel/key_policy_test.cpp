// Do keys come, go and come back as the drivers' do?
#include "kernel/key_policy.h"

#include <catch2/catch.hpp>
#include <set>
#include <vector>

using namespace mtsim;
using kernel::KeyGrant;
using kernel::KeyPolicies;

TEST_CASE("every policy is known by name", "[keys]") {
  REQUIRE(KeyPolicies::names() == std::vector<std::string>{"bitmap", "cache", "counter"});
}

TEST_CASE("a cached key comes back unchanged, the one parked last first", "[keys]") {
  const auto keys = KeyPolicies::make("cache", {1u << 20});
  const KeyGrant a = *keys->take(1), b = *keys->take(1);
  REQUIRE(a.created);
  REQUIRE(b.created);
  REQUIRE(a.key.index() != b.key.index());
  REQUIRE(keys->keeps(1));
  keys->give_back(b, 1);
  keys->give_back(a, 1);
  REQUIRE(keys->take(4)->key == a.key);  // up to 4 entries are one class
  REQUIRE(keys->take(2)->key == b.key);
}

TEST_CASE("a class holds twice its limit, and then a key must be created, with variant 0", "[keys]") {
  const auto keys = KeyPolicies::make("cache", {1u << 20});
  std::set<std::uint32_t> indices;
  for (int i = 0; i < 500; ++i) {
    const KeyGrant grant = *keys->take(5);
    REQUIRE(grant.created);
    indices.insert(grant.key.index());
  }
  REQUIRE(indices.size() == 500);
  const KeyGrant missed = *keys->take(8);
  REQUIRE_FALSE(missed.created);
  REQUIRE(missed.key.variant() == 0);
  REQUIRE(indices.count(missed.key.index()) == 0);
  REQUIRE(keys->take(9)->created);  // the next class is full
  // What was created is parked too.
  keys->give_back({missed.key, keys->keeps(8)}, 8);
  const KeyGrant again = *keys->take(8);
  REQUIRE(again.created);
  REQUIRE(again.key == missed.key);
  // The classes of great tables begin empty, and beyond the last there is none.
  REQUIRE_FALSE(keys->take(1u << 18)->created);
  REQUIRE(keys->keeps(4u << 20));
  REQUIRE_FALSE(keys->keeps((4u << 20) + 1));
}

TEST_CASE("without a cache the index is used again under the counter's next variant", "[keys]") {
  const auto keys = KeyPolicies::make("counter", {2});
  const KeyGrant a = *keys->take(1), b = *keys->take(1);
  REQUIRE_FALSE(a.created);
  REQUIRE(a.key == Key(1, 0));
  REQUIRE(b.key == Key(2, 1));
  REQUIRE_FALSE(keys->take(1).has_value());
  REQUIRE_FALSE(keys->keeps(1));
  keys->give_back(a, 1);
  REQUIRE(keys->take(1)->key == Key(1, 2));
  for (int i = 3; i <= 256; ++i) {
    keys->give_back({b.key, false}, 1);
    REQUIRE(keys->take(1)->key == Key(2, std::uint8_t(i)));
  }
}

TEST_CASE("mlx4 takes the lowest free slot and turns the generation into the variant and the index's top", "[keys]") {
  const auto keys = KeyPolicies::make("bitmap", {1u << 19});
  const KeyGrant a = *keys->take(1), b = *keys->take(1);
  REQUIRE(a.key == Key(1, 0));
  REQUIRE(b.key == Key(2, 0));
  keys->give_back(b, 1);
  keys->give_back(a, 1);
  const KeyGrant again = *keys->take(1);
  REQUIRE(again.key == Key(1 | 2u << 19, 0));
  // 32 generations later the low byte moves on.
  KeyGrant key = again;
  for (int i = 0; i < 30; ++i) {
    keys->give_back(key, 1);
    key = *keys->take(1);
  }
  REQUIRE(key.key == Key(1, 1));
}

TEST_CASE("a full bitmap gives nothing", "[keys]") {
  const auto keys = KeyPolicies::make("bitmap", {4});
  std::vector<KeyGrant> held;
  while (const auto grant = keys->take(1)) held.push_back(*grant);
  REQUIRE(held.size() == 3);
  keys->give_back(held[1], 1);
  REQUIRE(keys->take(1)->key.raw != held[1].key.raw);
}

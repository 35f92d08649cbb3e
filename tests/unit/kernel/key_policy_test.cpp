// Do keys come, go and come back as the drivers' do? The mkey cache has a test of its own.
#include "kernel/key_policy.h"

#include <catch2/catch.hpp>
#include <set>
#include <vector>

using namespace mtsim;
using kernel::KeyGrant;
using kernel::KeyPolicies;

namespace {

std::unique_ptr<kernel::KeyPolicy> policy(const std::string& name, std::uint64_t most, std::uint64_t seed = 1) {
  kernel::KeyPolicyOptions options;
  options.most_keys = most;
  options.seed = seed;
  return KeyPolicies::make(name, options);
}

KeyGrant take(kernel::KeyPolicy& keys) {
  const auto grant = keys.take({1}, Time());
  REQUIRE(grant.has_value());
  CHECK_FALSE(grant->created);
  CHECK_FALSE(keys.keeps(*grant));
  return *grant;
}

/// Takes a key and gives it back, `n` times.
std::vector<Key> rounds(kernel::KeyPolicy& keys, int n) {
  std::vector<Key> out;
  for (int i = 0; i < n; ++i) {
    const KeyGrant grant = take(keys);
    out.push_back(grant.key);
    keys.give_back(grant, Time());
  }
  return out;
}

}  // namespace

TEST_CASE("every policy is known by name", "[keys]") {
  CHECK(KeyPolicies::names() == std::vector<std::string>{"bitmap", "cache", "counter", "cyclic", "device", "generation", "lowest",
                                                         "random_bits", "random_start", "sequential"});
}

TEST_CASE("no policy gives a key twice, gives key 0, or more keys than there are; all can be given again", "[keys][rule:5.12]") {
  const std::string name =
      GENERATE("bitmap", "counter", "cyclic", "device", "generation", "lowest", "random_bits", "random_start", "sequential");
  CAPTURE(name);
  const auto keys = policy(name, 64);
  std::size_t most = 0;
  for (int round = 0; round < 3; ++round) {
    std::vector<KeyGrant> held;
    std::set<std::uint32_t> indices;
    while (const auto grant = keys->take({1}, Time())) {
      held.push_back(*grant);
      indices.insert(grant->key.index());
      CHECK(grant->key.raw != 0);
      REQUIRE(held.size() <= 64);
    }
    CHECK(indices.size() == held.size());
    // Some drivers keep slot 0 for themselves.
    CHECK(held.size() >= 63);
    if (round != 0) CHECK(held.size() == most);
    most = held.size();
    for (const KeyGrant& grant : held) keys->give_back(grant, Time());
  }
}

TEST_CASE("mlx5 without a cache: the index is used again under the counter's next variant", "[keys]") {
  const auto keys = policy("counter", 2);
  const KeyGrant a = take(*keys), b = take(*keys);
  CHECK(a.key == Key(1, 1));
  CHECK(b.key == Key(2, 2));
  CHECK_FALSE(keys->take({1}, Time()).has_value());
  keys->give_back(a, Time());
  CHECK(take(*keys).key == Key(1, 3));
  for (int i = 4; i <= 260; ++i) {
    keys->give_back(b, Time());
    CHECK(take(*keys).key == Key(2, std::uint8_t(i)));
  }
}

TEST_CASE("mlx4 takes the lowest free slot and turns the generation into the variant and the index's top", "[keys][rule:5.3]") {
  const auto keys = policy("bitmap", 1u << 19);
  const KeyGrant a = take(*keys), b = take(*keys);
  CHECK(a.key == Key(1, 0));
  CHECK(b.key == Key(2, 0));
  keys->give_back(b, Time());
  keys->give_back(a, Time());
  const KeyGrant again = take(*keys);
  CHECK(again.key == Key(1 | 2u << 19, 0));
  // 32 generations later the low byte moves on.
  KeyGrant key = again;
  for (int i = 0; i < 30; ++i) {
    keys->give_back(key, Time());
    key = take(*keys);
  }
  CHECK(key.key == Key(1, 1));
}

TEST_CASE("mlx4: a full bitmap gives nothing, and the attempt turns the generation", "[keys]") {
  const auto keys = policy("bitmap", 4);
  std::vector<KeyGrant> held;
  while (const auto grant = keys->take({1}, Time())) held.push_back(*grant);
  CHECK(held.size() == 3);
  keys->give_back(held[1], Time());
  CHECK(take(*keys).key == Key(2 | 2 * 4, 0));
}

TEST_CASE("rxe: indices in turn, a random byte below, from a seed", "[keys][rule:5.4]") {
  const auto keys = policy("cyclic", 5);
  std::vector<std::uint32_t> indices;
  std::set<std::uint8_t> variants;
  for (const Key key : rounds(*keys, 12)) {
    indices.push_back(key.index());
    variants.insert(key.variant());
  }
  CHECK(indices == std::vector<std::uint32_t>{1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2});
  CHECK(variants.size() > 6);
  // What is in use is passed over.
  const auto busy = policy("cyclic", 5);
  const KeyGrant first = take(*busy), second = take(*busy);
  CHECK(first.key.index() == 1);
  (void)rounds(*busy, 3);
  CHECK(take(*busy).key.index() == 3);
  busy->give_back(second, Time());
  CHECK(take(*busy).key.index() == 4);
  CHECK(take(*busy).key.index() == 5);
  CHECK(take(*busy).key.index() == 2);
  // The seed decides.
  CHECK(rounds(*policy("cyclic", 5, 7), 8) == rounds(*policy("cyclic", 5, 7), 8));
  CHECK(rounds(*policy("cyclic", 5, 7), 8) != rounds(*policy("cyclic", 5, 8), 8));
  // 3,000 rounds over rxe's own 2^19 indices bring no key back.
  const auto many = rounds(*policy("cyclic", 1u << 19), 3000);
  CHECK(std::set<Key>(many.begin(), many.end()).size() == 3000);
}

TEST_CASE("siw: 24 random bits and a low byte of 0; hardly any comes back in 3,000 rounds", "[keys][rule:5.5]") {
  const auto all = rounds(*policy("random_start", 1'024'000), 3000);
  std::uint32_t highest = 0;
  for (const Key key : all) {
    CHECK(key.variant() == 0);
    CHECK(key.index() != 0);
    highest = std::max(highest, key.index());
  }
  CHECK(highest > 0xf0'0000);
  CHECK(std::set<Key>(all.begin(), all.end()).size() >= 2995);
}

TEST_CASE("irdma: a random slot, random bits above it, a random byte below", "[keys][rule:5.6]") {
  const auto keys = policy("random_bits", 1u << 14);
  std::set<std::uint32_t> slots, above;
  std::set<std::uint8_t> variants;
  for (const Key key : rounds(*keys, 2000)) {
    slots.insert(key.index() & 0x3fff);
    above.insert(key.index() >> 14);
    variants.insert(key.variant());
  }
  CHECK(slots.count(0) == 0);
  CHECK(slots.size() > 1500);
  CHECK(above.size() > 600);
  CHECK(variants.size() == 256);
}

TEST_CASE("hns: the lowest free index, so the same key at once", "[keys][rule:5.7]") {
  const auto keys = policy("lowest", 100);
  CHECK(rounds(*keys, 3) == std::vector<Key>{Key(1, 0), Key(1, 0), Key(1, 0)});
  const KeyGrant a = take(*keys), b = take(*keys);
  CHECK(b.key == Key(2, 0));
  keys->give_back(a, Time());
  CHECK(take(*keys).key == a.key);
  CHECK(take(*keys).key == Key(3, 0));
}

TEST_CASE("erdma: the next free index, low byte 0", "[keys][rule:5.8]") {
  const auto keys = policy("sequential", 3);
  CHECK(rounds(*keys, 5) == std::vector<Key>{Key(1, 0), Key(2, 0), Key(3, 0), Key(1, 0), Key(2, 0)});
}

TEST_CASE("rdmavt: slots in turn at the top, the generation below them, a low byte of 0", "[keys][rule:5.9]") {
  const auto keys = policy("generation", 1u << 16);
  const auto first = rounds(*keys, 2);
  CHECK(first[0].raw == (1u << 16 | 1u << 8));
  CHECK(first[1].raw == (2u << 16 | 2u << 8));
  // A slot comes round under another generation.
  const auto few = policy("generation", 4);
  const auto all = rounds(*few, 9);
  CHECK(all[0].raw >> 30 == 1);
  CHECK(all[3].raw >> 30 == 1);
  CHECK(all[3] != all[0]);
  for (const Key key : all) CHECK(key.variant() == 0);
}

// Is adding a replacement policy one file? This one adds one.
#include <catch2/catch.hpp>
#include <vector>

#include "nic/cache.h"
#include "nic/params.h"
#include "support/fresh_systemc.h"

using namespace mtsim;

namespace {

/// The line used last goes: of a loop that is too large, as much stays as fits.
class MostRecent final : public nic::ReplacementPolicy {
 public:
  explicit MostRecent(const nic::CacheShape& shape) : touched_(shape.slots()) {}
  void used(nic::Slot slot) override { touched_[slot] = ++serial_; }
  void filled(nic::Slot slot) override { touched_[slot] = ++serial_; }
  nic::Slot victim(const nic::Candidates& candidates) override {
    nic::Slot found = nic::no_slot;
    for (std::uint32_t way = 0; way < candidates.ways; ++way) {
      if (!candidates.allows(way)) continue;
      const nic::Slot slot = candidates.slot(way);
      if (found == nic::no_slot || touched_[slot] > touched_[found]) found = slot;
    }
    return found;
  }

 private:
  std::vector<std::uint64_t> touched_;
  std::uint64_t serial_ = 0;
};

const nic::ReplacementPolicies::Entrant registered("most_recent", "the line used last goes",
                                                   [](const nic::CacheShape& shape) { return std::make_unique<MostRecent>(shape); });

}  // namespace

TEST_CASE("a policy that a file of its own adds is used by its name", "[cache]") {
  for (const std::uint32_t ways : {4u, 0u}) {
    test::FreshSystemC context;
    nic::CacheLevelParams params = defaults<nic::MttCacheParams>();
    params.lines = 4;
    params.ways = ways;
    params.replacement = "most_recent";
    nic::Cache cache("cache", params);
    for (int round = 0; round < 10; ++round)
      for (std::uint64_t tag = 0; tag < 5; ++tag)
        if (cache.find(tag) == nullptr) cache.fill(tag, 0, 0);
    // A loop of five over four lines: each round but the first misses little more than once.
    CHECK(cache.counts().hits >= 9 * 3);
  }
}

// Is adding a replacement policy one file? This one adds one. docs/model.md shows the part between the two lines that say so.
#include <catch2/catch.hpp>

#include "nic/cache.h"
#include "nic/params.h"
#include "support/documented.h"
#include "support/fresh_systemc.h"

// docs: begin
// The line used last goes: of a loop that is too large, as much stays as fits.
#include <vector>

#include "nic/replacement.h"

namespace mtsim::nic {
namespace {

class MostRecent final : public ReplacementPolicy {
 public:
  explicit MostRecent(const CacheShape& shape) : touched_(shape.slots()) {}
  void used(Slot slot) override { touched_[slot] = ++serial_; }
  void filled(Slot slot) override { touched_[slot] = ++serial_; }
  Slot victim(const Candidates& candidates) override {
    Slot found = no_slot;
    for (std::uint32_t way = 0; way < candidates.ways; ++way) {
      if (!candidates.allows(way)) continue;
      const Slot slot = candidates.slot(way);
      if (found == no_slot || touched_[slot] > touched_[found]) found = slot;
    }
    return found;
  }

 private:
  std::vector<std::uint64_t> touched_;
  std::uint64_t serial_ = 0;
};

const ReplacementPolicies::Entrant registered("most_recent", "the line used last goes",
                                              [](const CacheShape& shape) { return std::make_unique<MostRecent>(shape); });

}  // namespace
}  // namespace mtsim::nic
// docs: end

using namespace mtsim;

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

TEST_CASE("the page on the model shows this very policy, in fewer than 40 lines of code", "[cache]") {
  const test::Documented shown("tests/unit/nic/added_policy_test.cpp", "docs/model.md");
  CHECK(shown.on_page);
  CHECK(shown.code_lines < 40);
}

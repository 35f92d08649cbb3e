// Is adding a translation architecture one file? This one adds one, and it is registered, built, stepped and measured like any other.
// docs/model.md shows the part between the two lines that say so.
#include <catch2/catch.hpp>

#include "support/cold_look_up.h"
#include "support/documented.h"
#include "support/nic_rig.h"

// docs: begin
// A line for each key, which says where its region lies: that must be contiguous. A cold look-up is one read.
#include <map>

#include "translate/architecture.h"

namespace mtsim::translate {
namespace {

class Direct final : public Architecture {
 public:
  explicit Direct(const ArchitectureOptions& options) : base_(options.space.base) {}
  const std::vector<LineKind>& line_kinds() const override { return kinds_; }
  bool build(const Region& region, TableWrites& out) override {
    staged_[region.grant.key.index()] = region;
    out.ticket = region.grant.key.index();
    return region.map->contiguous();
  }
  TableWrites drop(Key key) override {
    staged_[key.index()] = Region();
    return {key.index(), base_, base_};
  }
  void commit(const TableWrites& writes, Stale& stale) override {
    regions_[writes.ticket] = staged_[writes.ticket];
    stale.lines(0, writes.ticket, 1);
  }
  void step(Walk& walk, Content, Step& out) const override {
    const auto of = regions_.find(walk.key.index());
    const std::uint32_t stage = walk.stage++;
    out.kind = stage == 0 ? Step::Kind::read : stage == 1 ? Step::Kind::judge : Step::Kind::done;
    out.tag = walk.key.index();
    if (stage == 0) out.address = base_ + kinds_[0].line * out.tag;
    out.grant = of == regions_.end() ? nullptr : &of->second.grant;
    if (stage < 2) return;
    const DmaRun run = of->second.map->at(Bytes(walk.address.raw - out.grant->start.raw));
    out.address = run.start;
    out.length = run.length;
  }
  Content content(std::uint32_t, std::uint64_t) const override { return 0; }

 private:
  Pa base_;
  std::vector<LineKind> kinds_{{"mpt", Bytes(64), false}, {"mtt", Bytes(64), false}};
  std::map<std::uint32_t, Region> staged_, regions_;  // by the index of their keys
};

const Architectures::Entrant direct("direct", "a line for each key, over contiguous memory",
                                    [](const ArchitectureOptions& options) { return std::make_unique<Direct>(options); });

}  // namespace
}  // namespace mtsim::translate
// docs: end

using namespace mtsim;

TEST_CASE("an architecture that a file of its own adds is measured by the same Walker", "[walker]") {
  test::RigSettings settings;
  settings.nic.nic.translation = "direct";
  test::FreshNicRig rig(settings);
  const verbs::Grant local = rig.register_memory(0, KiB(64)), remote = rig.register_memory(1, KiB(64));
  const translate::Architecture& architecture = rig.hosts[1].nic->tables().architecture();
  CHECK(test::cold(architecture, remote.key, remote.start + Bytes(4100)).reads.size() == 1);
  test::NicRig::Pair pair = rig.connect();
  const auto write = [&](std::uint32_t length) {
    rig.fill(pair, verbs::Opcode::write, {local.start.raw, length, local.key}, remote.start.raw, remote.key);
    rig.ring(pair, false);
    rig.run();
    return pair.cq->completions.back().status;
  };
  CHECK(write(20'000) == verbs::Status::SUCCESS);
  // One line for all five pages.
  const nic::Walker& walker = rig.hosts[1].nic->walker;
  CHECK(walker.misses(0).count == 1);
  CHECK(walker.misses(1).count == 0);
  CHECK(write(64) == verbs::Status::SUCCESS);
  CHECK(walker.misses(0).count == 1);
  rig.deregister(1, remote.key);
  CHECK(write(64) == verbs::Status::REM_ACCESS_ERR);
}

TEST_CASE("the page on the model shows this very architecture, in fewer than 40 lines of code", "[walker]") {
  const test::Documented shown("tests/unit/nic/added_architecture_test.cpp", "docs/model.md");
  CHECK(shown.on_page);
  CHECK(shown.code_lines < 40);
}

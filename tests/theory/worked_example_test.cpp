// The worked example of a 1 GiB registration, count for count; and the same at 1 TiB, where nothing may be counted page by page.
#include <catch2/catch.hpp>

#include "support/registration_rig.h"

using namespace mtsim;
using test::BufferPlan;
using test::HostSettings;
using test::RegistrationRig;
using verbs::PageKind;
namespace oracle = test::oracle;

namespace {

struct Expected {
  std::uint64_t grabs, runs, iopte, blocks, umr;
  std::uint64_t commands;  ///< CREATE_MKEY, the first time
};

void check_gigabyte(const HostSettings& settings, const BufferPlan& plan, const Expected& e) {
  RegistrationRig rig(settings, plan);
  REQUIRE(rig.va.raw % plan.align.raw == 0);
  for (int round = 0; round < 2; ++round) {
    CAPTURE(round);
    const verbs::Reply mr = rig.register_part(Bytes(0), plan.length);
    REQUIRE(mr.error == 0);
    const ports::RegistrationCost& cost = rig.records.back().cost;
    REQUIRE(cost.pages == Pages(262144));
    REQUIRE(cost.batches == 512);
    REQUIRE(cost.grabs == e.grabs);
    REQUIRE(cost.dma_runs == e.runs);
    REQUIRE(cost.iopte == e.iopte);
    REQUIRE(cost.table_entries == e.blocks);
    REQUIRE(cost.umr_requests == e.umr);
    // Afterwards the key stays for reuse.
    REQUIRE(cost.commands == (round == 0 ? e.commands : 0));
    REQUIRE(rig.dereg_mr(mr.handle).error == 0);
  }
}

}  // namespace

TEST_CASE("1 GiB: scattered 4 KiB pages, huge pages, and 4 KiB pages behind an IOMMU", "[worked_example]") {
  HostSettings settings;
  settings.memory = GiB(4);
  SECTION("scattered 4 KiB") { check_gigabyte(settings, {GiB(1), PageKind::base_4k, MiB(2)}, {262144, 262144, 0, 262144, 3, 1}); }
  SECTION("2 MiB THP") { check_gigabyte(settings, {GiB(1), PageKind::thp, MiB(2)}, {512, 512, 0, 512, 1, 0}); }
  SECTION("4 KiB and an IOMMU, addresses 1 GiB-aligned on both sides") {
    settings.iommu.mode = "translate";
    check_gigabyte(settings, {GiB(1), PageKind::base_4k, GiB(1)}, {262144, 1, 262144, 1, 1, 0});
  }
}

TEST_CASE("a scattered GiB behind an IOMMU agrees with counting its pages one by one", "[worked_example]") {
  for (const double law : {1.0, 5.0}) {
    HostSettings settings;
    settings.memory = GiB(4);
    settings.run_pages = law;
    settings.iommu.mode = "translate";
    const BufferPlan plan{GiB(1), PageKind::base_4k, GiB(1)};
    const oracle::Range range = test::look_at(settings, plan, Bytes(0), GiB(1), Bytes(0));
    RegistrationRig rig(settings, plan);
    const verbs::Reply mr = rig.register_part(Bytes(0), GiB(1));
    const oracle::Count iommu = rig.device_address(mr.lkey, mr.iova).raw / 4096;
    const oracle::Counts c = oracle::count(range, iommu, GiB(2).raw, {4096, 1u << 21, 1u << 30}, oracle::Choice::best);
    const ports::RegistrationCost& cost = rig.records.back().cost;
    REQUIRE(cost.grabs == c.grabs);
    REQUIRE(cost.sg_entries == c.sg_entries);
    REQUIRE(cost.dma_runs == c.dma_runs);
    REQUIRE(cost.iopte == c.iopte);
    REQUIRE(cost.table_entries == c.blocks);
  }
}

TEST_CASE("1 TiB of scattered 4 KiB pages costs 1,024 times what 1 GiB does", "[worked_example]") {
  for (const bool translate : {false, true}) {
    CAPTURE(translate);
    HostSettings settings;
    settings.iommu.mode = translate ? "translate" : "off";
    settings.memory = GiB(2048);
    const auto cost_of = [&](Bytes length) {
      RegistrationRig rig(settings, {length, PageKind::base_4k, length});
      const verbs::Reply mr = rig.register_part(Bytes(0), length);
      REQUIRE(mr.error == 0);
      const ports::RegistrationCost cost = rig.records.back().cost;
      REQUIRE(rig.dereg_mr(mr.handle).error == 0);
      return cost;
    };
    const ports::RegistrationCost small = cost_of(GiB(1)), great = cost_of(GiB(1024));
    const auto step = [](const ports::RegistrationCost& cost, ports::RegistrationStep of) { return cost.steps[unsigned(of)]; };
    REQUIRE(great.pages == small.pages * 1024);
    REQUIRE(great.batches == small.batches * 1024);
    REQUIRE(great.grabs == small.grabs * 1024);
    REQUIRE(great.sg_entries == small.sg_entries * 1024);
    REQUIRE(great.iopte == small.iopte * 1024);
    REQUIRE(step(great, ports::RegistrationStep::pin) == step(small, ports::RegistrationStep::pin) * 1024);
    REQUIRE(step(great, ports::RegistrationStep::sg) == step(small, ports::RegistrationStep::sg) * 1024);
    if (translate) {
      // One run in entries of at most 2 GiB; the table's greatest page is as great.
      REQUIRE(great.dma_runs == 512);
      REQUIRE(great.table_entries == 512);
    } else {
      REQUIRE(great.table_entries == small.table_entries * 1024);
      REQUIRE(great.umr_requests == 2049);
      REQUIRE(step(great, ports::RegistrationStep::dma_map) == step(small, ports::RegistrationStep::dma_map) * 1024);
    }
  }
}

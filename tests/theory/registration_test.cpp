// Do registrations cost what the closed formulas say, whoever writes the table, chooses the page size and maps for DMA? The oracle counts
// page by page and shares no code with the model.
#include <catch2/catch.hpp>
#include <random>

#include "support/registration_rig.h"

using namespace mtsim;
using test::BufferPlan;
using test::HostSettings;
using test::RegistrationRig;
using Step = ports::RegistrationStep;
namespace oracle = test::oracle;

namespace {

Time times(Time each, std::uint64_t n) { return each * std::int64_t(n); }

struct Trial {
  HostSettings settings;
  BufferPlan buffer;
  Bytes offset, length, iova_shift;
  oracle::Writer writer{};
  bool translate = false, strict = false;
};

Trial random_trial(std::mt19937_64& random, int n) {
  Trial t;
  const double laws[] = {1, 1, 2.5, 40, 300, 512};
  const verbs::PageKind kinds[] = {verbs::PageKind::base_4k, verbs::PageKind::thp, verbs::PageKind::huge_2m};
  t.settings.memory = MiB(512);
  t.settings.run_pages = laws[random() % 6];
  t.buffer.page = kinds[random() % 3];
  t.buffer.length = Bytes(1 + random() % (std::uint64_t{1} << (13 + random() % 13)));
  t.buffer.align = random() % 2 ? Bytes(0) : MiB(2) * (std::uint64_t{1} << random() % 4);
  t.offset = Bytes(random() % 2 ? 0 : random() % t.buffer.length.raw);
  const std::uint64_t rest = t.buffer.length.raw - t.offset.raw;
  t.length = Bytes(random() % 2 ? rest : 1 + random() % rest);
  t.iova_shift = Bytes(random() % 2 ? 0 : 4096 * (random() % 1024));

  const char* writers[] = {"umr", "command", "store"};
  t.writer = oracle::Writer(n % 3);
  t.settings.driver.table_writer = writers[n % 3];
  t.settings.driver.keys = n % 3 == 0 ? "cache" : n % 3 == 1 ? "counter" : "bitmap";
  t.settings.driver.page_size = n / 3 % 2 == 0 ? PageSizeChoice::best : PageSizeChoice::none;
  t.settings.driver.umr_entries = 8 * (1 + random() % 40);
  t.settings.driver.largest_segment = random() % 2 ? GiB(2) : Bytes(4096 * (1 + random() % 700));
  const char* modes[] = {"off", "passthrough", "translate", "translate"};
  t.settings.iommu.mode = modes[n / 6 % 4];
  t.translate = n / 6 % 4 >= 2;
  t.strict = n / 6 % 4 == 2;
  t.settings.iommu.invalidation = t.strict ? kernel::Invalidation::strict : kernel::Invalidation::lazy;
  return t;
}

const std::vector<oracle::Count> table_sizes = [] {
  std::vector<oracle::Count> sizes;
  for (unsigned k = 12; k <= 31; ++k) sizes.push_back(oracle::Count{1} << k);
  return sizes;
}();

void check_counts(const ports::RegistrationCost& cost, const oracle::Counts& c, const oracle::Writes& w) {
  REQUIRE(cost.pages.raw == c.pages);
  REQUIRE(cost.batches == c.batches);
  REQUIRE(cost.folios == c.folios);
  REQUIRE(cost.grabs == c.grabs);
  REQUIRE(cost.sg_entries == c.sg_entries);
  REQUIRE(cost.dma_runs == c.dma_runs);
  REQUIRE(cost.iopte == c.iopte);
  REQUIRE(cost.table_entries == c.blocks);
  REQUIRE(cost.umr_requests == w.umr_requests);
  REQUIRE(cost.commands == w.commands);
  REQUIRE(cost.mailboxes == w.mailboxes);
  REQUIRE(cost.list_bytes.raw == w.list_bytes);
}

void check_times(const RegistrationRig& rig, const Trial& t, const oracle::Counts& c, const oracle::Writes& w) {
  const kernel::KernelParams& k = t.settings.kernel;
  const kernel::DriverParams& d = t.settings.driver;
  const kernel::IommuParams& io = t.settings.iommu;
  REQUIRE(rig.step(Step::fault) == Time());
  REQUIRE(rig.step(Step::pin) == times(k.pin_batch, c.batches) + times(k.pin_page, c.pages) + times(k.pin_grab, c.grabs));
  REQUIRE(rig.step(Step::sg) == times(k.sg_compare, 2 * c.pages) + times(k.sg_entry, c.sg_entries));
  // The first allocation finds every cache empty.
  const Time addresses = (c.pages <= 32 ? io.iova_cache : Time()) + io.iova_rbtree;
  REQUIRE(rig.step(Step::dma_map) == (t.translate ? addresses + times(io.map_entry, c.iopte) : times(k.dma_map, c.sg_entries)));
  REQUIRE(rig.step(Step::page_size) == times(k.page_size_run, c.dma_runs));
  REQUIRE(rig.step(Step::syscall) == k.syscall + k.registration);
  REQUIRE(rig.step(Step::key) == d.key);
  // Each request and command is waited for: an interrupt and a wake-up.
  REQUIRE(rig.step(Step::wake_up) == times(k.interrupt + k.wake_up, w.umr_requests + w.commands));
  REQUIRE(rig.step(Step::wait) ==
          times(rig.nic.umr, w.umr_requests) + times(rig.nic.command + d.create_key + d.create_key_latency, w.commands));
  Time table = times(d.umr_post, w.umr_requests) + times(d.command_post, w.commands) + times(d.mailbox, w.mailboxes);
  table += times(t.writer == oracle::Writer::store ? d.store_entry : d.list_entry, c.blocks);
  REQUIRE(rig.step(Step::table_write) == table);
}

void check_dereg(const RegistrationRig& rig, const Trial& t, const oracle::Counts& c) {
  const kernel::KernelParams& k = t.settings.kernel;
  const kernel::IommuParams& io = t.settings.iommu;
  const ports::RegistrationCost& cost = rig.records.back().cost;
  REQUIRE(cost.iopte == c.iopte);
  REQUIRE(cost.umr_requests == (t.writer == oracle::Writer::umr ? 1 : 0));
  REQUIRE(cost.commands == (t.writer == oracle::Writer::umr ? 0 : 1));
  REQUIRE(cost.iova_rbtree == (t.strict && c.pages > 32 ? 1 : 0));
  REQUIRE(rig.step(Step::unpin) == times(k.unpin_run, c.sg_entries) + times(k.unpin_page, c.pages));
  Time unmap = times(k.dma_unmap, c.sg_entries);
  if (t.translate) unmap = times(io.unmap_entry, c.iopte) + (t.strict ? io.iotlb_sync : io.queue_entry);
  if (t.strict) unmap += c.pages > 32 ? io.iova_rbtree : io.iova_cache;
  REQUIRE(rig.step(Step::dma_map) == unmap);
}

}  // namespace

TEST_CASE("random registrations cost what the formulas say, by every writer, page size and IOMMU mode", "[registration]") {
  std::mt19937_64 random(2024);
  int joined = 0, great = 0, great_entries = 0;
  for (int n = 0; n < 480; ++n) {
    CAPTURE(n);
    const Trial t = random_trial(random, n);
    const oracle::Range range = test::look_at(t.settings, t.buffer, t.offset, t.length, t.iova_shift);
    RegistrationRig rig(t.settings, t.buffer);
    REQUIRE((rig.va + t.offset).raw == range.start);
    const verbs::Reply mr = rig.register_part(t.offset, t.length, t.iova_shift);
    REQUIRE(mr.error == 0);

    const std::vector<std::uint64_t> device = rig.device_pages(mr, t.length);
    const oracle::Count iommu = t.translate ? device.front() : 0;
    if (t.translate) REQUIRE(iommu % oracle::power_of_two_from(range.pages()) == 0);
    const auto choice = t.settings.driver.page_size == PageSizeChoice::best ? oracle::Choice::best : oracle::Choice::none;
    const oracle::Counts c = oracle::count(range, iommu, t.settings.driver.largest_segment.raw, table_sizes, choice);
    const oracle::Writes w = oracle::writes(t.writer, c.blocks, t.settings.driver.keys == "cache", t.settings.driver.umr_entries);
    check_counts(rig.records.back().cost, c, w);
    REQUIRE(rig.records.back().cost.iova_rbtree == (t.translate ? 1 : 0));
    check_times(rig, t, c, w);

    // Whatever the addresses are that the NIC holds, they lead to the same frames.
    for (std::size_t i = 0; i < device.size(); ++i) {
      const auto lands = rig.root.resolve(Pa(device[i] * 4096 + 5));
      REQUIRE(lands);
      REQUIRE(lands->raw == range.frames[i] * 4096 + 5);
    }
    REQUIRE(rig.dereg_mr(mr.handle).error == 0);
    check_dereg(rig, t, c);
    if (t.translate) REQUIRE_FALSE(rig.root.resolve(Pa(device.front() * 4096)));
    joined += c.dma_runs < c.sg_entries;
    great += c.page_size > 4096;
    great_entries += c.iopte != 0 && c.iopte < c.pages;
  }
  // The trials reach what they are for.
  REQUIRE(joined > 20);
  REQUIRE(great > 20);
  REQUIRE(great_entries > 5);
}

TEST_CASE("blocks of their own size for each run: as many as one cuts page by page", "[registration]") {
  std::mt19937_64 random(7);
  for (int n = 0; n < 120; ++n) {
    CAPTURE(n);
    const Trial t = random_trial(random, n);
    const oracle::Range range = test::look_at(t.settings, t.buffer, t.offset, t.length, t.iova_shift);
    // The same frames as extents of one page each.
    std::vector<FrameExtent> extents;
    for (const oracle::Count frame : range.frames) extents.push_back({frame - FrameLaw::memory_start.raw / 4096, 1, Layout::linear});
    const DmaMap map(FrameLaw(), extents, Bytes(range.start % 4096), t.length);
    PinRules rules;
    rules.choice = PageSizeChoice::per_run;
    PinPlan plan;
    plan_table(plan, map, Iova(range.iova), rules);
    REQUIRE(plan.blocks == oracle::count(range, 0, GiB(2).raw, table_sizes, oracle::Choice::per_run).blocks);
    REQUIRE(plan.page_size == page_bytes);
  }
}

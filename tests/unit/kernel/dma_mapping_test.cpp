// What does an IOMMU add to a registration, who waits for its lock, and when do its addresses come back?
#include <catch2/catch.hpp>
#include <random>

#include "kernel/sg_table.h"
#include "support/registration_rig.h"

using namespace mtsim;
using test::HostSettings;
using test::RegistrationRig;
using Step = ports::RegistrationStep;

namespace {

HostSettings translating(kernel::Invalidation invalidation) {
  HostSettings settings;
  settings.iommu.mode = "translate";
  settings.iommu.invalidation = invalidation;
  return settings;
}

}  // namespace

TEST_CASE("strict: one page by hand, first from the tree and then from the CPU's cache", "[dma_mapping]") {
  RegistrationRig rig(translating(kernel::Invalidation::strict), {KiB(4)});
  auto mr = rig.register_part(Bytes(0), KiB(4));
  REQUIRE(rig.step(Step::dma_map) == ns(41 + 307 + 19));
  REQUIRE(rig.records.back().cost.iova_rbtree == 1);
  const Pa first = rig.device_address(mr.lkey, mr.iova);
  REQUIRE(rig.dereg_mr(mr.handle).error == 0);
  REQUIRE(rig.step(Step::dma_map) == ns(7 + 1013 + 41));
  REQUIRE(rig.records.back().cost.iova_rbtree == 0);
  REQUIRE_FALSE(rig.root.resolve(first));

  mr = rig.register_part(Bytes(0), KiB(4));
  REQUIRE(rig.step(Step::dma_map) == ns(41 + 19));
  REQUIRE(rig.records.back().cost.iova_rbtree == 0);
  REQUIRE(rig.device_address(mr.lkey, mr.iova) == first);
}

TEST_CASE("lazy: addresses come back with the timer, not with the call", "[dma_mapping]") {
  RegistrationRig rig(translating(kernel::Invalidation::lazy), {KiB(4)});
  auto mr = rig.register_part(Bytes(0), KiB(4));
  const Pa first = rig.device_address(mr.lkey, mr.iova);
  REQUIRE(rig.dereg_mr(mr.handle).error == 0);
  REQUIRE(rig.step(Step::dma_map) == ns(7 + 31));
  REQUIRE_FALSE(rig.root.resolve(first));
  mr = rig.register_part(Bytes(0), KiB(4));
  const Pa second = rig.device_address(mr.lkey, mr.iova);
  REQUIRE(second != first);
  REQUIRE(rig.records.back().cost.iova_rbtree == 1);

  // A call that sleeps past the timer.
  rig.ask([&](auto& r, auto& c) { return rig.device.munmap(0, Va(0x5000'0000'0000), GiB(1), r, c); });
  while (rig.scheduler.now() < us(12'000)) rig.ask([&](auto& r, auto& c) { return rig.device.set_memlock(0, GiB(9), r, c); });
  REQUIRE(rig.register_part(Bytes(0), KiB(4)).error == 0);
  REQUIRE(rig.records.back().cost.iova_rbtree == 0);
}

TEST_CASE("lazy: the call that finds the flush queue full flushes for all, and puts them back", "[dma_mapping]") {
  HostSettings settings = translating(kernel::Invalidation::lazy);
  settings.iommu.flush_entries = 4;
  RegistrationRig rig(settings, {KiB(256)});
  std::vector<verbs::Handle> mrs;
  for (int i = 0; i < 4; ++i) mrs.push_back(rig.register_part(Bytes(0), KiB(256)).handle);
  for (int i = 0; i < 3; ++i) {
    rig.dereg_mr(mrs[std::size_t(i)]);
    REQUIRE(rig.step(Step::dma_map) == ns(64 * 7 + 31));
  }
  rig.dereg_mr(mrs[3]);
  REQUIRE(rig.step(Step::dma_map) == ns(64 * 7 + 31 + 1511 + 3 * 307));
  REQUIRE(rig.records.back().cost.iova_rbtree == 3);
}

TEST_CASE("two threads that need the tree at once: the second spins for the lock on its CPU", "[dma_mapping]") {
  for (const std::uint64_t kib : {256u, 128u}) {
    CAPTURE(kib);
    RegistrationRig rig(translating(kernel::Invalidation::strict), {KiB(kib * 2)});
    if (kib == 128) {
      // Both find their 32 pages in their own CPU's cache.
      for (const verbs::Thread thread : {0u, 1u}) {
        verbs::RegMrRequest request{rig.domain, rig.va, KiB(kib), verbs::Access::none, Iova(rig.va.raw)};
        const auto mr = rig.ask([&](auto& r, auto& c) { return rig.device.reg_mr(thread, request, r, c); });
        rig.ask([&](auto& r, auto& c) { return rig.device.dereg_mr(thread, mr.handle, r, c); });
      }
    }
    test::Waiter first(rig.scheduler), second(rig.scheduler);
    verbs::RegMrRequest a{rig.domain, rig.va, KiB(kib), verbs::Access::none, Iova(rig.va.raw)};
    verbs::RegMrRequest b{rig.domain, rig.va + KiB(kib), KiB(kib), verbs::Access::none, Iova(rig.va.raw + kib * 1024)};
    rig.records.clear();
    const engine::Usage before = rig.kernel.device(0).dma_mapper().rbtree_lock()->usage();
    rig.device.reg_mr(0, a, first.reply, first);
    rig.device.reg_mr(1, b, second.reply, second);
    rig.run();
    REQUIRE(rig.records.size() == 2);
    const std::uint64_t pages = kib / 4;
    const Time own = ns(std::int64_t(pages) * 19) + (kib == 128 ? ns(41) : ns(307));
    const Time wait = kib == 128 ? Time() : ns(307);
    REQUIRE(rig.records[0].cost.steps[unsigned(Step::dma_map)] == own);
    REQUIRE(rig.records[1].cost.steps[unsigned(Step::dma_map)] == own + wait);
    const engine::Usage usage = rig.kernel.device(0).dma_mapper().rbtree_lock()->usage();
    REQUIRE(usage.wait_total - before.wait_total == wait);
    REQUIRE(usage.requests - before.requests == (kib == 128 ? 0 : 2));
    REQUIRE(first.reply.error + second.reply.error == 0);
  }
}

TEST_CASE("I/O virtual addresses run out: ENOMEM, and nothing stays pinned", "[dma_mapping]") {
  HostSettings settings = translating(kernel::Invalidation::strict);
  settings.iommu.address_bits = 46;
  settings.memory = GiB(2048);
  const Bytes tebibyte = GiB(1024);
  RegistrationRig rig(settings, {tebibyte, verbs::PageKind::base_4k, tebibyte});
  std::vector<verbs::Handle> mrs;
  for (int i = 0; i < 32; ++i) mrs.push_back(rig.register_part(Bytes(0), tebibyte).handle);
  const Bytes pinned = rig.kernel.registration().pinned_now;
  REQUIRE(pinned == tebibyte * 32);
  REQUIRE(rig.register_part(Bytes(0), KiB(4)).error == ENOMEM);
  REQUIRE(rig.kernel.registration().pinned_now == pinned);
  REQUIRE(rig.dereg_mr(mrs[7]).error == 0);
  REQUIRE(rig.register_part(Bytes(0), KiB(4)).error == 0);
  REQUIRE(rig.register_part(Bytes(0), tebibyte).error == ENOMEM);
}

TEST_CASE("entries that an IOMMU joins: whole ones only, up to the limit", "[sg_table]") {
  std::mt19937_64 random(5);
  for (int n = 0; n < 2000; ++n) {
    const double laws[] = {1, 5, 60, 512};
    const FrameLaw law(random(), laws[random() % 4]);
    std::vector<FrameExtent> extents;
    std::vector<std::uint64_t> frames;
    for (std::uint64_t k = 1 + random() % 4; k > 0; --k) {
      const FrameExtent extent{random() % 9000, 1 + random() % 700, n % 2 ? Layout::pages : Layout::linear};
      extents.push_back(extent);
      for (std::uint64_t i = 0; i < extent.count; ++i) frames.push_back(law.address(extent, i).raw / 4096);
    }
    const std::uint64_t limit = 1 + random() % (random() % 2 ? 20 : 900);
    const DmaMap map(law, extents, Bytes(0), Bytes(frames.size() * 4096));
    const auto entries = test::oracle::entries_of(frames, limit);
    REQUIRE(count_sg_entries(map, page_bytes * limit) == entries.size());
    REQUIRE(count_joined_segments(map, page_bytes * limit) == test::oracle::joined(entries, limit));
  }
}

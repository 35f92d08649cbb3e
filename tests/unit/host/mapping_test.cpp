// Do mappings split, join and refuse as the kernel's do, and do their pages follow?
#include <catch2/catch.hpp>
#include <cerrno>

#include "host/address_space.h"

using namespace mtsim;
using verbs::Advice;
using verbs::PageKind;

namespace {

struct Space {
  explicit Space(AddressSpaceLimits limits = {}, Bytes memory = GiB(1)) : pool({memory, 1.0, 1}), space(pool, limits) {}
  Va map(Bytes length, PageKind page = PageKind::base_4k) {
    verbs::MmapRequest request;
    request.length = length;
    request.page = page;
    const MapReply reply = space.mmap(request);
    REQUIRE(reply.error == 0);
    return reply.address;
  }
  FramePool pool;
  AddressSpace space;
};

}  // namespace

TEST_CASE("a change in the middle makes three mappings of one, and taking it back makes one of three", "[mapping]") {
  Space s;
  const Va va = s.map(KiB(64));
  REQUIRE(s.space.fault_in(va, KiB(64), true).faults.faults() == 16);
  REQUIRE(s.space.mprotect(va + KiB(16), KiB(8), true, false).leaves == 2);
  REQUIRE(s.space.mappings() == 3);
  REQUIRE(s.space.fault_in(va, KiB(64), true).error == EFAULT);
  REQUIRE(s.space.fault_in(va, KiB(64), false).error == 0);
  REQUIRE(s.space.mprotect(va, KiB(64), false, false).leaves == 16);
  REQUIRE(s.space.mappings() == 1);
  REQUIRE(s.space.fault_in(va, KiB(4), false).error == EFAULT);
  REQUIRE(s.space.mprotect(va, KiB(64), true, true).error == 0);
  // What is so already changes nothing.
  REQUIRE(s.space.mprotect(va + KiB(4), KiB(4), true, true).leaves == 0);
  REQUIRE(s.space.mappings() == 1);
}

TEST_CASE("rights and advice: what is refused, and how far it got", "[mapping]") {
  Space s;
  const Va va = s.map(KiB(64));
  REQUIRE(s.space.munmap(va + KiB(32), KiB(4)).error == 0);
  REQUIRE(s.space.mprotect(va + Bytes(1), KiB(4), true, false).error == EINVAL);
  REQUIRE(s.space.madvise(va + Bytes(1), KiB(4), Advice::dontfork).error == EINVAL);
  // mprotect stops at a hole, madvise goes on behind it.
  REQUIRE(s.space.mprotect(va, KiB(64), true, false).error == ENOMEM);
  REQUIRE(s.space.fault_in(va, KiB(4), true).error == EFAULT);
  REQUIRE(s.space.fault_in(va + KiB(60), KiB(4), true).error == 0);
  REQUIRE(s.space.madvise(va, KiB(64), Advice::dontneed).error == ENOMEM);
  REQUIRE_FALSE(s.space.page_table().lookup(va + KiB(60)));

  const Va huge = s.map(MiB(4), PageKind::huge_2m);
  REQUIRE(s.space.mprotect(huge, KiB(4), true, false).error == EINVAL);
  REQUIRE(s.space.madvise(huge, MiB(1), Advice::dontfork).error == EINVAL);
  REQUIRE(s.space.madvise(huge + MiB(1), MiB(1), Advice::dontfork).error == EINVAL);
  REQUIRE(s.space.madvise(huge, MiB(2), Advice::dontfork).error == 0);
  REQUIRE(s.space.page_size_at(huge) == MiB(2));

  verbs::MmapRequest window;
  window.length = KiB(8);
  window.backing = verbs::Backing::io;
  const Va io = s.space.mmap(window).address;
  REQUIRE(s.space.madvise(io, KiB(8), Advice::dontfork).error == 0);
  REQUIRE(s.space.madvise(io, KiB(8), Advice::dofork).error == EINVAL);
  REQUIRE(s.space.madvise(io, KiB(8), Advice::dontneed).error == EINVAL);
}

TEST_CASE("the limit on mappings stops every split, but not what makes none", "[mapping]") {
  Space s({3, Pages(0), Pages(0)});
  const Va va = s.map(KiB(64));
  REQUIRE(s.space.madvise(va + KiB(16), KiB(8), Advice::dontfork).error == 0);
  REQUIRE(s.space.mappings() == 3);
  REQUIRE(s.space.madvise(va + KiB(40), KiB(8), Advice::dontfork).error == ENOMEM);
  REQUIRE(s.space.mprotect(va, KiB(8), true, false).error == ENOMEM);
  REQUIRE(s.space.munmap(va + KiB(40), KiB(4)).error == ENOMEM);
  // The part goes over to its neighbour.
  REQUIRE(s.space.madvise(va + KiB(24), KiB(8), Advice::dontfork).error == 0);
  REQUIRE(s.space.mappings() == 3);
  REQUIRE(s.space.munmap(va + KiB(60), KiB(4)).error == 0);
  verbs::MmapRequest one;
  one.length = KiB(4);
  REQUIRE(s.space.mmap(one).error == 0);
  REQUIRE(s.space.mmap(one).error == ENOMEM);
  REQUIRE(s.space.madvise(va, KiB(60), Advice::dofork).error == 0);
  REQUIRE(s.space.mappings() == 2);
}

TEST_CASE("dontneed drops pages, and pinned ones live on with the pin alone", "[mapping]") {
  Space s;
  const Va va = s.map(KiB(64));
  const PinReply pinned = s.space.pin(va, KiB(16), true);
  const Pa old = pinned.range.map->at(Bytes(0)).start;
  REQUIRE(s.space.fault_in(va, KiB(64), true).error == 0);
  REQUIRE(s.space.madvise(va, KiB(64), Advice::dontneed).dropped == 16);
  REQUIRE((s.pool.size() - s.pool.free()) == Pages(4));
  REQUIRE(s.space.fault_in(va, KiB(4), true).faults.zeroed == KiB(4));
  REQUIRE(s.space.page_table().lookup(va)->pa != old);
  s.space.unpin(pinned.range);
  REQUIRE((s.pool.size() - s.pool.free()) == Pages(1));
}

TEST_CASE("advice to use huge pages counts for what is faulted in later", "[mapping]") {
  Space s;
  verbs::MmapRequest request;
  request.length = MiB(4);
  request.align = MiB(2);
  const Va va = s.space.mmap(request).address;
  REQUIRE(s.space.fault_in(va, KiB(4), true).faults.pages_4k == 1);
  REQUIRE(s.space.madvise(va, MiB(4), Advice::hugepage).error == 0);
  const FaultReply rest = s.space.fault_in(va, MiB(4), true);
  REQUIRE(rest.faults.pages_4k == 511);
  REQUIRE(rest.faults.pages_2m == 1);
}

TEST_CASE("pages in swap come back unzeroed, and are forgotten with their mapping", "[mapping]") {
  Space s({100, Pages(100), Pages(0)});
  const Va va = s.map(KiB(64));
  REQUIRE(s.space.fault_in(va, KiB(64), true).error == 0);
  REQUIRE(s.space.madvise(va, KiB(64), Advice::pageout).swapped_out == 16);
  REQUIRE(s.space.swapped() == Pages(16));
  REQUIRE(s.pool.free() == s.pool.size());
  const FaultReply back = s.space.fault_in(va, KiB(16), false);
  REQUIRE(back.faults.swapped_in == 4);
  REQUIRE(back.faults.zeroed == Bytes(0));
  REQUIRE(s.space.madvise(va, KiB(32), Advice::dontneed).dropped == 4);
  REQUIRE(s.space.swapped() == Pages(8));
  REQUIRE(s.space.munmap(va, KiB(64)).error == 0);
  REQUIRE(s.space.swapped() == Pages(0));
  REQUIRE(s.pool.free() == s.pool.size());
}

TEST_CASE("memory moves to other frames, huge pages whole", "[mapping]") {
  Space s;
  for (const PageKind kind : {PageKind::base_4k, PageKind::thp, PageKind::huge_2m}) {
    const Va va = s.map(MiB(4), kind);
    REQUIRE(s.space.fault_in(va, MiB(4), true).error == 0);
    const auto before = s.space.page_table().lookup(va);
    REQUIRE(s.space.madvise(va, MiB(4), Advice::migrate).migrated == 1024);
    REQUIRE(s.space.page_table().lookup(va)->pa != before->pa);
    REQUIRE(s.space.page_table().lookup(va)->leaf == before->leaf);
    REQUIRE(s.space.munmap(va, MiB(4)).error == 0);
  }
  REQUIRE(s.pool.free() == s.pool.size());
}

TEST_CASE("a terabyte is protected, swapped out and moved by extents", "[mapping]") {
  Space s({100, Pages(std::uint64_t{1} << 40), Pages(0)}, GiB(4096));
  const Va va = s.map(GiB(1024));
  REQUIRE(s.space.fault_in(va, GiB(1024), true).error == 0);
  REQUIRE(s.space.mprotect(va + GiB(1), GiB(512), true, false).error == 0);
  REQUIRE(s.space.madvise(va, GiB(1024), Advice::migrate).migrated == std::uint64_t{1} << 28);
  REQUIRE(s.space.madvise(va, GiB(1024), Advice::pageout).swapped_out == std::uint64_t{1} << 28);
  REQUIRE(s.space.swapped() == Pages(std::uint64_t{1} << 28));
}

// One fork at a time: what the child gets, who copies, what happens without frames.
#include <catch2/catch.hpp>
#include <cerrno>

#include "host/address_space.h"

using namespace mtsim;
using verbs::Advice;
using verbs::PageKind;

namespace {

struct Family {
  explicit Family(Bytes memory = GiB(1), AddressSpaceLimits limits = {}) : pool({memory, 1.0, 1}), parent(pool, limits) {}
  Va map(Bytes length, PageKind page = PageKind::base_4k, bool shared = false) {
    verbs::MmapRequest request;
    request.length = length;
    request.page = page;
    request.shared = shared;
    request.populate = true;
    const MapReply reply = parent.mmap(request);
    REQUIRE(reply.error == 0);
    return reply.address;
  }
  static Pa at(const AddressSpace& space, Va va) {
    const auto hit = space.page_table().lookup(va);
    return hit ? hit->pa : Pa(0);
  }
  FramePool pool;
  AddressSpace parent;
};

}  // namespace

TEST_CASE("a fork takes no memory but for page tables, and costs extents", "[fork]") {
  Family f(GiB(8));
  const Va va = f.map(GiB(4));
  const Pages free = f.pool.free();
  const ForkReply reply = f.parent.fork(true);
  REQUIRE(reply.error == 0);
  REQUIRE(reply.mappings == 1);
  REQUIRE(reply.leaves == GiB(4) / page_bytes);
  REQUIRE(reply.copies == 0);
  REQUIRE(f.pool.free() == free);
  REQUIRE(reply.child->page_table().extents() == 1);
  REQUIRE(Family::at(*reply.child, va) == Family::at(f.parent, va));
  REQUIRE(reply.child->resident() == GiB(4).raw / page_bytes.raw * Pages(1));
}

TEST_CASE("the first to write copies, the last one keeps the page", "[fork]") {
  Family f;
  const Va va = f.map(KiB(64));
  const auto child = f.parent.fork(true).child;
  const Pa before = Family::at(f.parent, va);
  const FaultCounts copied = child->fault_in(va, KiB(8), true).faults;
  REQUIRE(copied.pages_4k == 2);
  REQUIRE(copied.copied == KiB(8));
  REQUIRE(copied.zeroed == Bytes(0));
  REQUIRE(Family::at(*child, va) != before);
  const FaultCounts kept = f.parent.fault_in(va, KiB(8), true).faults;
  REQUIRE(kept.pages_4k == 0);
  REQUIRE(kept.found == 2);
  REQUIRE(Family::at(f.parent, va) == before);
  // Reading changes nothing, and what has been settled stays so.
  REQUIRE(f.parent.fault_in(va, KiB(64), false).faults.faults() == 0);
  REQUIRE(f.parent.fault_in(va, KiB(8), true).faults.faults() == 0);
}

TEST_CASE("pinned pages: copied for the child, or left behind by the parent's next write", "[fork]") {
  for (const bool copies_pinned : {true, false}) {
    Family f;
    const Va va = f.map(KiB(64));
    const PinReply pinned = f.parent.pin(va + KiB(16), KiB(16), true);
    const ForkReply reply = f.parent.fork(copies_pinned);
    REQUIRE(reply.copies == (copies_pinned ? 4 : 0));
    REQUIRE(reply.copied == (copies_pinned ? KiB(16) : Bytes(0)));
    const Pa device = pinned.range.map->page(0);
    const FaultCounts written = f.parent.fault_in(va, KiB(64), true).faults;
    REQUIRE(written.left_pins == (copies_pinned ? 0 : 4));
    REQUIRE((Family::at(f.parent, va + KiB(16)) == device) == copies_pinned);
    REQUIRE((Family::at(*reply.child, va + KiB(16)) == device) == !copies_pinned);
    f.parent.unpin(pinned.range);
  }
}

TEST_CASE("where nobody else maps a pinned page any more, the parent keeps it", "[fork]") {
  Family f;
  const Va va = f.map(KiB(16));
  const PinReply pinned = f.parent.pin(va, KiB(16), true);
  const auto child = f.parent.fork(false).child;
  REQUIRE(child->munmap(va, KiB(16)).error == 0);
  const FaultCounts written = f.parent.fault_in(va, KiB(16), true).faults;
  REQUIRE(written.found == 4);
  REQUIRE(written.left_pins == 0);
  REQUIRE(Family::at(f.parent, va) == pinned.range.map->page(0));
}

TEST_CASE("a THP that is pinned in part falls into 4 KiB pages in the parent, and all of it is copied", "[fork]") {
  Family f;
  const Va va = f.map(MiB(4), PageKind::thp);
  f.parent.pin(va, KiB(4), true);
  const ForkReply reply = f.parent.fork(true);
  REQUIRE(reply.copies == 512);
  REQUIRE(reply.leaves == 513);
  REQUIRE(f.parent.page_table().lookup(va)->leaf == Leaf::page_4k);
  REQUIRE(f.parent.page_table().lookup(va + MiB(2))->leaf == Leaf::page_2m);
  REQUIRE(reply.child->page_table().lookup(va)->leaf == Leaf::page_4k);
  // The other one is shared as it is; a write takes 4 KiB of it.
  REQUIRE(reply.child->page_table().lookup(va + MiB(2))->leaf == Leaf::page_2m);
  REQUIRE(f.parent.fault_in(va + MiB(3), KiB(4), true).faults.copied == KiB(4));
  REQUIRE(f.parent.page_table().lookup(va + MiB(2))->leaf == Leaf::page_4k);
}

TEST_CASE("huge pages of their own are copied whole, at the fork and at a write", "[fork]") {
  Family f;
  const Va va = f.map(MiB(4), PageKind::huge_2m);
  f.parent.pin(va, KiB(4), true);
  const ForkReply reply = f.parent.fork(true);
  REQUIRE(reply.copies == 1);
  REQUIRE(reply.copied == MiB(2));
  REQUIRE(f.parent.page_table().lookup(va)->leaf == Leaf::page_2m);
  const FaultCounts written = f.parent.fault_in(va + MiB(3), KiB(4), true).faults;
  REQUIRE(written.pages_2m == 1);
  REQUIRE(written.copied == MiB(2));
}

TEST_CASE("a pin ends sharing, whether it writes or not", "[fork]") {
  for (const bool write : {true, false}) {
    Family f;
    const Va va = f.map(KiB(16));
    const auto child = f.parent.fork(true).child;
    const PinReply pinned = child->pin(va, KiB(8), write);
    REQUIRE(pinned.error == 0);
    REQUIRE(pinned.faults.copied == KiB(8));
    REQUIRE(Family::at(f.parent, va) != pinned.range.map->page(0));
  }
}

TEST_CASE("shared mappings are the same memory for both, also where nobody had touched them", "[fork]") {
  Family f;
  const Va va = f.map(KiB(16), PageKind::base_4k, true);
  REQUIRE(f.parent.munmap(va + KiB(8), KiB(8)).error == 0);
  verbs::MmapRequest request;
  request.length = KiB(16);
  request.shared = true;
  const Va later = f.parent.mmap(request).address;
  const ForkReply reply = f.parent.fork(true);
  REQUIRE(reply.leaves == 0);  // found by faults
  REQUIRE(reply.child->fault_in(va, KiB(4), true).faults.found == 1);
  REQUIRE(Family::at(*reply.child, va) == Family::at(f.parent, va));
  REQUIRE(reply.child->fault_in(later, KiB(4), true).faults.pages_4k == 1);
  REQUIRE(f.parent.fault_in(later, KiB(16), true).faults.found == 1);
  REQUIRE(Family::at(*reply.child, later) == Family::at(f.parent, later));
  REQUIRE(f.parent.munmap(later, KiB(16)).error == 0);
  REQUIRE(reply.child->fault_in(later, KiB(16), true).faults.found == 3);
}

TEST_CASE("memory that is kept from children is not there for them, and its addresses are free", "[fork]") {
  Family f;
  const Va va = f.map(KiB(64));
  REQUIRE(f.parent.madvise(va + KiB(16), KiB(16), Advice::dontfork).error == 0);
  const PinReply pinned = f.parent.pin(va + KiB(16), KiB(16), true);
  const ForkReply reply = f.parent.fork(false);
  REQUIRE(reply.mappings == 2);
  REQUIRE(reply.leaves == 12);
  REQUIRE(reply.child->fault_in(va + KiB(16), KiB(4), false).error == EFAULT);
  REQUIRE(f.parent.fault_in(va, KiB(64), true).faults.left_pins == 0);
  REQUIRE(Family::at(f.parent, va + KiB(16)) == pinned.range.map->page(0));
  verbs::MmapRequest request;
  request.length = KiB(16);
  REQUIRE(reply.child->mmap(request).address == va + KiB(16));
}

TEST_CASE("without frames for the copies there is no child, and nothing of it stays", "[fork]") {
  Family f(MiB(64));
  const Va va = f.map(MiB(40));
  f.parent.pin(va, MiB(40), true);
  const Pages free = f.pool.free();
  const ForkReply reply = f.parent.fork(true);
  REQUIRE(reply.error == ENOMEM);
  REQUIRE(reply.child == nullptr);
  REQUIRE(reply.reclaimed.out_of_memory);
  REQUIRE(f.pool.free() == free);
}

TEST_CASE("frames are found in the memory of relatives, and swap is one for all", "[fork]") {
  Family f(MiB(64), {65530, Pages(MiB(16) / page_bytes), Pages(0)});
  const auto child = f.parent.fork(true).child;
  const Va old = f.map(MiB(48));
  verbs::MmapRequest request;
  request.length = MiB(48);
  const Va fresh = child->mmap(request).address;
  const FaultReply enough = child->fault_in(fresh, MiB(32), true);
  REQUIRE(enough.error == 0);
  REQUIRE(f.parent.swapped() == Pages(MiB(16) / page_bytes));
  REQUIRE(child->fault_in(fresh + MiB(32), MiB(1), true).error == ENOMEM);
  // What lies in swap at a fork is the child's as well.
  const auto grandchild = f.parent.fork(true).child;
  REQUIRE(grandchild->swapped() == f.parent.swapped());
  REQUIRE(grandchild->fault_in(old, KiB(4), false).error == ENOMEM);
}

// Do mappings, faults and pins answer as the kernel does, and does a terabyte cost no more than its extents?
#include <catch2/catch.hpp>
#include <cerrno>
#include <utility>
#include <vector>

#include "host/address_space.h"

using namespace mtsim;
using verbs::PageKind;

TEST_CASE("runs of a page table come in order and leave absent pages out", "[page_table]") {
  PageTable table{FrameLaw()};
  table.map(Va(0x10000), {100, 2, Layout::pages}, Leaf::page_4k);
  table.map(Va(0x12000), {300, 1, Layout::linear}, Leaf::page_4k);
  table.map(Va(0x14000), {301, 1, Layout::linear}, Leaf::page_4k);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;
  table.for_each_run(Va(0x10100), Bytes(0x4200), [&](Va va, Pa pa, Bytes length) {
    REQUIRE(pa.raw % 4096 == va.raw % 4096);
    seen.emplace_back(va.raw, length.raw);
  });
  REQUIRE(seen == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0x10100, 0x1f00}, {0x12000, 0x1000}, {0x14000, 0x300}});
}

TEST_CASE("what may not be touched or pinned is refused as the kernel does", "[address_space]") {
  FramePool pool({GiB(1), 1.0, 1});
  AddressSpace space(pool);
  const auto map = [&](verbs::MmapRequest request) {
    request.length = Bytes(8192);
    return space.mmap(request).address;
  };
  verbs::MmapRequest plain, read_only, none, io, shared_file, private_file;
  read_only.writable = false;
  none.readable = none.writable = false;
  io.backing = verbs::Backing::io;
  shared_file.backing = private_file.backing = verbs::Backing::file;
  shared_file.shared = true;
  const Va rw = map(plain), ro = map(read_only), no = map(none), device = map(io), shared = map(shared_file), own = map(private_file);
  const auto pin = [&](Va va, bool write) { return space.pin(va, Bytes(8192), write).error; };
  REQUIRE(pin(rw, true) == 0);
  REQUIRE(pin(ro, false) == 0);
  REQUIRE(pin(ro, true) == EFAULT);
  REQUIRE(pin(no, false) == EFAULT);
  REQUIRE(pin(device, false) == EFAULT);
  REQUIRE(pin(shared, false) == 0);
  REQUIRE(pin(shared, true) == EFAULT);
  REQUIRE(pin(own, true) == 0);
  REQUIRE(space.fault_in(ro, Bytes(1), true).error == EFAULT);
  REQUIRE(space.fault_in(ro, Bytes(1), false).error == 0);
  REQUIRE(space.fault_in(device, Bytes(1), true).error == 0);

  const Pages before = pool.free();
  const PinReply reply = space.pin(own, Bytes(3 * 8192), true);  // runs off the last mapping
  REQUIRE(reply.error == EFAULT);
  REQUIRE(pool.free() == before);
}

TEST_CASE("a failed pin leaves what it faulted in and pins nothing", "[address_space]") {
  FramePool pool({GiB(1), 1.0, 1});
  AddressSpace space(pool);
  verbs::MmapRequest request;
  request.length = Bytes(3 * 4096);
  const Va va = space.mmap(request).address;
  REQUIRE(space.munmap(va + Bytes(4096), Bytes(4096)).error == 0);
  const PinReply reply = space.pin(va, Bytes(3 * 4096), true);
  REQUIRE(reply.error == EFAULT);
  REQUIRE(reply.faults.pages_4k == 1);
  REQUIRE(space.page_table().lookup(va));
  REQUIRE(space.munmap(va, Bytes(3 * 4096)).error == 0);
  REQUIRE(pool.free() == pool.size());
}

TEST_CASE("memory unmapped under a pin stays with the pin, and the addresses serve again", "[address_space]") {
  FramePool pool({GiB(1), 1.0, 1});
  AddressSpace space(pool);
  verbs::MmapRequest request;
  request.length = KiB(64);
  const Va va = space.mmap(request).address;
  const PinReply pinned = space.pin(va, KiB(64), true);
  const Pa old = pinned.range.map->at(Bytes(0)).start;
  REQUIRE(space.munmap(va, KiB(64)).error == 0);
  REQUIRE((pool.size() - pool.free()) == Pages(16));
  REQUIRE(space.mmap(request).address == va);
  REQUIRE(space.fault_in(va, KiB(64), true).faults.pages_4k == 16);
  REQUIRE(space.page_table().lookup(va)->pa != old);
  space.unpin(pinned.range);
  REQUIRE((pool.size() - pool.free()) == Pages(16));
}

TEST_CASE("bad arguments give EINVAL, and too little memory ENOMEM", "[address_space]") {
  FramePool pool({MiB(64), 1.0, 1});
  AddressSpace space(pool);
  verbs::MmapRequest request;
  REQUIRE(space.mmap(request).error == EINVAL);
  request.length = MiB(4);
  request.align = Bytes(100);
  REQUIRE(space.mmap(request).error == EINVAL);
  request.align = Bytes(0);
  request.page = PageKind::huge_2m;
  const Va huge = space.mmap(request).address;
  REQUIRE(space.munmap(huge, KiB(4)).error == EINVAL);
  REQUIRE(space.munmap(huge + Bytes(1), MiB(2)).error == EINVAL);
  REQUIRE(space.munmap(huge, MiB(2)).error == 0);
  request.length = MiB(128);
  REQUIRE(space.fault_in(space.mmap(request).address, MiB(128), true).error == ENOMEM);
  request.length = Bytes(std::uint64_t{1} << 60);
  REQUIRE(space.mmap(request).error == ENOMEM);
}

TEST_CASE("populate brings everything in at once", "[address_space]") {
  FramePool pool({GiB(4), 1.0, 1});
  AddressSpace space(pool);
  verbs::MmapRequest request;
  request.length = GiB(1);
  request.page = PageKind::huge_1g;
  request.populate = true;
  const MapReply reply = space.mmap(request);
  REQUIRE(reply.faults.pages_1g == 1);
  REQUIRE(reply.faults.zeroed == GiB(1));
  REQUIRE(reply.address.raw % GiB(1).raw == 0);
  const PageCounts counts = space.page_table().count(reply.address + Bytes(4096), GiB(1) - Bytes(4096));
  REQUIRE(counts.folios == 1);
  REQUIRE(counts.grabs == 512);
  REQUIRE(counts.runs == 1);
}

TEST_CASE("a terabyte costs no more than its extents", "[address_space]") {
  for (const double run_pages : {1.0, 8.0, 512.0})
    for (const PageKind kind : {PageKind::base_4k, PageKind::thp}) {
      FramePool pool({GiB(2048), run_pages, 1});
      AddressSpace space(pool);
      verbs::MmapRequest request;
      request.length = GiB(1024);
      request.page = kind;
      const Va va = space.mmap(request).address;
      const FaultReply faulted = space.fault_in(va, request.length, true);
      const PinReply pinned = space.pin(va, request.length, true);
      REQUIRE(pinned.error == 0);
      REQUIRE(faulted.faults.faults() == (kind == PageKind::thp ? 1u << 19 : 1u << 28));
      REQUIRE(space.page_table().extents() == 1);
      REQUIRE(pinned.range.map->extents().size() == 1);
      if (run_pages == 1.0) REQUIRE(pinned.counts.runs == faulted.faults.faults());
    }
}
